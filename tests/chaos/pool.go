package main

import "context"

// Pooled says whose a memory of the shared pool is.
type Pooled struct {
	ID       string `json:"id"`
	User     string `json:"user_id"`
	MemoryID string `json:"memory_id"` // the one that was copied
}

// contribute copies a memory to the pool. The copy is a separate object, of the memory's id.
func (w *writer) contribute(ctx context.Context, user string) {
	o := w.known(user, (*object).active)
	if o == nil {
		return
	}
	w.send(ctx, request{
		method: "POST", path: "/v1/pool", body: fields{"user_id": user, "memory_id": o.id}, repeatable: true,
		entries: []Entry{{User: user, Kind: Contribute, Object: "the copy of " + o.name, Of: o.id}},
	})
}

// pool checks that each acknowledged copy is in the pool once, with its contributor, and that no other memory is there.
func (c *checker) pool() {
	held, copies := map[string]Memory{}, map[string]int{}
	for _, m := range c.found.Copies {
		held[m.ID] = m
	}
	for _, p := range c.found.Pooled {
		m, lives := held[p.ID]
		if !lives {
			c.blame(nil, "an entry of the pool has no memory", p)
			continue
		}
		delete(held, p.ID)
		c.text(p.User, m.Content, m)
		if m.Status == "active" {
			copies[p.MemoryID]++
		}
	}
	for _, m := range held {
		c.blame(c.byText[word.FindString(m.Content)], "its copy has no contributor", m)
	}
	for _, o := range c.of(Contribute) {
		switch n := copies[o.of]; {
		case n > 1:
			c.blame(o, "doubled", n)
		case n == 1 && !o.possible[existing]:
			c.blame(o, "erased, and it lives", o.of)
		case n == 0 && !o.possible[""]:
			c.blame(o, "lost", "nothing")
		}
	}
}
