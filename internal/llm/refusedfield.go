package llm

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
)

// fieldPattern says how the errors of endpoints name a field.
type fieldPattern struct {
	place   string             // in "param" or "loc"
	pattern *lazyregexp.Regexp // in a message
	plain   bool               // no other message has such a name, so that a word of refusal need not be near it
}

var (
	namesOfTemperature         = fieldPattern{place: "temperature", pattern: lazyregexp.New(`(?i)\btemperature\b`)}
	namesOfMaxTokens           = fieldPattern{place: "max_tokens", pattern: lazyregexp.New(`(?i)\bmax_tokens\b`)}
	namesOfMaxCompletionTokens = fieldPattern{
		place: "max_completion_tokens", pattern: lazyregexp.New(`(?i)\bmax_completion_tokens\b`),
	}
	namesOfFormat = fieldPattern{
		place: "response_format", plain: true,
		pattern: lazyregexp.New(`(?i)\b(?:response[_ ]format|json_schema|json_object|json mode)\b`),
	}
)

var (
	// refusal words before or after the name of a field.
	wordsOfRefusal = lazyregexp.New(`(?i)unsupported|unknown|unrecogni[sz]ed|unexpected|unavailable|invalid|` +
		`extra|deprecated|(?:not|n't|cannot) (?:\w+ )?(?:support|permit|allow|accept|available|recogni[sz]|valid|use)|` +
		`不支持|无效`)
	// words of refusal, after the name of a field only.
	wordsOfLimits = lazyregexp.New(`(?i)\b(?:must|only|should)\b`)

	// aboutLength matches errors of requests that are too long, which may also name max_tokens.
	aboutLength = lazyregexp.New(`(?i)context.?(?:length|window|size)|too long|too many (?:input )?tokens|` +
		`reduce the length`)
)

// The distance between the name of a field and a word of refusal, in bytes.
const (
	reachBefore = 50
	reachAfter  = 60
)

// refusedField returns the field that an endpoint refused with this body, or "" if leaving out a field does not help.
// The place that the endpoint states apart from its message ("param", "loc") decides. Else the message must name the
// field near a word of refusal, outside of words that it repeats from the request's messages.
func refusedField(body []byte, r chatRequest) field {
	complaint := complaintOf(body)
	if aboutLength.MatchString(complaint.words) {
		return ""
	}
	sent := r.optionalFields()
	ordered := slices.Sorted(maps.Keys(sent))
	for _, place := range complaint.places {
		if slices.Contains(place, "messages") {
			return ""
		}
		for _, name := range ordered {
			if slices.Contains(place, sent[name].place) {
				return name
			}
		}
	}
	said := wordsOf(r.said())
	first, refused := len(complaint.words), field("")
	for _, name := range ordered {
		if at := sent[name].refusedIn(complaint.words, said); at >= 0 && at < first {
			first, refused = at, name
		}
	}
	return refused
}

// refusedIn returns where a message refuses the field, or -1.
func (p fieldPattern) refusedIn(message, said string) int {
	for _, at := range p.pattern.FindAllStringIndex(message, -1) {
		before, after := message[:at[0]], message[at[1]:]
		if repeats(before, message[at[0]:at[1]], after, said) {
			continue
		}
		before = before[max(0, len(before)-reachBefore):]
		before = before[max(strings.LastIndexAny(before, ";\n"), strings.LastIndex(before, ". "))+1:]
		after, _, _ = strings.Cut(after[:min(len(after), reachAfter)], ". ")
		if p.plain || wordsOfRefusal.MatchString(before) || wordsOfRefusal.MatchString(after) ||
			wordsOfLimits.MatchString(after) {
			return at[0]
		}
	}
	return -1
}

// repeats reports whether what was said has a name between the same words.
func repeats(before, name, after, said string) bool {
	left, right := strings.Fields(wordsOf(before)), strings.Fields(wordsOf(after))
	nearLeft, nearRight := 1, 1
	if len(left) == 0 {
		nearRight = 2
	} else if len(right) == 0 {
		nearLeft = 2
	}
	around := slices.Concat(left[max(0, len(left)-nearLeft):], strings.Fields(wordsOf(name)),
		right[:min(len(right), nearRight)])
	return strings.Contains(said, " "+strings.Join(around, " ")+" ")
}

var notOfWords = lazyregexp.New(`[^\p{L}\p{N}_]+`)

// wordsOf returns the words of a text in lower case, with one space before and after each.
func wordsOf(text string) string {
	return " " + strings.TrimSpace(notOfWords.ReplaceAllString(strings.ToLower(text), " ")) + " "
}

// said returns the texts of the request's messages.
func (r chatRequest) said() string {
	var texts strings.Builder
	for _, m := range r.Messages {
		texts.WriteString(m.Content + "\n")
	}
	return texts.String()
}

// complaint is the content of an error's body.
type complaint struct {
	words  string     // its messages, each with a line end
	places [][]string // paths to fields, each the names on the path
}

// complaintOf reads the body of an error in the forms of OpenAI, FastAPI and Google, also with JSON within a message. A
// body that is not JSON is one message.
func complaintOf(body []byte) complaint {
	var c complaint
	var value any
	if json.Unmarshal(body, &value) != nil {
		return complaint{words: string(body)}
	}
	c.read("message", value, 0)
	return c
}

// maxDepth bounds the JSON within messages.
const maxDepth = 20

// read reads the value of a key.
func (c *complaint) read(key string, value any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			c.read(name, v[name], depth+1)
		}
	case []any:
		if key == "loc" {
			c.places = append(c.places, namesIn(v))
			return
		}
		for _, one := range v {
			c.read(key, one, depth+1)
		}
	case string:
		var inner any
		switch {
		case key == "param":
			c.places = append(c.places, strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(".[]", r) }))
		case !slices.Contains([]string{"message", "msg", "detail", "error", "description"}, key):
		case strings.ContainsAny(v[:min(len(v), 1)], "{[") && json.Unmarshal([]byte(v), &inner) == nil:
			c.read(key, inner, depth+1)
		default:
			c.words += v + "\n"
		}
	}
}

// namesIn returns the texts of a list.
func namesIn(list []any) (names []string) {
	for _, one := range list {
		if name, ok := one.(string); ok {
			names = append(names, name)
		}
	}
	return names
}
