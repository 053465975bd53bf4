package llm

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hippocampus/internal/memory"
)

const fence = "```"

// Decode reads the single JSON object of a model's answer into a pointer to a
// struct. The object may be surrounded by prose without braces or brackets, and by
// one code fence. Every other answer is an error of KindBadAnswer with the reason:
// no object, a second one, an object inside a list, unknown fields (case-sensitive),
// duplicate names, wrong types, numbers that are not JSON, comments, a truncated
// object, or invalid UTF-8, also in escapes.
//
// JSON null leaves a field zero. If null must be refused, use a pointer.
func Decode(answer string, into any) error {
	object, err := cutObject(answer)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(object), into, json.RejectUnknownMembers(true)); err != nil {
		return BadAnswer("the answer does not fit: %w", plain(err))
	}
	return nil
}

// cutObject removes the text around the object of an answer.
func cutObject(answer string) (string, error) {
	text := strings.TrimSpace(answer)
	lower := strings.ToLower(text[:min(len(text), 16)])
	switch {
	case !utf8.ValidString(answer):
		return "", BadAnswer("the answer is not valid UTF-8")
	case text == "":
		return "", BadAnswer("the answer is empty")
	case strings.HasPrefix(text, "\ufeff"):
		return "", BadAnswer("the answer begins with a byte order mark")
	case strings.HasPrefix(lower, "<!doctype") || strings.HasPrefix(lower, "<html"):
		return "", BadAnswer("the answer is an HTML page")
	}
	start := strings.IndexByte(text, '{')
	end := strings.LastIndexByte(text, '}') + 1
	switch {
	case start < 0:
		return "", BadAnswer("the answer has no JSON object")
	case end <= start:
		return "", BadAnswer("the answer's JSON object is cut off")
	}
	before := text[:start]
	object := text[start:end]
	after := text[end:]
	if strings.ContainsAny(before+after, "[]{}") {
		return "", BadAnswer("the answer has brackets outside its JSON object")
	}
	if opened, closed := strings.Count(before, fence), strings.Count(after, fence); opened != closed || opened > 1 {
		return "", BadAnswer("the answer has code fences other than one around its JSON object")
	}
	decoder := jsontext.NewDecoder(strings.NewReader(object))
	if err := decoder.SkipValue(); err != nil {
		return "", BadAnswer("the answer's JSON object is malformed: %w", plain(err))
	}
	if decoder.InputOffset() != int64(len(object)) {
		return "", BadAnswer("the answer has more than one JSON object, or prose with braces")
	}
	return object, nil
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
	case '[':
		return "list"
	}
	return kind.String()
}
