package llmtest

import (
	"hash/fnv"
	"io"
	"regexp"
	"strings"
)

// Sloppiness is a way in which real models spoil the form of a good answer. An
// answer that has no facts stays as it is if only facts can be spoilt.
type Sloppiness struct {
	Name  string
	Spoil func(answer string) string
	Adds  int  // bad items that Spoil adds to an answer with facts
	Cut   bool // the answer cannot be read: the model must be asked again
}

// BadItem is a fact without content, which Spoil adds to good ones.
const BadItem = `{"fact":"","importance":0.8,"domain":"general_chat"}`

// OutOfRange is a fact with an importance that is not between 0 and 1.
const OutOfRange = `{"fact":"The user is happy today.","importance":9,"domain":"general_chat"}`

// SloppyAnswers lists the ways of real models.
func SloppyAnswers() []Sloppiness {
	replace := func(old, with string) func(string) string {
		return func(answer string) string { return strings.ReplaceAll(answer, old, with) }
	}
	around := func(before, after string) func(string) string {
		return func(answer string) string { return before + answer + after }
	}
	pattern := func(old, with string) func(string) string {
		re := regexp.MustCompile(old)
		return func(answer string) string { return re.ReplaceAllString(answer, with) }
	}
	add := func(item string) func(string) string {
		return func(answer string) string {
			if !hasFacts(answer) {
				return answer
			}
			return strings.Replace(answer, `{"facts":[`, `{"facts":[`+item+",", 1)
		}
	}
	return []Sloppiness{
		{Name: "as asked", Spoil: around("", "")},
		{Name: "prose and a code fence", Spoil: around("Here is the JSON object:\n```json\n", "\n```\nI hope this helps!")},
		{Name: "byte order mark", Spoil: around("\ufeff", "")},
		{Name: "thoughts with braces", Spoil: around("<think>Maybe {\"facts\":[]}? No: [1] is a fact.</think>\n", "")},
		{Name: "unknown fields", Spoil: pattern(`^\{`, `{"reasoning":"I looked for facts.",`)},
		{Name: "unknown fields of items", Spoil: replace(`{"fact":`, `{"id":1,"confidence":"high","fact":`)},
		{Name: "numbers as strings", Spoil: pattern(`"importance":([0-9.]+)`, `"importance":"$1"`)},
		{Name: "trailing commas", Spoil: pattern(`([}\]])([}\]])`, `$1,$2`)},
		{Name: "comments", Spoil: pattern(`^\{`, "{ // the facts of this turn\n")},
		{Name: "comments with a hash", Spoil: pattern(`^\{`, "{ # the facts {of this turn\n")},
		{Name: "given twice", Spoil: func(answer string) string { return answer + "\n" + answer }},
		{Name: "within another object", Spoil: around(`{"result":`, "}")},
		{Name: "single object in place of a list", Spoil: pattern(`^\{"facts":\[(\{[^{}]*\})\]\}$`, `{"facts":$1}`)},
		{Name: "bare list", Spoil: pattern(`(?s)^\{"facts":(\[.*\])\}$`, `$1`)},
		{Name: "domain in other case and with spaces", Spoil: inOtherCase},
		{Name: "unknown domain", Spoil: pattern(`"domain":"[a-z_]*"`, `"domain":"biography"`)},
		{Name: "unknown type", Spoil: replace(`"type":"fact"`, `"type":"biography"`)},
		{Name: "type of another prompt", Spoil: replace(`"type":"fact"`, `"type":"summary"`)},
		{Name: "control characters and overrides", Spoil: replace(`"fact":"`, `"fact":"\u0007\u202e`)},
		{Name: "line breaks in a text", Spoil: pattern(`\."(,"importance")`, ".\n\"$1")},
		{Name: "bad item", Spoil: add(BadItem), Adds: 1},
		{Name: "bad items", Spoil: add(BadItem + "," + OutOfRange), Adds: 2},
		{Name: "cut off", Spoil: func(answer string) string { return answer[:len(answer)-2] }, Cut: true},
	}
}

// Sloppy answers as Rules does, with a sloppiness that the hash of the prompt chooses. The
// same request always has the same answer. Use it with OnChat.
func Sloppy(r ChatRequest) Reply {
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, r.User) // never fails
	kinds := SloppyAnswers()
	return Spoilt(r, kinds[hash.Sum32()%uint32(len(kinds))])
}

// Spoilt answers as Rules does, with a sloppiness. An answer that follows a correction has the requested form.
func Spoilt(r ChatRequest, s Sloppiness) Reply {
	answer := RulesText(r)
	if r.Correction == "" {
		answer = s.Spoil(answer)
	}
	return Text(answer)
}

var domain = regexp.MustCompile(`"domain":"(\w+)"`)

// inOtherCase writes domains in upper case, between spaces.
func inOtherCase(answer string) string {
	return domain.ReplaceAllStringFunc(answer, func(field string) string {
		return `"domain":" ` + strings.ToUpper(domain.FindStringSubmatch(field)[1]) + ` "`
	})
}

// hasFacts reports whether an answer to the scorer's prompt has a fact.
func hasFacts(answer string) bool { return strings.HasPrefix(answer, `{"facts":[{`) }
