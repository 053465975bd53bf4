package assembly

import "slices"

// plan is a context in the making: what is chosen so far.
type plan struct {
	words
	counter    Counter
	asMessages bool
	budget     int

	waiting Contents // not offered yet, or too large when they were
	chosen  []pick   // in the order in which they were
	told    map[string]bool
	spent   map[Part]*Spent
	same    []pick // not chosen, since another item had told the same
}

// pick is an item that was chosen.
type pick struct {
	part Part
	Item
	cost int // with the headings that came with it
}

// choose fills a budget in two rounds. In the first the parts take in their
// order, each within its share and what those before have left. In the second
// what is left over is offered in the same order to what did not fit. Of
// instructions and facts one that does not fit is passed over; of memories and
// events it ends the part, which has no gap so.
func choose(contents Contents, budget int, shares Shares, w words, counter Counter, asMessages bool) *plan {
	p := &plan{words: w, counter: counter, asMessages: asMessages, budget: budget, waiting: Contents{}, told: map[string]bool{}, spent: map[Part]*Spent{}}
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

// fill offers what is left of the budget to all that waits, in the order of the parts.
func (p *plan) fill(left int) {
	for _, part := range Parts {
		left -= p.offer(part, left)
	}
}

// offer has a part take what it can of its waiting items within a room, and
// returns how much of that they took.
func (p *plan) offer(part Part, room int) (used int) {
	var rest []Item
	full := room <= 0
	for _, item := range p.waiting[part] {
		if item.Statement != "" && p.told[item.Statement] {
			p.same = append(p.same, pick{part: part, Item: item})
			continue
		}
		if !full {
			if cost := p.cost(part, item); used+cost <= room {
				p.add(part, item, cost)
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

func (p *plan) add(part Part, item Item, cost int) {
	p.chosen = append(p.chosen, pick{part, item, cost})
	p.spent[part].Used += cost
	p.spent[part].Items++
	if item.Statement != "" {
		p.told[item.Statement] = true
	}
}

// drop takes back what was chosen last.
func (p *plan) drop() {
	last := p.chosen[len(p.chosen)-1]
	p.chosen = p.chosen[:len(p.chosen)-1]
	p.spent[last.part].Used -= last.cost
	p.spent[last.part].Items--
	delete(p.told, last.Statement)
	p.waiting[last.part] = slices.Insert(p.waiting[last.part], 0, last.Item)
}

// fit drops what was chosen last until the whole is within the budget, for two
// pieces may have more tokens together than one by one.
func (p *plan) fit() {
	for len(p.chosen) > 0 && p.size() > p.budget {
		p.drop()
	}
}

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

// account tells what each part took, and what has no place.
func (p *plan) account() (parts []Spent, left []LeftOut) {
	for _, part := range Parts {
		parts = append(parts, *p.spent[part])
		for _, item := range p.waiting[part] {
			left = append(left, LeftOut{part, item.ID, NoRoom})
		}
	}
	for _, s := range p.same {
		reason := AlreadyIncluded
		if !p.told[s.Statement] { // what had told it was taken back
			reason = NoRoom
		}
		left = append(left, LeftOut{s.part, s.ID, reason})
	}
	return parts, left
}

// cost is what an item adds to what is chosen so far, with the headings that
// come with it. All costs together are the size of the whole in characters, and
// hardly ever less than it in tokens.
func (p *plan) cost(part Part, item Item) int {
	at := sectionOf(part, item)
	if p.isMessage(at) {
		return p.counter.Size(messageOf(item).Content) + p.counter.message()
	}
	first, sectionIsNew := true, true
	var shown [groups]bool
	for _, c := range p.chosen {
		s := sectionOf(c.part, c.Item)
		first = first && p.isMessage(s)
		sectionIsNew = sectionIsNew && s != at
		if s == inMemories {
			shown[c.Group] = true
		}
	}
	cost := p.counter.Size(line(at, item))
	switch {
	case first: // its line break is the one that the whole does not end with
		cost += p.counter.Size(p.headings[at])
		if p.asMessages {
			cost += p.counter.message()
		}
	case sectionIsNew:
		cost += p.counter.Size("\n") + p.counter.Size(p.headings[at]+"\n")
	}
	if at == inMemories && !sectionIsNew && !shown[item.Group] {
		cost += p.counter.Size(p.groups[item.Group] + "\n")
		if only := onlyOne(shown); only >= 0 {
			cost += p.counter.Size(p.groups[only] + "\n")
		}
	}
	return cost
}

// onlyOne is the group that alone is shown; -1: none, or several are.
func onlyOne(shown [groups]bool) int {
	only := slices.Index(shown[:], true)
	if only >= 0 && slices.Contains(shown[only+1:], true) {
		return -1
	}
	return only
}

// isMessage reports whether what stands in a section is a message each.
func (p *plan) isMessage(s section) bool { return p.asMessages && s == inEvents }
