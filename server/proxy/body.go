package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/attachment"
	"hippocampus/internal/memory"
)

// value is a JSON value with its position in the body.
type value struct {
	raw        json.RawMessage
	start, end int // in the body
}

// fields are the values of an object by their names; of a repeated name the last.
type fields map[string]value

var errNoObject = errors.New("the body is no JSON object")

// fieldsOf returns the fields of the object that a body is.
func fieldsOf(body []byte) (fields, error) {
	if !json.Valid(body) { // which also bounds the depth
		return nil, errNoObject
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errNoObject
	}
	found := fields{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := next(d, 0)
		if err != nil {
			return nil, err
		}
		found[name.(string)] = v // a name is a string in valid JSON
	}
	return found, nil
}

// mostItems is the greatest number of messages in a request that gets memory.
const mostItems = 10_000

// items returns the items of an array, or no items if v is no array or has more than mostItems.
func (v value) items() (list []value) {
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return nil
	}
	for d.More() {
		item, err := next(d, v.start)
		if err != nil || len(list) == mostItems {
			return nil
		}
		list = append(list, item)
	}
	return list
}

// next reads the next value of a decoder, whose input begins at an offset of the body.
func next(d *json.Decoder, offset int) (v value, err error) {
	err = d.Decode(&v.raw)
	v.end = offset + int(d.InputOffset())
	v.start = v.end - len(v.raw)
	return v, err
}

// spliced returns a body with a text in place of body[start:end].
func spliced(body []byte, start, end int, text string) []byte {
	replaced := make([]byte, 0, len(body)+len(text))
	replaced = append(replaced, body[:start]...)
	replaced = append(replaced, text...)
	return append(replaced, body[end:]...)
}

// quoted returns a text as a JSON string. Characters that only HTML needs escaped stay unchanged.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// content is the content of a message: a string, or parts.
type content struct {
	text  string
	parts []part // nil: a string
}

// part is a part of a message. Of parts other than texts the type, the caption and where they are is kept: of data,
// which may be large, the media type and the hash.
type part struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	attachment.Attachment
}

// partOf returns the fields of a part that have the types of the shape.
func partOf(fields map[string]any) (p part) {
	p.Type, _ = fields["type"].(string)
	if p.Text, _ = fields["text"].(string); p.Text == "" {
		p.Attachment = attachment.Of(fields)
	}
	return p
}

// UnmarshalJSON reads a string, null or a list of parts.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return json.Unmarshal(raw, &c.text)
	}
	var all []map[string]any // at once: a decoder for each part would take longer than the parts
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	var texts []string
	c.parts = make([]part, len(all))
	for i, fields := range all {
		c.parts[i] = partOf(fields)
		if text := c.parts[i].Text; text != "" {
			texts = append(texts, text)
		}
	}
	c.text = strings.Join(texts, "\n")
	return nil
}

// mostParts is how many parts other than texts the API accepts in addition to the text; partType matches the types that
// it accepts.
const mostParts = 99

var partType = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// remembered returns the content for a turn: the text, or the parts if some of them are not texts.
func (c content) remembered() any {
	kept := []part{}
	for _, p := range c.parts {
		if p.Text == "" && len(kept) < mostParts && partType.MatchString(p.Type) && !strings.HasSuffix(p.Type, "text") &&
			p.Type != "refusal" {
			kept = append(kept, part{Type: p.Type, Attachment: p.Attachment})
		}
	}
	if len(kept) == 0 {
		return shortened(c.text)
	}
	if c.text != "" {
		kept = append([]part{{Type: "text", Text: shortened(c.text)}}, kept...)
	}
	return kept
}

// shortened cuts a text to the length of a message.
func shortened(s string) string { return cut(withoutNUL(s), memory.MaxMessageBytes) }

// withoutNUL replaces NUL characters, which no store can hold, by U+FFFD.
func withoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// cut returns the first bytes of a text, at most most, without a broken character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// cutRunes returns the last characters of a text, at most most, since a long message tends to end with its question.
func cutRunes(s string, most int) string {
	for n := utf8.RuneCountInString(s); n > most; n-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}
