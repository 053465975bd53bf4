package assembly

import (
	"slices"
	"strings"
)

// write is the context as a text, or as messages: one of the system, with all
// that was not said in the conversation, and one for each event.
func (p *plan) write() (prompt string, messages []Message) {
	var of [sections][]Item
	for _, c := range p.chosen {
		at := sectionOf(c.part, c.Item)
		of[at] = append(of[at], c.Item)
	}
	slices.Reverse(of[inEvents]) // the latest was chosen first
	var b strings.Builder
	for s, items := range of {
		at := section(s)
		if len(items) == 0 || p.isMessage(at) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.headings[at] + "\n")
		if at == inMemories {
			p.writeGroups(&b, items)
			continue
		}
		for _, item := range items {
			b.WriteString(line(at, item))
		}
	}
	prompt = strings.TrimSuffix(b.String(), "\n")
	if !p.asMessages {
		return prompt, nil
	}
	messages = []Message{}
	if prompt != "" {
		messages = append(messages, Message{"system", prompt})
	}
	for _, item := range of[inEvents] {
		messages = append(messages, messageOf(item))
	}
	return "", messages
}

// writeGroups writes memories by their groups, which have headings where there
// are several.
func (p *plan) writeGroups(b *strings.Builder, items []Item) {
	var by [groups][]Item
	var shown [groups]bool
	for _, item := range items {
		by[item.Group] = append(by[item.Group], item)
		shown[item.Group] = true
	}
	headed := onlyOne(shown) < 0
	for g, items := range by {
		if headed && len(items) > 0 {
			b.WriteString(p.groups[g] + "\n")
		}
		for _, item := range items {
			b.WriteString(line(inMemories, item))
		}
	}
}

// line is an item in a text. What users say has no line of its own making: a
// fact or memory is one line, and the further lines of an event are set in.
func line(at section, item Item) string {
	switch {
	case at == inFacts, at == inMemories && !item.whole:
		return "- " + oneLine(item.Text) + "\n"
	case at == inEvents:
		return oneLine(item.Who) + ": " + strings.Join(lines(item.Text), "\n  ") + "\n"
	}
	return item.Text + "\n"
}

// messageOf is an event as a message.
func messageOf(item Item) Message { return Message{item.Role, item.Mark + item.Text} }

// lines are those of a text, however they are broken, without empty ones.
func lines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r >= '\n' && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
	})
}

// oneLine puts a space in the place of every run of line breaks.
func oneLine(s string) string { return strings.Join(lines(s), " ") }
