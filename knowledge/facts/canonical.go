package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"hippocampus/internal/memory"
)

// CanonicalName is the form in which types and keys are compared: NFKC, lower
// case, words joined by one underscore. "Home City", "home-city" and "home_city"
// are the same key.
func CanonicalName(s string) string {
	s = norm.NFKC.String(strings.ToLower(norm.NFKC.String(s)))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == '_' || unicode.IsSpace(r) || unicode.Is(unicode.Pd, r)
	}), "_")
}

// CheckName returns what is wrong with a type or key, "" if nothing is.
func CheckName(s string) string {
	if why := memory.CheckContent(s, memory.MaxFactName); why != "" {
		return why
	}
	for _, r := range s {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return fmt.Sprintf("holds the control character %U", r)
		}
	}
	switch n := utf8.RuneCountInString(CanonicalName(s)); {
	case n == 0:
		return "holds only spaces, dashes and underscores"
	case n > memory.MaxFactName:
		return fmt.Sprintf("has %d characters in its canonical form: at most %d are allowed", n, memory.MaxFactName)
	}
	return ""
}

// canonical checks evidence and brings it into the form in which it is stored.
func canonical(e Evidence) (Evidence, []memory.Field) {
	var wrong memory.Fields
	wrong.Add("type", CheckName(e.Type))
	wrong.Add("key", CheckName(e.Key))
	e.Type, e.Key = CanonicalName(e.Type), CanonicalName(e.Key)
	value, err := CanonicalValue(e.Value)
	if err != nil {
		wrong.Add("value", err.Error())
	}
	e.Value = value
	if !(e.Confidence >= 0 && e.Confidence <= 1) { // also refuses NaN
		wrong.Add("confidence", "is not between 0 and 1")
	}
	if e.Source != "" {
		wrong.Add("source", memory.CheckContent(e.Source, memory.MaxFactSource))
	}
	if e.Sentence != "" {
		wrong.Add("sentence", memory.CheckContent(e.Sentence, memory.MaxContentRunes))
	}
	if e.Importance != nil && !(*e.Importance >= 0 && *e.Importance <= 1) {
		wrong.Add("importance", "is not between 0 and 1")
	}
	e.ValidFrom, e.ValidUntil = orInstant(e.ValidFrom), orInstant(e.ValidUntil)
	if !e.ValidFrom.IsZero() && !e.ValidUntil.IsZero() && !e.ValidUntil.After(e.ValidFrom) {
		wrong.Add("valid_until", "is not after valid_from")
	}
	return e, wrong
}

// CanonicalValue is the form in which JSON values are stored and compared: the
// keys of objects sorted, no space, numbers as the shortest form of a float64
// (but integers with all their digits). Its error says what is wrong.
func CanonicalValue(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, errors.New("is missing: give any JSON value")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("is not JSON")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("holds more than one JSON value")
	}
	plain, err := numbers(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plain); err != nil {
		return nil, errors.New("is not JSON")
	}
	value := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(value) > memory.MaxFactValue {
		return nil, fmt.Errorf("has %d bytes: at most %d are allowed", len(value), memory.MaxFactValue)
	}
	if bytes.Contains(value, []byte(`\u0000`)) && holdsNUL(plain) {
		return nil, errors.New("holds a NUL character")
	}
	return value, nil
}

// numbers returns v with its numbers in canonical form.
func numbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = numbers(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// number is the shortest form of a number, as JavaScript writes it. 1, 1.0 and 1e0
// are equal; a number that is written as an integer keeps all its digits.
func number(n json.Number) (json.Number, error) {
	f, err := n.Float64()
	if err != nil {
		return "", errors.New("holds a number outside the range of a float64")
	}
	const plain = 1e21
	switch {
	case f == 0:
		return "0", nil
	case !strings.ContainsAny(string(n), ".eE"):
		return n, nil
	case math.Abs(f) < plain && f == math.Trunc(f):
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64)), nil
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
}

// holdsNUL reports whether a string of v holds a NUL, which no text column can hold.
func holdsNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, 0)
	case []any:
		return slices.ContainsFunc(v, holdsNUL)
	case map[string]any:
		for key, item := range v {
			if strings.ContainsRune(key, 0) || holdsNUL(item) {
				return true
			}
		}
	}
	return false
}

// orInstant is memory.Instant, but keeps zero.
func orInstant(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return memory.Instant(t)
}
