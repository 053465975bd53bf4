package scorer

import (
	"context"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/scorer/voice"
)

// reader reads the messages of one turn by rules.
type reader struct {
	ctx    context.Context
	room   int             // characters that may still be read
	seen   map[string]bool // contents of facts
	facts  []Fact          // at most MaxFacts
	others []Fact          // of another voice
}

// isDone reports whether no more is read.
func (r *reader) isDone() bool { return r.room <= 0 || len(r.facts) == MaxFacts }

// readMessage reads the spans of a message that are the user's own, and records the others.
func (r *reader) readMessage(content string) error {
	for _, span := range voice.Spans(firstRunes(content, r.room)) {
		if r.isDone() {
			return nil
		}
		if span.Kind != voice.Own {
			r.room -= utf8.RuneCountInString(span.Text)
			r.record(span)
			continue
		}
		for _, sentence := range sentences(span.Text) {
			if err := r.readSentence(sentence); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxOtherRunes bounds the excerpt of a span of another voice, maxOthers their number in a turn.
const (
	maxOtherRunes = 200
	maxOthers     = 10
)

// record keeps an excerpt of a span of another voice.
func (r *reader) record(span voice.Span) {
	text := strings.TrimSpace(firstRunes(strings.TrimSpace(span.Text), maxOtherRunes))
	if len(r.others) == maxOthers || r.seen[text] || memory.CheckContent(text, memory.MaxContentRunes) != "" {
		return
	}
	r.seen[text] = true
	r.others = append(r.others, Fact{Content: text, Domain: memory.GeneralChat, Type: aRemark, Voice: span.Kind})
}

// readSentence adds the facts of a sentence.
func (r *reader) readSentence(sentence string) error {
	length := utf8.RuneCountInString(sentence)
	if r.room -= length; r.room < 0 || length > maxSentenceRunes {
		return nil
	}
	if err := r.ctx.Err(); err != nil {
		return memory.Errorf(memory.KindUnavailable, "score a turn by rules: %w", err)
	}
	for _, fact := range read(sentence) {
		if !r.seen[fact.Content] && len(r.facts) < MaxFacts {
			r.seen[fact.Content] = true
			r.facts = append(r.facts, fact)
		}
	}
	return nil
}

// firstRunes returns the first characters of a text, at most limit.
func firstRunes(text string, limit int) string {
	for i := range text {
		if limit == 0 {
			return text[:i]
		}
		limit--
	}
	return text
}
