package llm

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Answer is a model's answer that is being read.
type Answer struct {
	Text string

	// Salvaged lists faults of the answer that did not prevent reading it. Readers append to it what they leave out or
	// replace.
	Salvaged []string

	// Corrected says that the model was asked again for this answer. If such an answer is cut off and has one list,
	// Decode reads the whole items of that list; a third request would hardly give more.
	Corrected bool
}

// Salvage records something that was wrong and did not prevent reading the answer.
func (a *Answer) Salvage(format string, args ...any) {
	a.Salvaged = append(a.Salvaged, fmt.Sprintf(format, args...))
}

// Decode reads the JSON object of the answer into a pointer to a struct. It is
// tolerant about form; callers must check the meaning. It steps over
//
//   - prose, code fences and thoughts around the object, and a byte order mark
//   - comments, trailing commas, control characters within strings, and what is not UTF-8
//   - the same object given twice, and an object around it with one field
//   - unknown fields, and names in another case
//   - numbers as strings, such as "0.9"
//   - an object where a list is expected, see Items
//   - a list, a single item, or items one after another in place of the object, if the struct has one field of type
//     Items
//   - a cut after an item, if the answer is Corrected and the struct has one field of type Items
//
// It strips control characters and bidirectional overrides from strings. JSON null
// leaves a field zero. Errors have KindBadAnswer: there is no object, or more than
// one; the object is malformed or cut off; a name occurs twice; a field of another
// type than Items has a value of the wrong type.
func (a *Answer) Decode(into any) error {
	value, err := cut(a.Text, true)
	if _, list := fieldNames(into); err != nil && a.Corrected && list != "" {
		if value, err = cut(a.Text, false); err == nil {
			a.Salvage("the answer is cut off")
		}
	}
	if err != nil {
		return err
	}
	strict := json.Unmarshal(value, into, strictly)
	if strict == nil {
		return nil
	}
	reflect.ValueOf(into).Elem().SetZero()
	if value, err = standardise(value); err == nil {
		value, err = asObject(value, into)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(value, into, tolerantly); err != nil {
		return BadAnswer("the answer does not fit: %w", plain(err))
	}
	a.Salvage("%v", plain(strict))
	return nil
}

var (
	cleaned = json.UnmarshalFromFunc(func(d *jsontext.Decoder, s *string) error {
		if d.PeekKind() != '"' {
			return errors.ErrUnsupported
		}
		token, err := d.ReadToken()
		*s = text.StripControls(token.String())
		if strings.Trim(*s, "\ufffd \t\n") == "" {
			*s = "" // nothing of it could be read
		}
		return err
	})
	strictly = json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(cleaned))

	tolerantly = json.JoinOptions(invalidUTF8, json.MatchCaseInsensitiveNames(true), json.WithUnmarshalers(
		json.JoinUnmarshalers(cleaned, quotedNumber[int](), quotedNumber[float64]())))
)

// quotedNumber reads a number that is written as a string.
func quotedNumber[T int | float64]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, n *T) error {
		if d.PeekKind() != '"' {
			return errors.ErrUnsupported
		}
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if json.Unmarshal([]byte(strings.TrimSpace(token.String())), n) != nil {
			return errors.New("not a number")
		}
		return nil
	})
}

// BadAnswer is an error of KindBadAnswer.
func BadAnswer(format string, args ...any) error {
	return memory.Errorf(memory.KindBadAnswer, format, args...)
}

// plain shortens an error of the JSON library to its cause and position.
func plain(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is cut off")
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return fmt.Errorf("unknown field %.80s", semantic.JSONPointer)
	case errors.As(err, &semantic) && semantic.JSONPointer == "":
		return fmt.Errorf("it is a %s", kindName(semantic.JSONKind))
	case errors.As(err, &semantic):
		return fmt.Errorf("the %s at %.80s is of the wrong type or out of range",
			kindName(semantic.JSONKind), semantic.JSONPointer)
	case errors.As(err, &syntactic) && syntactic.JSONPointer != "":
		return fmt.Errorf("%.120s at %.80s", syntactic.Err, syntactic.JSONPointer) //nolint:errorlint // shortened
	case errors.As(err, &syntactic):
		return fmt.Errorf("%.120s", syntactic.Err) //nolint:errorlint // shortened
	}
	return err
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "object"
	case 0:
		return "value"
	case '[':
		return "list"
	}
	return kind.String()
}
