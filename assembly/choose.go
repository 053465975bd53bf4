package assembly

import "slices"

// plan is a context in progress.
type plan struct {
	words
	counter    Counter
	asMessages bool
	budget     int

	waiting Contents        // not offered yet, or too large when offered
	chosen  []pick          // in the order of choice
	shown   headings        // of the chosen items
	stated  map[string]bool // by Item.Statement
	spent   map[Part]*Spent
	repeats []pick // not chosen because another item states the same
}

// pick is a chosen item.
type pick struct {
	part Part
	Item
	cost int // with the headings that it needs
}

// choose fills a budget in two rounds. In the first, each part takes items within
// its share and what the parts before it have left. In the second, the rest is
// offered in the same order to the items that did not fit. Instructions and facts
// that do not fit are skipped; the first memory or event that does not fit ends
// its part, so that it has no gaps.
func choose(contents Contents, budget int, shares Shares, w words, counter Counter, asMessages bool) *plan {
	p := &plan{
		words: w, counter: counter, asMessages: asMessages, budget: budget,
		waiting: Contents{}, stated: map[string]bool{}, spent: map[Part]*Spent{},
	}
	left := budget
	if asMessages {
		left = max(0, left-counter.request())
	}
	split := shares.Split(left)
	for _, part := range Parts {
		p.waiting[part] = contents[part]
		p.spent[part] = &Spent{Part: part, Budget: split[part]}
	}
	left = 0
	for _, part := range Parts {
		left += split[part]
		left -= p.offer(part, left)
	}
	p.fill(left)
	return p
}

// fill offers the rest of the budget to all waiting items, in the order of the parts.
func (p *plan) fill(left int) {
	for _, part := range Parts {
		left -= p.offer(part, left)
	}
}

// offer chooses waiting items of a part within a room, and returns their cost less the cost of the memories that they
// replace.
func (p *plan) offer(part Part, room int) (used int) {
	var rest []Item
	full := room <= 0
	for _, item := range p.waiting[part] {
		if p.stated[item.Statement] || p.stated[item.HeldBy] {
			p.repeats = append(p.repeats, pick{part: part, Item: item})
			continue
		}
		if !full {
			if cost, fits := p.take(part, item, room-used); fits {
				used += cost
				continue
			}
			full = part == Memories || sectionOf(part, item) == inEvents
		}
		rest = append(rest, item)
	}
	p.waiting[part] = rest
	return used
}

// take chooses an item if it fits into a room. An event replaces the remembered
// messages that it holds. take returns the cost of the item less the cost of these messages.
func (p *plan) take(part Part, item Item, room int) (cost int, fits bool) {
	before := p.chosen
	held := func(c pick) bool { return item.Statement != "" && c.HeldBy == item.Statement }
	replaces := slices.ContainsFunc(before, held)
	if replaces {
		cost -= p.rechoose(slices.DeleteFunc(slices.Clone(before), held))
	}
	own := p.cost(part, item)
	if cost += own; cost > room {
		if replaces {
			p.rechoose(before)
		}
		return 0, false
	}
	p.add(part, item, own)
	if replaces {
		p.repeats = append(p.repeats, slices.DeleteFunc(before, func(c pick) bool { return !held(c) })...)
	}
	return cost, true
}

func (p *plan) add(part Part, item Item, cost int) {
	p.chosen = append(p.chosen, pick{part, item, cost})
	p.shown.add(sectionOf(part, item), item)
	p.spent[part].Used += cost
	p.spent[part].Items += max(1, len(item.condensed))
	for _, i := range append(slices.Clip(item.condensed), item) {
		if i.Statement != "" {
			p.stated[i.Statement] = true
		}
	}
}

// rechoose replaces the chosen items, and returns the room that this frees.
func (p *plan) rechoose(items []pick) (freed int) {
	for _, s := range p.spent {
		freed += s.Used
		s.Used, s.Items = 0, 0
	}
	p.chosen = make([]pick, 0, len(items)+1)
	p.shown = headings{}
	p.stated = map[string]bool{}
	for _, c := range items {
		cost := p.cost(c.part, c.Item)
		p.add(c.part, c.Item, cost)
		freed -= cost
	}
	return freed
}

// drop undoes the last choice.
func (p *plan) drop() {
	last := p.chosen[len(p.chosen)-1]
	p.rechoose(p.chosen[:len(p.chosen)-1])
	p.waiting[last.part] = slices.Insert(p.waiting[last.part], 0, last.Item)
}

// fit drops the last items until the whole is within the budget, since a whole may
// have more tokens than the sum of its pieces.
func (p *plan) fit() {
	for len(p.chosen) > 0 && p.size() > p.budget {
		p.drop()
	}
}

// account returns what each part used, and what was left out.
func (p *plan) account() (parts []Spent, left []LeftOut) {
	for _, part := range Parts {
		parts = append(parts, *p.spent[part])
		for _, item := range p.waiting[part] {
			left = append(left, LeftOut{Part: part, ID: item.ID, Reason: NoRoom})
		}
	}
	for _, s := range p.repeats {
		reason := AlreadyIncluded
		if !p.stated[s.Statement] && !p.stated[s.HeldBy] { // the item with the same statement was dropped
			reason = NoRoom
		}
		left = append(left, LeftOut{s.part, s.ID, reason})
	}
	return parts, left
}
