package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// reader splits a stream into lines.
type reader struct {
	in     *bufio.Reader
	number int // of the last line that was read, from 1
	line   []byte
}

func newReader(in io.Reader) *reader { return &reader{in: bufio.NewReaderSize(in, 64<<10)} }

// next reads the next line that is not blank, without its line break. The text is
// valid until the next call. If the line has more than MaxLine bytes, next skips
// the rest of it and whole is false. After the last line the error is io.EOF.
func (r *reader) next() (text []byte, whole bool, err error) {
	for {
		r.line, whole = r.line[:0], true
		read := 0
		for {
			var part []byte
			part, err = r.in.ReadSlice('\n')
			read += len(part)
			if len(r.line)+len(part) <= MaxLine+len("\r\n") {
				r.line = append(r.line, part...)
			} else {
				whole = false
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if err != nil && (err != io.EOF || read == 0) {
			return nil, false, err
		}
		r.number++
		text = bytes.TrimRight(r.line, "\r\n")
		whole = whole && len(text) <= MaxLine
		if !whole || len(bytes.TrimSpace(text)) > 0 {
			return text, whole, nil
		}
	}
}
