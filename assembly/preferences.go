package assembly

import (
	"slices"

	"hippocampus/conversation/session"
	"hippocampus/internal/lang/asked"
	"hippocampus/internal/memory"
	"hippocampus/recall"
)

// MaxPreferences is how many preferences of the user a context has at most.
const MaxPreferences = 15

// preferencesShare is the most that preferences take of a budget. They take it of what all other items leave.
const preferencesShare = 0.15

// preferenceItems are what the user prefers, whatever was asked. What the request's Present, a recalled message or an
// event of the conversation says already is left out.
func (g *gathered) preferenceItems(r *Request, events []session.Event) (items []Item) {
	wantsDays := asked.WantsDays(r.Query.Text)
	for _, m := range g.answer.Preferences {
		said := func(text string) bool { return holds(text, m.Content) }
		isSaid := slices.ContainsFunc(r.Present, said)
		for _, other := range g.answer.Memories {
			isSaid = isSaid || other.Memory.SourceTurnID == m.SourceTurnID && said(other.Memory.Content)
		}
		for _, e := range events {
			isSaid = isSaid || e.TurnID == m.SourceTurnID && said(e.Content)
		}
		if isSaid {
			continue
		}
		item := memoryItem(recall.Recalled{Memory: m}, nil, false)
		item.At, item.Again = item.At.In(r.Query.Zone), item.Again.In(r.Query.Zone)
		item.Dated = needsDate(m, item.At, wantsDays)
		items = append(items, item)
	}
	return items
}

// finish adds preferences to a plan that fits its budget, and returns the context and its size.
func (p *plan) finish(preferences []Item) (prompt string, messages []Message, size int) {
	p.addPreferences(preferences)
	prompt, messages = p.write()
	if size = p.measure(prompt, messages); size > p.budget {
		p.fit()
		prompt, messages = p.write()
		size = p.measure(prompt, messages)
	}
	return prompt, messages, size
}

// addPreferences chooses the first preferences that fit into what the plan leaves of its budget.
func (p *plan) addPreferences(items []Item) {
	left := p.budget
	for _, s := range p.spent {
		left -= s.Used
	}
	room := min(left, int(preferencesShare*float64(p.budget)))
	for _, item := range items {
		if p.stated[item.Statement] {
			continue
		}
		cost, fits := p.take(Memories, item, room)
		if !fits {
			break
		}
		room -= cost
	}
}

// included returns the memories whose items the plan has.
func (p *plan) included(list []memory.Memory) (included []memory.Memory) {
	for _, m := range list {
		if slices.ContainsFunc(p.chosen, func(c pick) bool { return c.part == Memories && c.ID == m.ID }) {
			included = append(included, m)
		}
	}
	return included
}
