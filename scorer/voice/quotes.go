package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

// sentenceWords is the fewest words of a sentence; two Chinese characters count as one word.
const sentenceWords = 3

// withinLine divides a line of the user's own at quoted speech and at a text to work on.
func withinLine(text string) (spans []Span) {
	own, document := text, ""
	if hasColon(text) {
		found := inlineTask.FindStringIndex(text)
		if len(found) == 2 && words(text[found[1]:]) >= sentenceWords {
			own, document = text[:found[1]], text[found[1]:]
		}
	}
	reported := ""
	if at := reportStart(own); at >= 0 {
		own, reported = own[:at], own[at:]
	}
	rest := 0
	for _, q := range quotesOf(own) {
		if q.start > rest {
			spans = append(spans, Span{own[rest:q.start], Own})
		}
		spans = append(spans, Span{own[q.start:q.end], q.kind})
		rest = q.end
	}
	if rest < len(own) {
		spans = append(spans, Span{own[rest:], Own})
	}
	if reported != "" {
		spans = append(spans, Span{reported, Quote})
	}
	if document != "" {
		spans = append(spans, Span{document, Document})
	}
	return spans
}

var (
	// report matches a clause that says what someone says or writes, without quotation marks, and ends with a colon.
	report = lazyregexp.New(`(?i)(?:^|[.!?] )([^.!?:]*\b(?:writes?|wrote|says?|said|tells?|told|` +
		`repeats?|repeating|posts?|posted|` +
		`texts?|texted|asks?|asked|answers|answered|repl(?:y|ies|ied))\b[^.!?:"“]{0,30}:) \S|` +
		`(?:^|[。！？])([^。！？：:]*(?:写|说|讲|留言|回复|发帖|评论)(?:道|过|着|的)?[：:])[^“"「\s]`)
	// ownReport matches the beginning of a report if the user is its subject.
	ownReport = lazyregexp.New(`(?i)^\s*(?:(?:i|we) |我们?(?:[跟对和向给].{1,6})?(?:想|要|就)?(?:写|说|讲|留言|回复|发帖|评论))`)
)

// reportStart returns the beginning of a clause that reports what someone else says up to the end of the line; -1
// without such a clause.
func reportStart(text string) int {
	if !hasColon(text) {
		return -1
	}
	found := report.FindStringSubmatchIndex(text)
	if found == nil {
		return -1
	}
	start, end := max(found[2], found[4]), max(found[3], found[5])
	if ownReport.MatchString(text[start:end]) || !firstPerson.MatchString(text[end:]) {
		return -1
	}
	return start
}

// quote is a part of a line with another voice; its bounds are in bytes.
type quote struct {
	start, end int
	kind       Kind
}

// quotesOf returns the speech of others that is quoted in a line, each with the clause that reports it.
func quotesOf(text string) (quotes []quote) {
	unclosed := map[string]bool{} // closing marks that the rest of the line does not have
	done := 0                     // the end of the last quote
	for i := 0; i < len(text); {
		opening, size := utf8.DecodeRuneInString(text[i:])
		closing := closingOf[opening]
		start := i + size
		if closing == "" || unclosed[closing] || opening == '\'' && !opens(text, i) {
			i = start
			continue
		}
		length := closes(text[start:], closing)
		if length < 0 {
			unclosed[closing] = true
			i = start
			continue
		}
		end := start + length + len(closing)
		if kind := kindOf(opening, text[start:start+length]); kind != Own {
			from := clauseStart(text, done, i)
			done = reportEnd(text, text[start:start+length], end)
			quotes = append(quotes, quote{from, done, kind})
		}
		i = max(end, done)
	}
	return quotes
}

// kindOf returns whose words a quotation holds. Names, titles and terms are the user's own.
func kindOf(opening rune, said string) Kind {
	switch {
	case opening == '`' && words(said) >= sentenceWords:
		return Code
	case opening != '`' && isSpeech(said):
		return Quote
	}
	return Own
}

// reportEnd returns the end of the clause that reports what was said in a quotation before text[end]. That is end if
// the quotation ends a sentence.
func reportEnd(text, said string, end int) int {
	if strings.ContainsAny(lastRune(said), ".!?。！？…") && !continues(text[end:]) {
		return end
	}
	return clauseEnd(text, end)
}

// closingOf maps the marks that open a quotation to those that close it.
var closingOf = map[rune]string{'"': `"`, '“': "”", '「': "」", '『': "』", '\'': "'", '‘': "’", '`': "`"}

// opens reports whether the apostrophe at text[i] begins a quotation.
func opens(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	next, _ := utf8.DecodeRuneInString(text[i+1:])
	return (i == 0 || unicode.IsSpace(before) || before == '(') && unicode.IsLetter(next)
}

// closes returns where a text has a closing mark, or -1. An apostrophe within a word closes nothing.
func closes(text, closing string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], closing)
		if i < 0 {
			return -1
		}
		i += from
		from = i + len(closing)
		next, _ := utf8.DecodeRuneInString(text[from:])
		if closing != "'" && closing != "’" || !unicode.IsLetter(next) {
			return i
		}
	}
}

var (
	firstPerson = lazyregexp.New(`(?i)\b(?:i|my|mine|me|we|our|us)\b|[我咱俺]`)
	longWord    = lazyregexp.New(`\pL{4,}`)
)

// isSpeech reports whether a quotation is a sentence that a person says, rather than a name, a title or a term.
func isSpeech(said string) bool {
	if words(said) < sentenceWords || isTitle(said) {
		return false
	}
	return firstPerson.MatchString(said) || strings.ContainsAny(lastRune(said), ".!?,。！？，")
}

// isTitle reports whether the long words of a quotation begin with capitals.
func isTitle(said string) bool {
	long := longWord.FindAllString(said, -1)
	for _, w := range long {
		if first, _ := utf8.DecodeRuneInString(w); !unicode.IsUpper(first) {
			return false
		}
	}
	return len(long) > 0
}

// words counts the words of a text; two Chinese characters count as one.
func words(text string) int {
	han, other := 0, 0
	within := false
	for _, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case isHan(r):
			han++
			letter = false
		case letter && !within:
			other++
		}
		within = letter || within && (r == '\'' || r == '’')
	}
	return other + (han+1)/2
}

func lastRune(text string) string {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	return string(r)
}

// clauseMarks end a clause.
const clauseMarks = ".!?;,。！？；，\n"

// clauseStart returns the beginning of the clause with the quotation at text[at], not before least.
func clauseStart(text string, least, at int) int {
	head := strings.TrimRight(text[least:at], " ,:，：、")
	for end := len(head); end > 0; {
		i := strings.LastIndexAny(head[:end], clauseMarks)
		if i < 0 {
			return least
		}
		r, size := utf8.DecodeRuneInString(head[i:])
		if r >= utf8.RuneSelf || i+1 == len(head) || head[i+1] == ' ' {
			return least + i + size
		}
		end = i
	}
	return least
}

// clauseEnd returns the end of the clause that continues at text[at], after its mark.
func clauseEnd(text string, at int) int {
	for i, r := range text[at:] {
		if strings.ContainsRune(clauseMarks, r) {
			return at + i + utf8.RuneLen(r)
		}
	}
	return len(text)
}

// continues reports whether a sentence goes on after a quotation that ends with a mark of its own: "..." she said.
func continues(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	first, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(first)
}
