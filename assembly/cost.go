package assembly

import (
	"slices"

	"hippocampus/internal/memory"
)

// size of the whole.
func (p *plan) size() int { return p.measure(p.write()) }

// measure is the size of a whole context.
func (p *plan) measure(prompt string, messages []Message) int {
	if !p.asMessages {
		return p.counter.Size(prompt)
	}
	size := 0
	for _, m := range messages {
		size += p.counter.Size(m.Content) + p.counter.message()
	}
	if size > 0 {
		size += p.counter.request()
	}
	return size
}

// headings are the headings that the chosen items need.
type headings struct {
	sections [sections]bool
	groups   [groups]bool    // of the memories in lists
	days     map[string]bool // of the remembered messages
}

func (h *headings) add(at section, item Item) {
	h.sections[at] = true
	switch {
	case at != inMemories || item.condensed != nil:
	case item.Group != messageGroup:
		h.groups[item.Group] = true
	case h.days == nil:
		h.days = map[string]bool{dayOf(item): true}
	default:
		h.days[dayOf(item)] = true
	}
}

// cost is the size that an item, with the headings that it needs, adds to the chosen items. The sum of all costs is the
// size of the whole in characters, and rarely less than its size in tokens.
func (p *plan) cost(part Part, item Item) int {
	at := sectionOf(part, item)
	if p.isMessage(at) {
		return p.counter.Size(messageOf(item).Content) + p.counter.message()
	}
	cost := p.counter.Size(p.textLine(at, item))
	switch {
	case !p.hasText(at): // the text ends without a line break, so one counted break is spare
		cost += p.counter.Size(p.headings[at])
		if p.asMessages {
			cost += p.counter.message()
		}
	case !p.shown.sections[at]:
		cost += p.counter.Size("\n") + p.counter.Size(p.headings[at]+"\n")
	}
	if at == inMemories && item.condensed == nil {
		cost += p.groupCost(item)
	}
	return cost
}

// groupCost is the cost of the headings that an item adds within the memories.
func (p *plan) groupCost(item Item) (cost int) {
	shown := p.shown.groups
	switch {
	case item.Group == messageGroup:
		if day := dayOf(item); !p.shown.days[day] {
			cost = p.counter.Size(day)
		}
	case !shown[item.Group] && slices.Contains(shown[:], true):
		cost = p.counter.Size(p.groups[item.Group] + "\n")
		if only := onlyOne(shown); only >= 0 {
			cost += p.counter.Size(p.groups[only] + "\n")
		}
	}
	return cost
}

// onlyOne is the only group that is shown; -1 if no group or several are shown.
func onlyOne(shown [groups]bool) int {
	only := slices.Index(shown[:], true)
	if only >= 0 && slices.Contains(shown[only+1:], true) {
		return -1
	}
	return only
}

// hasText reports whether the text that a section belongs to has any item.
func (p *plan) hasText(s section) bool {
	for other, shown := range p.shown.sections {
		if shown && p.roleOf(section(other)) == p.roleOf(s) && !p.isMessage(section(other)) {
			return true
		}
	}
	return false
}

// roleOf is the role of the message that holds a section; "" in a text.
func (p *plan) roleOf(s section) string {
	switch {
	case !p.asMessages:
		return ""
	case s == inInstructions:
		return systemRole
	}
	return memory.RoleUser
}

// isMessage reports whether each item of a section is a message.
func (p *plan) isMessage(s section) bool { return p.asMessages && s == inEvents }
