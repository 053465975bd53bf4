package assembly

import (
	"context"
	"slices"
	"strings"

	"hippocampus/reflection/compression"
)

// condense replaces the best memories of a plan, at most so many, by a model's text, if the Condenser decides to. The
// text may take the budget that the items of other parts leave. The rest of the budget is offered again, to the other
// memories also. If condensing fails, the plan stays as it is, and why holds the reason.
func (s Service) condense(ctx context.Context, p *plan, most int, language string) (condensed bool, why string) {
	var memories []Item // best first
	var others []pick   // items of other parts
	for _, c := range p.chosen {
		if c.part == Memories {
			memories = append(memories, c.Item)
		} else {
			others = append(others, c)
		}
	}
	kept := len(memories)
	memories = append(memories, p.waiting[Memories]...)
	most = min(most, len(memories))
	memories, further := memories[:most], memories[most:]
	if !s.Condenser.ShouldCondense(most, kept >= most) {
		return false, ""
	}
	lines := make([]compression.Line, len(memories))
	for i, m := range memories {
		lines[i] = compression.Line{Said: m.At, Text: m.Text + p.mark(m)}
		if m.Group == messageGroup {
			lines[i].Text = strings.TrimSpace(strings.ReplaceAll(p.textLine(inMemories, m), "\n", " "))
		}
	}
	before := p.chosen
	with := func(text string) (size int) {
		p.rechoose(append(slices.Clip(others), pick{part: Memories, Item: Item{Text: text, condensed: memories}}))
		return p.size()
	}
	room := compression.Room{Size: p.counter.unscaled(p.budget - with("")), Tokens: p.counter.Encoding != ""}
	text, why := s.Condenser.Condense(ctx, lines, room, language)
	size := 0
	if why == "" {
		if size = with(text); size > p.budget {
			why = "the text does not fit under its header"
		}
	}
	if why != "" {
		p.rechoose(before)
		return false, why
	}
	p.waiting[Memories] = further
	p.fill(p.budget - size)
	p.fit()
	return true, ""
}
