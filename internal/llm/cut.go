package llm

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

var endOfThoughts = regexp.MustCompile(`(?i)</think(?:ing)?>`)

// cut returns the JSON object of an answer without the text around it, or its JSON list if it has no object. It returns
// several different objects as a list. If whole is false, a value may be cut off after an item of a list.
func cut(answer string, whole bool) (value []byte, err error) {
	answer = strings.ToValidUTF8(answer, "\ufffd")
	s := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(answer), "\ufeff"))
	lower := strings.ToLower(s[:min(len(s), 16)])
	switch {
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
	values, err := jsonValues([]byte(s), whole)
	if err != nil {
		return nil, err
	}
	for _, kind := range []byte{'{', '['} {
		var found [][]byte
		for _, value := range values {
			isKnown := func(other []byte) bool { return bytes.Equal(other, value) }
			if value[0] == kind && !slices.ContainsFunc(found, isKnown) {
				found = append(found, value)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1 && kind == '{':
			return slices.Concat([]byte("["), bytes.Join(found, []byte(",")), []byte("]")), nil
		case len(found) > 1:
			return nil, errSeveral
		}
	}
	return nil, BadAnswer("the answer has no JSON object")
}

var errSeveral = BadAnswer("the answer has more than one JSON object: give one")

// jsonValues returns the objects and lists in a text that are JSON, apart from comments and trailing commas. If whole
// is false, the last one may be cut off.
func jsonValues(s []byte, whole bool) (found [][]byte, err error) {
	var malformed error
	for {
		start := bytes.IndexAny(s, "{[")
		if start < 0 {
			break
		}
		length, closed := spanLength(s[start:])
		end := start + length
		if length == 0 {
			if closed == nil || whole {
				return nil, BadAnswer("the answer's JSON is cut off")
			}
			s = closed
			start, end = 0, len(closed)
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

// spanLength returns the length of the object or list at the beginning of s, or 0 if its end is missing. In that case
// closed is s up to the last whole item of a list, with the missing brackets added; nil if there is no such item. It
// replaces control characters within strings by spaces, since JSON does not allow them there, and comments that begin
// with #.
func spanLength(s []byte) (length int, closed []byte) {
	var open []byte      // the brackets that close what is open
	lists := 0           // that are open
	whole, depth := 0, 0 // the length up to the last whole item, and what is open there
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '{':
			open = append(open, '}')
		case s[i] == '[':
			open = append(open, ']')
			lists++
		case s[i] == '}' || s[i] == ']':
			last := len(open) - 1
			closesList := open[last] == ']'
			open = open[:last]
			if last == 0 {
				return i + 1, nil
			}
			if closesList {
				lists--
			}
			isItem := lists == 1 && open[last-1] == ']'
			if isItem || closesList && lists == 0 || last < depth {
				whole, depth = i+1, last
			}
		case s[i] == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] < ' ' {
					s[i] = ' '
				} else if s[i] == '\\' {
					i++
				}
			}
		case s[i] == '#':
			for end := i + lengthUntil(s[i:], "\n"); i < end; i++ {
				s[i] = ' '
			}
		case bytes.HasPrefix(s[i:], []byte("//")):
			i += lengthUntil(s[i:], "\n")
		case bytes.HasPrefix(s[i:], []byte("/*")):
			i += lengthUntil(s[i:], "*/")
		}
	}
	if whole == 0 {
		return 0, nil
	}
	closed = slices.Clone(s[:whole])
	for _, end := range slices.Backward(open[:depth]) {
		closed = append(closed, end)
	}
	return 0, closed
}

// lengthUntil returns the length of s before the end mark, or the whole length.
func lengthUntil(s []byte, mark string) int {
	if end := bytes.Index(s, []byte(mark)); end >= 0 {
		return end
	}
	return len(s)
}
