package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// reader cuts a stream into lines.
type reader struct {
	in     *bufio.Reader
	number int // of the line that was read last, from 1
	line   []byte
}

func newReader(in io.Reader) *reader { return &reader{in: bufio.NewReaderSize(in, 64<<10)} }

// next reads a line that is not blank, without its break; it is good until the
// next call. A line over MaxLine is passed over: whole is false. io.EOF: there
// is none left.
func (r *reader) next() (text []byte, whole bool, err error) {
	for {
		r.line, whole = r.line[:0], true
		read := 0
		for {
			var part []byte
			part, err = r.in.ReadSlice('\n')
			if read += len(part); len(r.line)+len(part) <= MaxLine+len("\r\n") {
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
