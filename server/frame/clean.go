package frame

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// CleanTexts replaces NUL characters, halves of surrogate pairs and bytes that are not UTF-8 by U+FFFD in the fields of
// a JSON text that hold what people say. Other fields stay unchanged, so that parseObject refuses such characters in
// ids and names. A text that is not JSON or is nested too deep also stays unchanged.
func CleanTexts(body []byte) ([]byte, []CleanedText) {
	if utf8.Valid(body) && !containsAny(body, `\u0000`, `\ud`, `\uD`) {
		return body, nil
	}
	c := cleaner{in: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowInvalidUTF8(true)), body: body}
	if !c.value(false) {
		return body, nil
	}
	if _, err := c.in.ReadToken(); !errors.Is(err, io.EOF) || len(c.found) == 0 {
		return body, nil
	}
	return append(c.out, body[c.copied:]...), c.found
}

func containsAny(body []byte, escapes ...string) bool {
	return slices.ContainsFunc(escapes, func(escape string) bool { return bytes.Contains(body, []byte(escape)) })
}

// cleaner reads a body and writes it with cleaned texts.
type cleaner struct {
	in     *jsontext.Decoder
	body   []byte
	place  []step // of the value that is read
	out    []byte // the cleaned body up to body[copied]
	copied int
	found  []CleanedText
}

// within reads a value inside the present one.
func (c *cleaner) within(s step, says bool) bool {
	c.place = append(c.place, s)
	whole := c.value(says)
	c.place = c.place[:len(c.place)-1]
	return whole
}

// value reads a value. It returns false if the value is not JSON or is nested too deep.
func (c *cleaner) value(says bool) bool {
	before := int(c.in.InputOffset())
	token, err := c.in.ReadToken()
	if err != nil || len(c.place) > MaxDepth {
		return false
	}
	switch token.Kind() {
	case '"':
		if says {
			c.text(before, int(c.in.InputOffset()))
		}
	case '{':
		return c.object(says)
	case '[':
		for i := 0; c.in.PeekKind() != ']'; i++ {
			if !c.within(step{index: i}, says) {
				return false
			}
		}
		_, err = c.in.ReadToken()
	}
	return err == nil
}

func (c *cleaner) object(says bool) bool {
	for c.in.PeekKind() != '}' {
		token, err := c.in.ReadToken()
		if err != nil {
			return false
		}
		name := token.String()
		says := says || saying[name] || name == "messages" && c.in.PeekKind() == '"' // mem0's clients may send one text
		if !c.within(step{name: name}, says) {
			return false
		}
	}
	_, err := c.in.ReadToken()
	return err == nil
}

// text cleans the JSON string that ends at an offset of the body. Only spaces and separators are before it.
func (c *cleaner) text(start, end int) {
	start += bytes.IndexByte(c.body[start:end], '"')
	cleaned, count := cleanLiteral(c.body[start:end])
	if count == 0 {
		return
	}
	c.out = append(append(c.out, c.body[c.copied:start]...), cleaned...)
	c.copied = end
	c.found = append(c.found, CleanedText{Path: pathOf(c.place), Count: count})
}

// cleanLiteral cleans a JSON string with its quotes, and counts what it replaced.
func cleanLiteral(literal []byte) (cleaned []byte, count int) {
	for len(literal) > 0 {
		size, ok := character(literal)
		if ok {
			cleaned = append(cleaned, literal[:size]...)
		} else {
			cleaned = utf8.AppendRune(cleaned, unicode.ReplacementChar)
			count++
		}
		literal = literal[size:]
	}
	return cleaned, count
}

// character returns the length in bytes of the first character of a JSON string, and whether the stores can hold it.
func character(s []byte) (size int, ok bool) {
	if s[0] != '\\' {
		r, n := utf8.DecodeRune(s)
		return n, r != utf8.RuneError || n > 1
	}
	if s[1] != 'u' {
		return 2, true
	}
	r := codeUnit(s)
	switch {
	case r == 0:
		return 6, false
	case !utf16.IsSurrogate(r):
		return 6, true
	}
	if low := s[6:]; len(low) > 6 && low[0] == '\\' && low[1] == 'u' &&
		utf16.DecodeRune(r, codeUnit(low)) != unicode.ReplacementChar {
		return 12, true
	}
	return 6, false
}

// codeUnit returns the code unit of an escape such as \u00e9.
func codeUnit(escape []byte) rune {
	n, _ := strconv.ParseUint(string(escape[2:6]), 16, 16) // the decoder accepts hexadecimal digits alone
	return rune(n)
}
