package recall

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"hippocampus/internal/lang/asked"
	"hippocampus/internal/lang/function"
	"hippocampus/internal/lang/todo"
	"hippocampus/internal/lazyregexp"
)

// cues are signals in a memory's text other than its words. The index stores
// them, for comparison with many queries.
type cues struct {
	speaker  string  // lower case; "nora" for "[2024-03-01] Nora: ..."; empty: no speaker
	called   string  // lower case; the name that a fact states as the user's own, or empty
	timed    bool    // it states when something is, was or will be
	question float64 // share of its text that consists of questions, 0..1
}

// speakerPrefix is how a line of a conversation begins: an optional note in
// brackets, then one to three words and a colon.
var speakerPrefix = lazyregexp.New(
	`^(?:\[[^\]\n]{1,40}\]\s*)?([\pL][\pL\pN_.'’-]*(?: [\pL][\pL\pN_.'’-]*){0,2})(?::\s|：)`)

func cuesOf(content string) cues {
	var c cues
	if strings.Contains(content, ":") || strings.Contains(content, "：") { // every match has one
		if m := speakerPrefix.FindStringSubmatchIndex(content); m != nil {
			c.speaker = strings.ToLower(content[m[2]:m[3]])
			content = content[m[1]:]
		}
	}
	c.timed = statesTime(content)
	c.question = questionShare(content)
	return c
}

// timeWords state a time. A plural "s" is cut off before they are looked up.
var timeWords = wordSet(`yesterday today tonight tomorrow last next ago weekend week month year since recently just
	monday tuesday wednesday thursday friday saturday sunday
	january february march april may june july august september october november december
	morning summer winter spring fall autumn`)

// timeInChinese is searched anywhere in a text, since Chinese has no spaces between words.
var timeInChinese = lazyregexp.New(`[昨今明前后]天|[去今明前后]年|[上下这本]个?(?:周|月|星期|礼拜)|周末|` +
	`(?:星期|礼拜|周)[一二三四五六日天]|(?:[0-9]|[一二三四五六七八九十])(?:年|月|号|点)`)

// afterThis are time words only after "this".
var afterThis = wordSet("morning summer winter spring fall autumn")

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// statesTime reports whether a text states when something is, was or will be.
func statesTime(content string) bool {
	before := ""
	for word := range strings.FieldsFuncSeq(strings.ToLower(content), notLetterOrDigit) {
		stem := strings.TrimSuffix(word, "s")
		if timeWords[word] || timeWords[stem] {
			if !afterThis[stem] || before == "this" {
				return true
			}
		}
		if len(word) == 4 && (word[:2] == "19" || word[:2] == "20") && isDigits(word) {
			return true
		}
		before = word
	}
	return !isASCII(content) && strings.ContainsFunc(content, isHan) && timeInChinese.MatchString(content)
}

func notLetterOrDigit(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func isDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// imageNote stands in a content for an image.
var imageNote = lazyregexp.New(`\[image:[^\]]*\]`)

// questionShare is the share of a text's characters that belong to sentences
// with a question mark at the end, 0..1.
func questionShare(text string) float64 {
	if !strings.Contains(text, "?") && !strings.Contains(text, "？") {
		return 0
	}
	text = strings.TrimSpace(imageNote.ReplaceAllString(text, ""))
	all := 0
	asked := 0
	sentence := 0 // characters
	visible := false
	ended := false
	last := rune(0)
	end := func() {
		if visible {
			all += sentence
			if last == '?' || last == '？' {
				asked += sentence
			}
		}
		sentence = 0
		visible = false
		ended = false
	}
	for _, r := range text {
		mark := strings.ContainsRune(".!?。！？", r)
		if ended && !mark {
			end()
		}
		sentence++
		switch {
		case mark:
			ended, last = ended || visible, r
		case !unicode.IsSpace(r):
			visible, last = true, r
		}
	}
	end()
	if all == 0 {
		return 0
	}
	return float64(asked) / float64(all)
}

// queryCues are what a query asks for other than its words.
type queryCues struct {
	text     string // lower case
	names    map[string]bool
	dates    []askedTime
	timeOnly bool  // its times alone say what it asks for: "What do I have on next week?"
	tomorrow int32 // a day, if the query asks what happened: a memory about this day or later ones is no answer; else 0
	toDo     todo.Asked
	asksWhen bool
	ofSelf   bool // it is about the user
}

var whenPattern = lazyregexp.New(`\bwhen\b|\b(?:what|which) (?:date|day|month|year|time)|how long|` +
	`什么时候|哪天|哪年|哪一天|哪一年|哪个月|多久|何时|几时|几月|几点|几号|星期几|周几`)

// whenWords are in the matches of whenPattern without Han characters.
var whenWords = []string{"when", "what ", "which ", "how long"}

// longestOpen is how many bytes a question for whatever happened in some time, or for what is to be done, has at most.
const longestOpen = 200

// queryCuesOf returns the cues of a query that is asked at an instant. The query's times are read in the zone of the
// instant.
func queryCuesOf(query string, at time.Time) queryCues {
	c := cuesWithoutTimes(query)
	c.dates = askedTimes(query, at)
	if len(query) <= longestOpen {
		timeless := withoutTimes(query, c.dates)
		c.timeOnly = len(c.dates) > 0 && asked.ForAnything(timeless)
		if c.timeOnly && c.asksForWhatWasDone() {
			c.tomorrow = dayOf(at) + 1
		}
		c.toDo = todo.For(timeless)
	}
	return c
}

// namesNothing reports whether a query names no words by which a memory may be found.
func (c *queryCues) namesNothing() bool { return c.timeOnly || c.toDo == todo.Everything }

func cuesWithoutTimes(query string) queryCues {
	c := queryCues{text: strings.ToLower(query), names: map[string]bool{}, ofSelf: aboutSelf.MatchString(query)}
	isInText := func(word string) bool { return strings.Contains(c.text, word) }
	if slices.ContainsFunc(whenWords, isInText) || strings.ContainsFunc(query, isHan) {
		c.asksWhen = whenPattern.MatchString(c.text)
	}
	for word := range strings.FieldsFuncSeq(query, func(r rune) bool {
		return notLetterOrDigit(r) && r != '\'' && r != '’'
	}) {
		word = strings.Trim(word, "'’")
		for _, possessive := range []string{"'s", "’s", "'", "’"} {
			if owner, ok := strings.CutSuffix(word, possessive); ok {
				word = owner
				break
			}
		}
		if unicode.IsUpper(firstRune(word)) {
			c.names[strings.ToLower(word)] = true
		}
	}
	return c
}

var pastPattern = lazyregexp.New(`\b(?:before|previous(?:ly)?|former(?:ly)?|earlier|originally|past|used? to|` +
	`back then|no longer|any ?more|(?:my|the|our) old)\b|以前|之前|从前|曾经|过去|原来|原先|当时|那时`)

// aheadPattern matches words of questions about plans and of requests for advice, and wasPattern words of questions
// about the past.
var (
	aheadPattern = lazyregexp.New(`\b(?:am|are|will|shall|should|going to)\b|` +
		`\b(?:find|plan|recommend|remind|schedule|suggest)\b|推荐|建议|安排|应该|打算|提醒|帮我`)
	wasPattern = lazyregexp.New(`\b(?:did|was|were|had|have|has)\b`)
)

// asksForPast reports whether former statements may answer a query that is asked at an instant. A time that is over,
// such as "in August", asks for the past unless the question is about plans. A time that has begun asks for the past if
// the question is in the past tense.
func (c *queryCues) asksForPast(at time.Time) bool {
	for _, d := range c.dates {
		was := wasPattern.MatchString(c.verbs())
		if was && d.From.Before(at) || !d.Until.After(at) && !aheadPattern.MatchString(c.text) {
			return true
		}
	}
	return pastPattern.MatchString(c.text)
}

// overPattern matches words of questions that ask what has happened.
var overPattern = lazyregexp.New(`\b(?:did|was|were|had|has|been|ever|happened)\b|过[吗？?]|上次|当时`)

// donePattern matches Chinese questions for what was done, and saidPattern questions for what was said or planned.
var (
	donePattern = lazyregexp.New(`[了过](?:些?什么|哪些|哪里|哪儿|啥)`)
	saidPattern = lazyregexp.New(`\b(?:say|said|talk\w*|tell|told|mention\w*|discuss\w*|chat\w*|speak|spoke|plan\w*|` +
		`schedul\w*|remember|remind)\b|[聊谈说讲提]|计划`)
)

// asksForWhatWasDone reports whether a query that names nothing but times asks for what has happened, rather than for
// what was said or planned.
func (c *queryCues) asksForWhatWasDone() bool {
	return (c.asksForWhatIsOver() || donePattern.MatchString(c.text)) &&
		!aheadPattern.MatchString(c.text) && !saidPattern.MatchString(c.text)
}

// asksForWhatIsOver reports whether the query asks what has happened, so that a present statement answers it no better
// than an earlier one. Such a query need not ask for former statements: see asksForPast.
func (c *queryCues) asksForWhatIsOver() bool { return overPattern.MatchString(c.verbs()) }

// verbs returns the query without the German word "was", which is no verb.
func (c *queryCues) verbs() string {
	if strings.Contains(c.text, "was") && function.IsGerman(c.text) {
		return germanWhat.ReplaceAllString(c.text, "")
	}
	return c.text
}

var germanWhat = lazyregexp.New(`\bwas\b`)

// happenedPattern matches words of questions about plans that are over. It matches less than overPattern: "has" and
// "ever" also ask about the present.
var happenedPattern = lazyregexp.New(`\b(?:did|was|were|went|happened)\b|\bha(?:s|ve|d)\b.*\bbeen\b|过[吗？?]|上次|当时`)

// asksForWhatHappened reports whether the query asks for a plan that is over.
func (c *queryCues) asksForWhatHappened() bool { return happenedPattern.MatchString(c.verbs()) }

// firstRune returns the first character of s, 0 if s is empty.
func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// namesSpeaker reports whether the query names a speaker: the query has each
// word of the name with a capital or, in scripts without capitals, the whole
// name. Of a Chinese name of three or four characters the given name, the last
// two, is enough.
func (c *queryCues) namesSpeaker(speaker string) bool {
	if speaker == "" {
		return false
	}
	if first := firstRune(speaker); !unicode.IsLower(first) {
		name := []rune(speaker)
		if n := len(name); (n == 3 || n == 4) && isHan(first) {
			speaker = string(name[n-2:])
		}
		return len(name) > 1 && strings.Contains(c.text, speaker)
	}
	for part := range strings.FieldsSeq(speaker) {
		if !c.names[part] {
			return false
		}
	}
	return true
}
