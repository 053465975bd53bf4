package mem0

import (
	"bytes"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hippocampus/internal/memory"
)

// fields are the values of a JSON object by their names.
type fields map[string]jsontext.Value

// bodyOf reads the body of a request; nil if it is empty. Names that an object repeats, invalid UTF-8 and half
// surrogate pairs are refused.
//
// A POST must state its type even without a body: pages of other sites cannot send such a POST.
func bodyOf(r *http.Request) (fields, error) {
	if r.Method == http.MethodGet {
		return nil, nil
	}
	raw, err := io.ReadAll(r.Body) // the mount has limited it
	if err != nil {
		return nil, memory.Errorf(memory.KindInvalid, "the body broke off: send it again")
	}
	if len(bytes.TrimSpace(raw)) == 0 && r.Method != http.MethodPost {
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, "send the header `Content-Type: application/json`")
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	f, err := objectOf("the body", raw)
	return f.withoutNulls(), err
}

// objectOf reads a JSON object.
func objectOf(path string, raw []byte) (fields, error) {
	if kind := jsontext.Value(raw).Kind(); kind != '{' {
		return nil, invalid(path, "is not a JSON object")
	}
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, invalid(path, "is not JSON, or repeats a name")
	}
	return f, nil
}

// withoutNulls removes the fields that are null.
func (f fields) withoutNulls() fields {
	maps.DeleteFunc(f, func(_ string, value jsontext.Value) bool { return value.Kind() == 'n' })
	return f
}

// listOf reads a JSON array.
func listOf(path string, raw jsontext.Value) ([]jsontext.Value, error) {
	var list []jsontext.Value
	if raw.Kind() != '[' || json.Unmarshal(raw, &list) != nil {
		return nil, invalid(path, "is not a list")
	}
	return list, nil
}

// stringOf reads a JSON string.
func stringOf(raw jsontext.Value) (text string, ok bool) {
	return text, raw.Kind() == '"' && json.Unmarshal(raw, &text) == nil
}

// idOf reads an id: a string, or a number as its digits.
func idOf(path string, raw jsontext.Value) (string, error) {
	if raw.Kind() == '0' {
		return string(raw), nil
	}
	id, ok := stringOf(raw)
	if !ok || id == "" {
		return "", invalid(path, "is not a text with at least one character")
	}
	return id, nil
}

// text returns a field that is a string; "" if it is absent.
func (f fields) text(name string) (string, error) {
	if f[name] == nil {
		return "", nil
	}
	text, ok := stringOf(f[name])
	if !ok {
		return "", invalid(name, "is not a text")
	}
	return text, nil
}

// flag returns a field that is a boolean. It may be written as a string, as in a query.
func (f fields) flag(name string, otherwise bool) (bool, error) {
	raw := f[name]
	if raw == nil {
		return otherwise, nil
	}
	text, ok := stringOf(raw)
	if !ok {
		text = string(raw)
	}
	switch strings.ToLower(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, invalid(name, "is not true or false")
}

// whole returns a field that is a whole number from least to most. It may be written as a string, as in a query.
func (f fields) whole(name string, otherwise, least, most int) (int, error) {
	raw := f[name]
	if raw == nil {
		return otherwise, nil
	}
	text, ok := stringOf(raw)
	if !ok {
		text = string(raw)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, invalid(name, "is not a whole number from %d to %d", least, most)
	}
	return n, nil
}

// refused returns an error if a field is set that cannot be honoured; reasons maps the names of such fields to reasons.
// A field that is false, an empty text or an empty list counts as not set.
func (f fields) refused(reasons map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		switch string(f[name]) {
		case "", "false", `"false"`, `""`, "[]", "{}":
		default:
			return invalid(name, "cannot be honoured here: %s", reasons[name])
		}
	}
	return nil
}

// withQuery returns the fields with the parameters of a query as strings; fields of the body take precedence.
func (c *call) withQuery() fields {
	all := fields{}
	for name, values := range c.query {
		all[name], _ = json.Marshal(values[len(values)-1]) // a string
	}
	for name, value := range c.body {
		all[name] = value
	}
	return all
}

// end returns when the day of expiration_date ends, which mem0 reads in UTC; "" if the text is empty.
func (f fields) end() (string, error) {
	text, err := f.text("expiration_date")
	if err != nil || text == "" {
		return "", err
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return "", invalid("expiration_date", "is not a day such as 2026-05-03")
	}
	return day.AddDate(0, 0, 1).Format(time.RFC3339), nil
}

// timeOf reads a time in the forms that mem0 accepts: RFC 3339, without an offset in UTC, a date, or Unix seconds. It
// returns RFC 3339, or another string unchanged, which /v1 refuses.
func timeOf(path string, raw jsontext.Value) (string, error) {
	if raw.Kind() == '0' {
		seconds, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || seconds < 0 || seconds > 1e11 {
			return "", invalid(path, "is not a time in seconds since 1970")
		}
		return time.UnixMicro(int64(seconds * 1e6)).UTC().Format(time.RFC3339Nano), nil
	}
	text, ok := stringOf(raw)
	if !ok {
		return "", invalid(path, "is not a time")
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t.Format(time.RFC3339Nano), nil
		}
	}
	return text, nil
}
