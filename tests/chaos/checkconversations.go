package main

import (
	"fmt"
	"slices"
)

// conversations checks that deleted conversations are gone, ended ones have ended, and each
// has its turns.
func (c *checker) conversations() {
	found := map[string]Conversation{}
	for _, t := range c.found.Conversations {
		found[t.ID] = t
	}
	least, most := map[string]int{}, map[string]int{}
	for _, o := range c.of(PostTurn) {
		if o.is(existing) {
			least[o.of]++
		}
		if o.possible[existing] {
			most[o.of]++
		}
	}
	for _, o := range c.of(conversationIs) {
		conversation, lives := found[o.name]
		switch {
		case !lives && !o.possible[""]:
			c.blame(o, "lost", "nothing")
		case lives && o.is(""):
			c.blame(o, "deleted, and it lives", conversation)
		case lives && o.is(ended) && conversation.Ended == "":
			c.blame(o, "not ended", conversation)
		case lives && (conversation.Turns < least[o.name] || conversation.Turns > most[o.name]):
			c.blame(o, fmt.Sprintf("%d turns, want %d to %d", conversation.Turns, least[o.name], most[o.name]), conversation)
		}
	}
}

// vectors checks that the vector store holds exactly the active memories, and that
// verification agrees.
func (c *checker) vectors() {
	active, stored := map[string]Memory{}, map[string]Vector{}
	for _, m := range slices.Concat(c.found.Memories, c.found.Copies) {
		if m.Status == "active" {
			active[m.ID] = m
		}
	}
	for _, v := range c.found.Vectors {
		m, lives := active[v.ID]
		if _, twice := stored[v.ID]; twice {
			c.blame(c.byText[word.FindString(m.Content)], "its vector is doubled", v)
		}
		stored[v.ID] = v
		switch {
		case !lives:
			c.blame(c.ofID(v.ID), "a vector lives whose memory is not active", v)
		case v.User != m.User:
			c.blame(c.ofID(v.ID), "its vector is another user's", v)
		}
	}
	for id, m := range active {
		if _, has := stored[id]; !has {
			c.blame(c.byText[word.FindString(m.Content)], "its vector is lost", m)
		}
	}
	for what, n := range c.found.Drift {
		if n != 0 {
			c.blame(nil, "verification reports drift", fmt.Sprintf("%d %s", n, what))
		}
	}
}

// ofID returns the object with a memory's id; nil if the ledger does not have the id.
func (c *checker) ofID(id string) *object {
	for _, o := range c.objects {
		if o.id == id {
			return o
		}
	}
	return nil
}

// CheckSeen returns what is wrong with memories that a recall of a user has returned.
func CheckSeen(x *Expectation, recall Entry, seen []Memory) (violations []Violation) {
	for _, m := range seen {
		c := &checker{Expectation: x}
		if m.User != recall.User {
			c.blame(nil, "another user's data: "+recall.User+" recalls a memory of "+m.User, m)
		}
		c.text(recall.User, m.Content, m)
		for _, tag := range m.Tags {
			if o := x.objects[tag]; o != nil && o.forgotten() {
				c.blame(o, "forgotten, and it is recalled", m)
			}
		}
		violations = append(violations, c.violations...)
	}
	for i := range violations {
		if violations[i].Entry.N == 0 {
			violations[i].Entry = recall
		}
	}
	return violations
}

// CheckRead returns what is wrong with a memory that a read has returned.
func CheckRead(x *Expectation, read Entry, m Memory) []Violation {
	c := &checker{Expectation: x}
	o := x.objects[read.Object]
	if o == nil || !o.certain() {
		return nil
	}
	if !o.possible[m.value()] || m.User != o.user {
		c.blame(o, "a read shows another value", m)
	}
	return c.violations
}
