package memoryfile

import (
	"maps"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// Plan is the list of changes by which the memories become those of a file.
type Plan struct {
	Add     []*Bullet // their texts become memories of their types
	Change  []Change
	Forget  []string // ids
	Missing []string // ids of memories that the file does not show and that are not forgotten
	// Stale says that the memories changed after the file was written, so that the missing memories may be newer than the
	// file.
	Stale bool
}

// Change changes a memory. Nil: it stays.
type Change struct {
	Bullet *Bullet
	Text   *string
	Type   *memory.Type
}

// FreeForget is the number of memories that a file may always drop. It may drop more of them, but at most a fifth of
// all.
const FreeForget = 3

// Merge compares the file with the present memories and plans what to do. A change of one side is taken over. If both
// sides changed a memory, the file's text becomes a memory of its own. Memories that the file does not show are
// forgotten if the present memories are those that the file was written with, and if they are few or the removal is
// confirmed. Add and Change hold bullets of the document, whose ids the caller sets as it executes the plan.
func (d *Document) Merge(present []Memory, confirmed bool) Plan {
	m := merging{fallback: d.form.fallback, present: map[string]Memory{}, claimed: map[string]bool{}}
	for _, p := range present {
		m.present[p.ID] = p
	}
	bullets := d.bullets()
	for _, p := range bullets {
		m.compare(p)
	}
	for _, p := range bullets {
		m.add(p)
	}
	for _, id := range slices.Sorted(maps.Keys(m.present)) {
		if !m.claimed[id] {
			m.plan.Missing = append(m.plan.Missing, id)
		}
	}
	m.plan.Stale = d.Revision != RevisionOf(present)
	few := max(FreeForget, len(present)/5)
	if !m.plan.Stale && (confirmed || len(m.plan.Missing) <= few) {
		m.plan.Forget, m.plan.Missing = m.plan.Missing, nil
	}
	return m.plan
}

type merging struct {
	plan     Plan
	fallback memory.Type // of a bullet in no section
	present  map[string]Memory
	claimed  map[string]bool // the ids that a bullet has
}

// compare compares a bullet that has an id with its memory.
func (m *merging) compare(p *part) {
	b := p.bullet
	if b.ID == "" {
		return
	}
	now, exists := m.present[b.ID]
	hash, kind, _ := strings.Cut(b.rev, ".")
	same := exists && canonical(now.Content) == b.Text
	edited := !strings.HasPrefix(revOf("", b.Text), hash+".")
	switch {
	case (!exists || m.claimed[b.ID]) && (same || !edited):
		b.surplus = true
		return
	case !exists:
		b.Split()
		return
	case m.claimed[b.ID]:
		b.ID = "" // a copy that was edited
		return
	}
	m.claimed[b.ID] = true
	change := Change{Bullet: b}
	if edited && !same {
		if !strings.HasPrefix(revOf("", canonical(now.Content)), hash+".") {
			b.Type = now.Type
			b.Split()
			return
		}
		change.Text = &b.Text
	}
	convertible := p.section != Instruction && now.Type != Instruction // an instruction is no memory
	if p.section != "" && p.section != now.Type && kind == string(now.Type) && convertible {
		change.Type = &p.section
	}
	if change.Text != nil || change.Type != nil {
		m.plan.Change = append(m.plan.Change, change)
	}
}

// add plans a memory for a bullet without an id, unless one exists: an answer to an earlier request may have been lost.
func (m *merging) add(p *part) {
	b := p.bullet
	if b.ID != "" || b.surplus {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(m.present)) {
		now := m.present[id]
		if !m.claimed[id] && canonical(now.Content) == b.Text && (p.section == "" || p.section == now.Type) {
			m.claimed[id] = true
			b.ID = id
			return
		}
	}
	if p.section != "" {
		b.Type = p.section
	} else if b.Type == "" {
		b.Type = m.fallback
	}
	m.plan.Add = append(m.plan.Add, b)
}
