package assembly

import (
	"context"
	"slices"

	"hippocampus/reflection/compression"
)

// condense replaces the best memories of a plan, at most so many, by a model's
// text, if the Condenser wants it, in the budget that the items of other parts
// leave. The rest of the budget is offered again, to the other memories also. If
// that fails, the plan stays as it is, and why holds the reason.
func (s Service) condense(ctx context.Context, p *plan, most int, language string) (condensed bool, why string) {
	var memories []Item // best first
	rest := *p
	rest.chosen = nil
	for _, c := range p.chosen {
		if c.part == Memories {
			memories = append(memories, c.Item)
		} else {
			rest.chosen = append(rest.chosen, c)
		}
	}
	kept := len(memories)
	memories = append(memories, p.waiting[Memories]...)
	most = min(most, len(memories))
	memories, others := memories[:most], memories[most:]
	if !s.Condenser.ShouldCondense(most, kept >= most) {
		return false, ""
	}
	contents := make([]string, len(memories))
	for i, m := range memories {
		contents[i] = m.Text
	}
	with := func(text string) (plan, int) {
		q := rest
		q.chosen = append(slices.Clip(rest.chosen), pick{part: Memories, Item: Item{Text: text, condensed: true}})
		size := q.size()
		return q, size
	}
	_, headed := with("")
	room := compression.Room{Size: p.counter.unscaled(p.budget - headed), Tokens: p.counter.Encoding != ""}
	text, why := s.Condenser.Condense(ctx, contents, room, language)
	if why != "" {
		return false, why
	}
	condensedPlan, size := with(text)
	if size > p.budget {
		return false, "the text does not fit under its header"
	}
	p.chosen, p.waiting[Memories] = condensedPlan.chosen, others
	p.spent[Memories].Used, p.spent[Memories].Items = size-rest.size(), len(memories)
	p.fill(p.budget - size)
	p.fit()
	return true, ""
}
