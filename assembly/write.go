package assembly

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/memory"
)

// write returns the context as a text, or as messages: a system message with the
// instructions, a message of the user with what is remembered, and one for each event.
func (p *plan) write() (prompt string, messages []Message) {
	var bySection [sections][]Item
	for _, c := range p.chosen {
		at := sectionOf(c.part, c.Item)
		bySection[at] = append(bySection[at], c.Item)
	}
	slices.Reverse(bySection[inEvents])   // the latest was chosen first
	texts := map[string]*strings.Builder{ // by roleOf
		"": {}, systemRole: {}, memory.RoleUser: {},
	}
	for s, items := range bySection {
		at := section(s)
		if len(items) == 0 || p.isMessage(at) {
			continue
		}
		b := texts[p.roleOf(at)]
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.headings[at] + "\n")
		if at == inMemories {
			p.writeMemories(b, items)
			continue
		}
		for _, item := range items {
			b.WriteString(p.textLine(at, item))
		}
	}
	if !p.asMessages {
		return strings.TrimSuffix(texts[""].String(), "\n"), nil
	}
	messages = []Message{}
	for _, role := range []string{systemRole, memory.RoleUser} {
		if text := texts[role].String(); text != "" {
			messages = append(messages, Message{Role: role, Content: strings.TrimSuffix(text, "\n")})
		}
	}
	for _, item := range bySection[inEvents] {
		messages = append(messages, messageOf(item))
	}
	return "", messages
}

// writeMemories writes the condensed memories, the others by group, with headings if
// there are several groups, and the remembered messages by day.
func (p *plan) writeMemories(b *strings.Builder, items []Item) {
	var by [groups][]Item
	for _, item := range items {
		if item.condensed != nil {
			b.WriteString(p.textLine(inMemories, item))
			continue
		}
		by[item.Group] = append(by[item.Group], item)
	}
	headed := onlyOne(p.shown.groups) < 0
	for g, items := range by[:messageGroup] {
		if headed && len(items) > 0 {
			b.WriteString(p.groups[g] + "\n")
		}
		for _, item := range items {
			b.WriteString(p.textLine(inMemories, item))
		}
	}
	said := by[messageGroup]
	slices.SortStableFunc(said, inOrder)
	for i, item := range said {
		if day := dayOf(item); i == 0 || day != dayOf(said[i-1]) {
			b.WriteString(day)
		}
		b.WriteString(p.textLine(inMemories, item))
	}
}

// dayOf is the heading of the day on which a remembered message was said, in the zone of the query.
func dayOf(item Item) string { return item.At.Format(time.DateOnly) + ":\n" }

// textLine is an item in a text. Remembered contents cannot imitate lines of the context:
// a fact or memory is one line that begins with a dash, each line of a summary begins with a dash, and further lines of
// an event or message are indented.
func (w words) textLine(at section, item Item) string {
	switch {
	case at == inInstructions:
		return item.Text + "\n"
	case at == inSummary:
		return dashed(item.Text)
	case at == inEvents, item.Group == messageGroup:
		who := oneLine(item.Who)
		if item.Asked != "" {
			who += fmt.Sprintf(w.asked, oneLine(item.Asked))
		}
		return who + ": " + strings.Join(lines(item.Text), "\n  ") + w.mark(item) + "\n"
	}
	mark := w.mark(item)
	if at == inFacts && item.Dated {
		mark = fmt.Sprintf(w.since, item.At.Format(time.DateOnly))
	}
	return "- " + oneLine(item.Text) + mark + "\n"
}

// dashed puts a dash before each line that begins without a dash.
func dashed(s string) string {
	var b strings.Builder
	for _, line := range lines(s) {
		b.WriteString("- " + strings.TrimPrefix(line, "- ") + "\n")
	}
	return b.String()
}

// messageOf is an event as a message.
func messageOf(item Item) Message { return Message{Role: item.Role, Content: item.Mark + item.Text} }

// lines splits a text at any line break, without blank lines.
func lines(s string) []string {
	all := strings.FieldsFunc(s, func(r rune) bool {
		return r >= '\n' && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
	})
	return slices.DeleteFunc(all, func(line string) bool { return strings.TrimSpace(line) == "" })
}

// oneLine replaces every run of line breaks by a space.
func oneLine(s string) string { return strings.Join(lines(s), " ") }
