package assembly

import (
	"context"
	"slices"

	"hippocampus/reflection/compression"
)

// condense has a model say the memories, where that is wanted, in what the rest
// of a chosen context leaves of the budget, and puts that in their place; what
// is left then goes to what had no room. Where that fails the plan stays as it
// is, and why says why.
func (s Service) condense(ctx context.Context, p *plan, language string) (condensed bool, why string) {
	var memories []Item
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
	if !s.Condenser.ShouldCondense(len(memories), kept == len(memories)) {
		return false, ""
	}
	contents := make([]string, len(memories))
	for i, m := range memories {
		contents[i] = m.Text
	}
	with := func(text string) (plan, int) {
		q := rest
		q.chosen = append(slices.Clip(rest.chosen), pick{part: Memories, Item: Item{Text: text, whole: true}})
		return q, q.size()
	}
	_, headed := with("")
	room := compression.Room{Size: p.counter.unscaled(p.budget - headed), Tokens: p.counter.Encoding != ""}
	text, why := s.Condenser.Condense(ctx, contents, room, language)
	if why != "" {
		return false, why
	}
	said, size := with(text)
	if size > p.budget {
		return false, "the text does not fit under its header"
	}
	p.chosen, p.waiting[Memories] = said.chosen, nil
	p.spent[Memories].Used, p.spent[Memories].Items = size-rest.size(), len(memories)
	p.fill(p.budget - size)
	p.fit()
	return true, ""
}
