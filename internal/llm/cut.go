package llm

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

var endOfThoughts = regexp.MustCompile(`(?i)</think(?:ing)?>`)

// cut returns the JSON object of an answer without the text around it, or its JSON list if it has no object.
func cut(answer string) ([]byte, error) {
	s := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(answer), "\ufeff"))
	lower := strings.ToLower(s[:min(len(s), 16)])
	switch {
	case !utf8.ValidString(answer):
		return nil, BadAnswer("the answer is not valid UTF-8")
	case s == "":
		return nil, BadAnswer("the answer is empty")
	case strings.HasPrefix(lower, "<!doctype") || strings.HasPrefix(lower, "<html"):
		return nil, BadAnswer("the answer is an HTML page")
	}
	if end := endOfThoughts.FindStringIndex(s); end != nil && !strings.ContainsAny(s[:1], "{[") {
		s = s[end[1]:]
	} else if strings.HasPrefix(lower, "<think") {
		return nil, BadAnswer("the answer ends within its thoughts")
	}
	values, err := jsonValues([]byte(s))
	if err != nil {
		return nil, err
	}
	for _, kind := range []byte{'{', '['} {
		var found []byte
		for _, value := range values {
			if value[0] == kind && found != nil {
				return nil, BadAnswer("the answer has more than one JSON object: give one")
			} else if value[0] == kind {
				found = value
			}
		}
		if found != nil {
			return found, nil
		}
	}
	return nil, BadAnswer("the answer has no JSON object")
}

// jsonValues returns the objects and lists in a text that are JSON, apart from comments and trailing commas.
func jsonValues(s []byte) (found [][]byte, err error) {
	var malformed error
	for {
		start := bytes.IndexAny(s, "{[")
		if start < 0 {
			break
		}
		end := start + spanLength(s[start:])
		if end == start {
			return nil, BadAnswer("the answer's JSON is cut off")
		}
		if _, err := hujson.Parse(s[start:end]); err == nil {
			found = append(found, s[start:end])
		} else if malformed == nil {
			malformed = err
		}
		s = s[end:]
	}
	if len(found) == 0 && malformed != nil {
		return nil, BadAnswer("the answer's JSON is malformed: %.120s", malformed)
	}
	return found, nil
}

// spanLength returns the length of the object or list at the beginning of s, or 0 if it is not closed.
// It replaces control characters within strings by spaces, since JSON does not allow them there.
func spanLength(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '{' || s[i] == '[':
			depth++
		case s[i] == '}' || s[i] == ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		case s[i] == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] < ' ' {
					s[i] = ' '
				} else if s[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(s[i:], []byte("//")):
			i += lengthUntil(s[i:], "\n")
		case bytes.HasPrefix(s[i:], []byte("/*")):
			i += lengthUntil(s[i:], "*/")
		}
	}
	return 0
}

// lengthUntil returns the length of s before the end mark, or the whole length.
func lengthUntil(s []byte, mark string) int {
	if end := bytes.Index(s, []byte(mark)); end >= 0 {
		return end
	}
	return len(s)
}
