package assembly

import (
	"cmp"
	"slices"
)

// unquote removes the quoted question from each chosen message that follows the message with the question, and offers
// the freed room to other items.
func (p *plan) unquote() {
	chosen := slices.Clone(p.chosen)
	var said []*Item
	for i := range chosen {
		if c := &chosen[i]; c.part == Memories && c.Group == messageGroup {
			said = append(said, &c.Item)
		}
	}
	slices.SortStableFunc(said, func(a, b *Item) int { return inOrder(*a, *b) })
	unquoted := false
	for i := 1; i < len(said); i++ {
		if said[i].Asked != "" && holds(said[i-1].Text, said[i].Asked) {
			said[i].Asked, unquoted = "", true
		}
	}
	if !unquoted {
		return
	}
	p.rechoose(chosen)
	p.fill(p.budget - p.size())
	p.fit()
}

// inOrder orders remembered messages as they were said.
func inOrder(a, b Item) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) }
