package ingest

import (
	"slices"

	"hippocampus/db"
	"hippocampus/ingest/statement"
	"hippocampus/internal/memory"
)

// release plans that the memories that a withdrawn summary condensed are active again, except for those that state the
// same as the root.
func (p *forgetting) release(root memory.Memory, condensed []memory.Memory) {
	isNot := func(m memory.Memory) bool { return m.Status != memory.Consolidated }
	condensed = slices.DeleteFunc(condensed, isNot)
	docs := make([]db.Document, len(condensed))
	for i, m := range condensed {
		docs[i] = documentOf(m, nil)
	}
	found, _ := p.statement(root, docs)
	isOther := func(f statement.Found) bool {
		return !slices.ContainsFunc(docs, func(d db.Document) bool { return d.ID == f.ID })
	}
	p.noteFound(root, slices.DeleteFunc(found, isOther), docs)
	for _, m := range condensed {
		if p.isAsked(m.ID) || p.plannedFor(m.ID) != nil {
			continue
		}
		p.planUndo(root, m, statement.Derived, func(m *memory.Memory) bool {
			if m.Status != memory.Consolidated {
				return false
			}
			m.Status = memory.Active
			return true
		})
	}
}

// planUndo plans that forgetting root changes a memory back, unless the memory itself is forgotten or shortened.
func (p *forgetting) planUndo(root, m memory.Memory, why statement.Why, undo func(m *memory.Memory) bool) {
	c := p.plannedFor(m.ID)
	switch {
	case c == nil:
		c = &planned{Found: statement.Found{ID: m.ID, Why: why}, root: root, undo: undo}
		p.planned = append(p.planned, c)
	case c.undo == nil:
		return
	default:
		first := c.undo
		c.undo = func(m *memory.Memory) bool {
			done := first(m)
			return undo(m) || done
		}
	}
	before := m
	if !c.undo(&m) || m.Status != memory.Active {
		return
	}
	if isRevived(before, m) {
		p.revived = append(p.revived, m)
	}
	if m.EmbeddingModel != p.by.Model() || m.EmbeddedText() != before.EmbeddedText() {
		c.text = m.EmbeddedText()
	}
}

// isRevived reports whether a fact is active again.
func isRevived(before, after memory.Memory) bool {
	return before.Status != memory.Active && after.Status == memory.Active && after.Type != memory.TypeMessage
}
