package attribute

import (
	"hippocampus/internal/lazyregexp"
	"hippocampus/scorer/request"
)

// manners are the ways in which the assistant can be asked to answer that exclude each other, in English and Chinese.
// Of the values of one manner that a request names, the first counts.
var manners = []struct {
	attribute, value string
	says             *lazyregexp.Regexp
}{
	{"length of answers", "long", lazyregexp.New(`(?i)\b(?:long|longer|lengthy|detailed|thorough|elaborate|in depth|` +
		`in (?:more |full )?detail|more details?)\b|详细|详尽|具体|长一?[点些]|展开`)},
	{"length of answers", "short", lazyregexp.New(`(?i)\b(?:short|shorter|brief|briefly|briefer|concise|succinct|` +
		`terse)\b|简短|简洁|简单|精简|简练|短一?[点些]`)},
	{"tone", "informal", lazyregexp.New(`(?i)\b(?:informal|informally|casual|casually|relaxed)\b|随意|随便|轻松|不用客气|口语`)},
	{"tone", "formal", lazyregexp.New(`(?i)\b(?:formal|formally|polite|politely)\b|正式|敬语|礼貌|客气`)},
	{"units", "metric", lazyregexp.New(`(?i)\b(?:metric|kilomet(?:er|re)s)\b|公制|公里`)},
	{"units", "imperial", lazyregexp.New(`(?i)\b(?:imperial|miles)\b|英制|英里`)},
	{"temperatures", "celsius", lazyregexp.New(`(?i)\bcelsius\b|摄氏`)},
	{"temperatures", "fahrenheit", lazyregexp.New(`(?i)\bfahrenheit\b|华氏`)},
	{"clock", "24", lazyregexp.New(`(?i)\b24[- ]hour\b|二十四小时|24 ?小时`)},
	{"clock", "12", lazyregexp.New(`(?i)\b12[- ]hour\b|十二小时|12 ?小时`)},
	{"spelling", "british", lazyregexp.New(`(?i)\bbritish (?:english|spelling)\b|英式`)},
	{"spelling", "american", lazyregexp.New(`(?i)\bamerican (?:english|spelling)\b|美式`)},
}

// avoided are forms of answers that a request allows or forbids.
var avoided = []struct {
	attribute string
	names     *lazyregexp.Regexp
}{
	{"emojis", lazyregexp.New(`(?i)\bemojis?\b|表情`)},
	{"bullet points", lazyregexp.New(`(?i)\bbullet(?: points?| lists?|ed lists?|s)\b|要点|分点|列表`)},
	{"tables", lazyregexp.New(`(?i)\btables\b|表格`)},
	{"markdown", lazyregexp.New(`(?i)\bmarkdown\b`)},
	{"jokes", lazyregexp.New(`(?i)\bjokes?\b|玩笑|笑话`)},
	{"links", lazyregexp.New(`(?i)\blinks\b|链接`)},
}

// negated matches what forbids. It also matches a value that a manner says is too much.
var (
	negated = lazyregexp.New(`(?i)\b(?:no|not|don't|never|stop|without|avoid|skip|drop|fewer|less|needn't)\b|不|别|少`)
	tooMuch = lazyregexp.New(`(?i)\b(?:so|too)\b|太`)
)

// ofManner returns the claims of a standing request, such as "Keep your answers short".
func ofManner(statement string) (claims []Claim) {
	if !request.IsStanding(statement) {
		return nil
	}
	forbids := negated.MatchString(statement)
	if !forbids && !tooMuch.MatchString(statement) {
		for _, m := range manners {
			c := Claim{Attribute: m.attribute, Value: []string{m.value}}
			if m.says.MatchString(statement) && !Common(claims, []Claim{c}) {
				claims = append(claims, c)
			}
		}
	}
	for _, a := range avoided {
		if a.names.MatchString(statement) {
			claims = append(claims, Claim{Attribute: a.attribute, Value: []string{wanted(!forbids)}})
		}
	}
	return claims
}

func wanted(is bool) string {
	if is {
		return "wanted"
	}
	return "unwanted"
}
