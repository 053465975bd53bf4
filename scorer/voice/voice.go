// Package voice divides a user's message into the user's own words and those of another voice, by their form:
//
//	text -> lines of mails, chats, logs, code, quoted lines, documents to work on -> spans with their kinds
//	     -> in the user's own lines: quoted speech with the clause that reports it
//
// It knows the forms of English and Chinese. It takes time in proportion to the length of the text.
package voice

import (
	"strings"
	"unicode"

	"hippocampus/internal/lazyregexp"
)

// Kind names whose words a span holds, for people.
type Kind string

// The kinds of spans.
const (
	Own      Kind = ""
	Quote    Kind = "a quote"
	Mail     Kind = "a mail"
	Chat     Kind = "a chat"
	Code     Kind = "code"
	Log      Kind = "a log"
	Document Kind = "a document"
)

// Span is a part of a text. Adjacent spans differ in their kind; blank text belongs to the span before it.
type Span struct {
	Text string // not empty
	Kind Kind
}

// Spans divides a text. The spans, joined, are the text.
func Spans(text string) []Span {
	lines := linesOf(text)
	for _, stage := range []func([]line){
		markFences, markQuotedLines, markMails, markChats, markLogs, markCode, markDocuments,
	} {
		stage(lines)
	}
	var spans []Span
	start, end := 0, 0 // of the last span
	add := func(s Span) {
		length := len(s.Text)
		isBlank := strings.TrimSpace(s.Text) == ""
		if len(spans) == 0 || spans[len(spans)-1].Kind != s.Kind && !isBlank {
			spans = append(spans, Span{Kind: s.Kind})
			start = end
		}
		end += length
		spans[len(spans)-1].Text = text[start:end]
	}
	for _, l := range lines {
		if l.kind != Own {
			add(Span{l.text, l.kind})
			continue
		}
		for _, s := range withinLine(l.text) {
			add(s)
		}
	}
	return withLeads(spans)
}

// lead matches the last sentence of a text if it introduces what follows.
var lead = lazyregexp.New(`[^.!?。！？\n]*[:：]\s*$`)

// withLeads gives a sentence of the user's own that introduces another voice ("She sent me this:") the kind of that
// voice.
func withLeads(spans []Span) (led []Span) {
	for i, s := range spans {
		if s.Kind != Own || i+1 == len(spans) || !strings.HasSuffix(s.Text, "\n") {
			led = append(led, s)
			continue
		}
		at := len(s.Text)
		if found := lead.FindStringIndex(s.Text); len(found) > 0 && !noSentence(s.Text[found[0]:]) {
			at = found[0]
		}
		if at > 0 {
			led = append(led, Span{s.Text[:at], Own})
		}
		spans[i+1].Text = s.Text[at:] + spans[i+1].Text
	}
	return led
}

// noSentence reports whether a text has no letters.
func noSentence(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) < 0 }

// OwnLines returns the lines of a text, with a blank line for each line of a mail, a chat, a log, code or a quote. It
// takes less time than Spans, which looks into the lines.
func OwnLines(text string) []string {
	lines := linesOf(text)
	for _, stage := range []func([]line){markFences, markQuotedLines, markMails, markChats, markLogs, markCode} {
		stage(lines)
	}
	own := make([]string, len(lines))
	for i, l := range lines {
		own[i] = "\n"
		if l.kind == Own {
			own[i] = l.text
		}
	}
	return own
}

// line is one line of a text, with its line end.
type line struct {
	text string
	kind Kind
}

func linesOf(text string) (lines []line) {
	for l := range strings.Lines(text) {
		lines = append(lines, line{text: l})
	}
	return lines
}

func (l line) isBlank() bool { return strings.TrimSpace(l.text) == "" }

// content returns the text without spaces at its end.
func (l line) content() string { return strings.TrimRight(l.text, " \t\r\n") }

// trimmed returns the text without spaces around it.
func (l line) trimmed() string { return strings.TrimSpace(l.text) }

// isOwn reports whether a line has words, and no mark of another voice so far.
func (l line) isOwn() bool { return l.kind == Own && !l.isBlank() }

// isIndented reports whether a line is indented like a line of a code block.
func (l line) isIndented() bool {
	return strings.HasPrefix(l.text, "\t") || strings.HasPrefix(l.text, "  ") || strings.HasPrefix(l.text, " \t")
}

// hasOwn reports whether any of these lines has words of the user's own.
func hasOwn(lines []line) bool {
	for _, l := range lines {
		if l.isOwn() {
			return true
		}
	}
	return false
}

// mark gives a kind to the lines that are still the user's own.
func mark(lines []line, kind Kind) {
	for i := range lines {
		if lines[i].kind == Own {
			lines[i].kind = kind
		}
	}
}

// markFences marks fenced code. A fence that nothing closes lasts to the end.
func markFences(lines []line) {
	fence := ""
	for i := range lines {
		start := lines[i].trimmed()
		start = start[:min(3, len(start))]
		isFence := start == "```" || start == "~~~"
		if isFence || fence != "" {
			lines[i].kind = Code
		}
		switch {
		case isFence && fence == "":
			fence = start
		case start == fence:
			fence = ""
		}
	}
}

// markQuotedLines marks lines that begin with ">".
func markQuotedLines(lines []line) {
	for i := range lines {
		if lines[i].kind == Own && strings.HasPrefix(lines[i].trimmed(), ">") {
			lines[i].kind = Quote
		}
	}
}

// fill marks own lines between two lines of a kind in one paragraph, and indented lines that follow one.
func fill(lines []line, kind Kind) {
	last := -1 // the last line of the kind in this paragraph
	for i, l := range lines {
		switch {
		case l.isBlank():
			last = -1
		case l.kind == kind, last >= 0 && last == i-1 && l.isIndented():
			if last >= 0 {
				mark(lines[last:i], kind)
			}
			lines[i].kind = kind
			last = i
		}
	}
}
