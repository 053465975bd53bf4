package exchange

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// item is a checked line that waits.
type item struct {
	line      int
	record    db.Record
	continues bool // its memory has come before
}

// add has a line wait until there are enough of them. Of two lines of one
// memory the first is settled before the second is looked at.
func (i *importing) add(ctx context.Context, it item, size int) error {
	twice := !it.continues && slices.ContainsFunc(i.pending, func(p item) bool { return p.record.Memory.ID == it.record.Memory.ID })
	if twice || i.full(size) {
		if err := i.settle(ctx); err != nil {
			return err
		}
	}
	i.pending, i.waiting, i.size = append(i.pending, it), i.waiting+1, i.size+size
	return nil
}

// full reports whether a line of a size finds no room beside those that wait.
func (i *importing) full(size int) bool { return i.waiting >= batch || i.size+size > batchRoom }

// settle settles all that waits: memories, one user after the other, and what
// else is kept.
func (i *importing) settle(ctx context.Context) error {
	var owners []memory.Owner
	items := map[memory.Owner][]item{}
	for _, it := range i.pending {
		owner := it.record.Memory.Owner
		if items[owner] == nil {
			owners = append(owners, owner)
		}
		items[owner] = append(items[owner], it)
	}
	i.pending, i.waiting, i.size = nil, 0, 0
	for _, owner := range owners {
		if err := i.settleFor(ctx, owner, items[owner]); err != nil {
			return err
		}
	}
	if err := i.users.settle(ctx, i); err != nil {
		return err
	}
	return i.scopes.settle(ctx, i)
}

// settleFor settles lines of one user: all in one transaction, or one by one
// where that is refused. An error ends the import.
func (i *importing) settleFor(ctx context.Context, owner memory.Owner, items []item) error {
	stored, err := i.records.Recorded(ctx, owner, idsOf(items))
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(it item) bool { return i.known(it, stored[it.record.Memory.ID]) })
	if len(items) == 0 {
		return nil
	}
	if err := i.embed(ctx, items); err != nil {
		return err
	}
	err = i.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error { return i.write(ctx, tx, items) })
	switch {
	case err == nil:
		for _, it := range items {
			if !it.continues {
				i.report.Imported++
			}
		}
	case !refused(err):
		return err
	case len(items) == 1:
		i.fail(items[0].line, err)
	default:
		for _, it := range items {
			if err := i.settleFor(ctx, owner, []item{it}); err != nil {
				return err
			}
		}
	}
	return nil
}

// refused tells an error that is about what was to be written.
func refused(err error) bool {
	return memory.IsKind(err, memory.KindConflict) || memory.IsKind(err, memory.KindInvalid) || memory.IsKind(err, memory.KindNotFound)
}

// known settles a line whose memory is here already.
func (i *importing) known(it item, stored db.Record) bool {
	id := it.record.Memory.ID
	if it.continues && id == i.differing {
		i.fail(it.line, fmt.Errorf("continues memory %s, which is not taken over", id))
		return true
	}
	if it.continues || stored.Memory.ID == "" {
		return false
	}
	if names := differences(it.record, stored); len(names) > 0 {
		i.differing = id
		i.fail(it.line, fmt.Errorf("memory %s is here already and differs in %s: nothing was overwritten", id, strings.Join(names, ", ")))
	} else {
		i.report.Skipped++
	}
	return true
}

// embed completes what is to be stored. An active memory needs an embedding of
// the present model; another one keeps its own, and gets one when it is restored.
func (i *importing) embed(ctx context.Context, items []item) error {
	var places []int
	var texts []string
	by := llm.Serving(i.embedder)
	for n := range items {
		m := &items[n].record.Memory
		if items[n].continues {
			continue
		}
		m.Lexemes = text.Join(text.Lexemes(m.Content))
		ours, fits := m.EmbeddingModel == by.Model(), len(m.Embedding) == by.Dim()
		switch {
		case m.Status == memory.Active && !(ours && fits):
			places, texts = append(places, n), append(texts, m.Content)
		case ours && !fits: // of a namesake of the model
			m.EmbeddingModel, m.Embedding = "", nil
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := by.Embed(ctx, llm.ForDocument, texts)
	if err != nil {
		return err
	}
	for n, place := range places {
		m := &items[place].record.Memory
		m.EmbeddingModel, m.Embedding = by.Model(), vectors[n]
	}
	return nil
}

// write stores lines of one user.
func (i *importing) write(ctx context.Context, tx db.UserTx, items []item) error {
	stored, err := tx.Recorded(ctx, idsOf(items))
	if err != nil {
		return err
	}
	var memories []memory.Memory
	var events []memory.Event
	var relations []memory.Relation
	for _, it := range items {
		id := it.record.Memory.ID
		switch here := stored[id].Memory.ID != "" || slices.ContainsFunc(memories, func(m memory.Memory) bool { return m.ID == id }); {
		case it.continues && !here:
			return memory.Errorf(memory.KindNotFound, "continues memory %s, which is not here", id)
		case !it.continues && here:
			return memory.Errorf(memory.KindConflict, "memory %s has been written meanwhile: import it again", id)
		case !it.continues:
			memories = append(memories, it.record.Memory)
		}
		fresh, err := unknownEvents(it.record.Events, stored[id].Events)
		if err != nil {
			return err
		}
		events = append(events, fresh...)
		relations = append(relations, it.record.Relations...)
	}
	if err := tx.Restore(ctx, memories, memory.Instant(i.now())); err != nil {
		return taken(err, "a memory")
	}
	if err := tx.RestoreEvents(ctx, events); err != nil {
		return taken(err, "an event")
	}
	return tx.AddRelations(ctx, relations)
}

// taken tells that an id exists, and not whose it is.
func taken(err error, what string) error {
	if memory.IsKind(err, memory.KindConflict) {
		return memory.Errorf(memory.KindConflict, "the id of %s exists already", what)
	}
	return err
}

// unknownEvents are those that are not stored; what is stored under an id of
// theirs must be the same. A history outlives its memory, so that one which was
// purged and comes back finds it.
func unknownEvents(events, stored []memory.Event) (fresh []memory.Event, err error) {
	for _, e := range events {
		place := slices.IndexFunc(stored, func(s memory.Event) bool { return s.ID == e.ID })
		if place < 0 {
			fresh = append(fresh, e)
			continue
		}
		s := stored[place]
		if s.Kind != e.Kind || s.Cause != e.Cause || !s.At.Equal(e.At) || string(compact(s.Detail)) != string(e.Detail) {
			return nil, memory.Errorf(memory.KindConflict, "event %s is here already and differs", e.ID)
		}
	}
	return fresh, nil
}

func unknownRelations(relations, stored []memory.Relation) (fresh []memory.Relation) {
	for _, r := range relations {
		if !slices.ContainsFunc(stored, func(s memory.Relation) bool { return s.From == r.From && s.To == r.To && s.Kind == r.Kind }) {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

func idsOf(items []item) []string {
	ids := make([]string, len(items))
	for n, it := range items {
		ids[n] = it.record.Memory.ID
	}
	return ids
}
