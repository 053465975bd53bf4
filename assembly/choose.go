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
	stated  map[string]bool // by Item.Statement
	spent   map[Part]*Spent
	repeats []pick // not chosen because their statement was included already
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

// offer chooses waiting items of a part within a room, and returns their cost.
func (p *plan) offer(part Part, room int) (used int) {
	var rest []Item
	full := room <= 0
	for _, item := range p.waiting[part] {
		if item.Statement != "" && p.stated[item.Statement] {
			p.repeats = append(p.repeats, pick{part: part, Item: item})
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
		p.stated[item.Statement] = true
	}
}

// drop undoes the last choice.
func (p *plan) drop() {
	last := p.chosen[len(p.chosen)-1]
	p.chosen = p.chosen[:len(p.chosen)-1]
	p.spent[last.part].Used -= last.cost
	p.spent[last.part].Items--
	delete(p.stated, last.Statement)
	p.waiting[last.part] = slices.Insert(p.waiting[last.part], 0, last.Item)
}

// fit drops the last items until the whole is within the budget, since a whole may
// have more tokens than the sum of its pieces.
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
		if !p.stated[s.Statement] { // the item with the same statement was dropped
			reason = NoRoom
		}
		left = append(left, LeftOut{s.part, s.ID, reason})
	}
	return parts, left
}

// cost is what an item adds to the chosen ones, with the headings that it needs.
// The sum of all costs is the size of the whole in characters, and rarely less
// than its size in tokens.
func (p *plan) cost(part Part, item Item) int {
	at := sectionOf(part, item)
	if p.isMessage(at) {
		return p.counter.Size(messageOf(item).Content) + p.counter.message()
	}
	first, sectionIsNew, grouped := true, true, false
	var shown [groups]bool
	for _, c := range p.chosen {
		s := sectionOf(c.part, c.Item)
		first = first && p.isMessage(s)
		sectionIsNew = sectionIsNew && s != at
		if s == inMemories && !c.condensed {
			grouped, shown[c.Group] = true, true
		}
	}
	cost := p.counter.Size(textLine(at, item))
	switch {
	case first: // the whole does not end with a line break, which makes up for one
		cost += p.counter.Size(p.headings[at])
		if p.asMessages {
			cost += p.counter.message()
		}
	case sectionIsNew:
		cost += p.counter.Size("\n") + p.counter.Size(p.headings[at]+"\n")
	}
	if at == inMemories && grouped && !shown[item.Group] {
		cost += p.counter.Size(p.groups[item.Group] + "\n")
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

// isMessage reports whether each item of a section is a message.
func (p *plan) isMessage(s section) bool { return p.asMessages && s == inEvents }
