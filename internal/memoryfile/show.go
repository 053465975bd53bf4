package memoryfile

import (
	"cmp"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// The comments of conflicts.
const (
	bothChanged = "<!-- conflict: both sides changed this memory; the server's text is above, the file's below -->"
	forgotten   = "<!-- conflict: the file changed this memory, which the server forgot; the file's text is below -->"
)

// Show makes the file show these memories of a user, and of an agent if one is given. It removes bullets of other
// memories, but not bullets without an id.
func (d *Document) Show(user, agent string, present []Memory) {
	byID := map[string]Memory{}
	for _, m := range present {
		byID[m.ID] = m
	}
	shown := map[string]bool{}
	var kept []*part
	var moved []*part
	keep := func(p *part) {
		b := p.bullet
		m, exists := byID[b.ID]
		switch {
		case b.ID == "":
			kept = append(kept, p)
			return
		case !exists || shown[b.ID]:
			return
		}
		shown[b.ID] = true
		if b.Text == canonical(m.Content) {
			p.raw = marked(p.raw, m)
		} else {
			p.raw = bulletOf(m, d.eol)
		}
		if p.section != "" && p.section != m.Type {
			p.section = m.Type
			moved = append(moved, p)
			return
		}
		kept = append(kept, p)
	}
	for _, p := range d.parts {
		b := p.bullet
		switch {
		case b == nil:
			kept = append(kept, p)
			continue
		case b.surplus:
			continue
		}
		if b.conflict {
			why := forgotten
			if rival, exists := byID[b.rival]; exists && !shown[b.rival] {
				why = bothChanged
				keep(&part{section: p.section, bullet: &Bullet{ID: rival.ID}})
			}
			kept = append(kept, &part{raw: why + d.eol, section: p.section})
		}
		keep(p)
	}
	d.parts = kept
	for _, p := range moved {
		d.insert(p)
	}
	inOrder := func(a, b Memory) int { return cmp.Compare(tagOf(a.ID), tagOf(b.ID)) } // instructions first
	for _, m := range slices.SortedFunc(slices.Values(present), inOrder) {
		if !shown[m.ID] {
			d.insert(&part{raw: bulletOf(m, d.eol), section: m.Type, bullet: &Bullet{ID: m.ID}})
		}
	}
	d.front.set(d.form, user, agent, RevisionOf(present), d.eol)
}

// insert puts a bullet at the end of its section, which is added to the file's end if the file has no such section.
func (d *Document) insert(p *part) {
	at := slices.IndexFunc(d.parts, func(q *part) bool { return q.heading && q.section == p.section })
	if at < 0 {
		d.addSection(p.section)
		at = len(d.parts) - 1
	}
	last, bullet := at, false
	for i := at + 1; i < len(d.parts) && d.parts[i].section == p.section; i++ {
		switch q := d.parts[i]; {
		case q.bullet != nil:
			last, bullet = i, true
		case !bullet && strings.TrimSpace(q.raw) != "":
			last = i
		}
	}
	added := []*part{p}
	if !bullet {
		added = []*part{{raw: d.eol, section: p.section}, p}
	}
	d.parts = slices.Insert(d.parts, last+1, added...)
}

// addSection adds a heading to the end of the file.
func (d *Document) addSection(kind memory.Type) {
	if n := len(d.parts); n == 0 || strings.TrimSpace(d.parts[n-1].raw) != "" {
		d.parts = append(d.parts, &part{raw: d.eol})
	}
	for _, s := range d.form.sections {
		if s.kind == kind {
			d.parts = append(d.parts, &part{raw: "# " + s.heading + d.eol, section: kind, heading: true})
		}
	}
}
