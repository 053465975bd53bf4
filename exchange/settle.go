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

// item is a checked line of a memory that waits to be stored.
type item struct {
	line      int
	record    db.Record
	continues bool // the line of the memory precedes it
}

// add adds a line to the waiting lines. If another line of the same memory waits, it is stored first.
func (i *importing) add(ctx context.Context, it item, size int) error {
	twice := !it.continues && slices.ContainsFunc(i.pending, func(p item) bool {
		return p.record.Memory.ID == it.record.Memory.ID
	})
	if twice || i.full(size) {
		if err := i.settle(ctx); err != nil {
			return err
		}
	}
	i.pending = append(i.pending, it)
	i.waiting++
	i.size += size
	return nil
}

// full reports whether a line of this size would exceed the limits of waiting lines.
func (i *importing) full(size int) bool { return i.waiting >= batch || i.size+size > batchBytes }

// settle stores all that waits: memories user by user, then the other entries.
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
	i.pending = nil
	i.waiting = 0
	i.size = 0
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

// settleFor stores lines of one user in one transaction, or one by one if that is
// refused. An error ends the import.
func (i *importing) settleFor(ctx context.Context, owner memory.Owner, items []item) error {
	stored, err := i.records.Recorded(ctx, owner, idsOf(items))
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(it item) bool { return i.settled(it, stored[it.record.Memory.ID]) })
	if len(items) == 0 {
		return nil
	}
	admitted := items[:0]
	for _, it := range items {
		err := i.refusalOf(ctx, owner, it.record.Memory.ConversationID)
		switch {
		case err == nil:
			admitted = append(admitted, it)
		case !refused(err):
			return err
		default:
			i.fail(it.line, err)
		}
	}
	if items = admitted; len(items) == 0 {
		return nil
	}
	if err := i.embed(ctx, items); err != nil {
		return err
	}
	err = i.inUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error { return i.store(ctx, tx, items) })
	switch {
	case err == nil:
		added := 0
		for _, it := range items {
			if !it.continues {
				added++
			}
		}
		i.report.Imported += added
		i.OnAdded(owner, added)
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

// refused reports whether an error concerns what was to be stored.
func refused(err error) bool {
	kinds := []memory.Kind{memory.KindConflict, memory.KindInvalid, memory.KindNotFound}
	return slices.Contains(kinds, memory.KindOf(err))
}

// settled settles a line without storing it, if its memory is stored already, and
// reports whether it did.
func (i *importing) settled(it item, stored db.Record) bool {
	id := it.record.Memory.ID
	if it.continues && id == i.differing {
		i.fail(it.line, fmt.Errorf("continues memory %s, which was not imported", id))
		return true
	}
	if it.continues || stored.Memory.ID == "" {
		return false
	}
	if names := differences(it.record, stored); len(names) > 0 {
		i.differing = id
		i.fail(it.line, fmt.Errorf("memory %s is here already and differs in %s: nothing was overwritten",
			id, strings.Join(names, ", ")))
	} else {
		i.report.Skipped++
	}
	return true
}

// embed completes memories that will be stored. An active memory needs an embedding by the serving model, unless the
// model refuses its text. A memory of another status keeps its embedding until it is restored.
func (i *importing) embed(ctx context.Context, items []item) error {
	var places []int
	var texts []string
	by := llm.Serving(i.embedder)
	for n := range items {
		m := &items[n].record.Memory
		if items[n].continues {
			continue
		}
		m.Lexemes = text.Join(text.Lexemes(m.IndexedTextIn(i.zoneOf(m.UserID))))
		sameModel, sameDim := m.EmbeddingModel == by.Model(), len(m.Embedding) == by.Dim()
		switch {
		case m.Status == memory.Active && !(sameModel && sameDim):
			places, texts = append(places, n), append(texts, m.EmbeddedText())
		case sameModel && !sameDim: // another model of the same name
			m.EmbeddingModel, m.Embedding = "", nil
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := llm.EmbedDocuments(ctx, by, texts)
	if err != nil {
		return err
	}
	for n, place := range places {
		items[place].record.Memory.Embed(vectors[n], by.Model())
	}
	return nil
}

// store stores lines of one user.
func (i *importing) store(ctx context.Context, tx db.UserTx, items []item) error {
	stored, err := tx.Recorded(ctx, idsOf(items))
	if err != nil {
		return err
	}
	var memories []memory.Memory
	var events []memory.Event
	var relations []memory.Relation
	for _, it := range items {
		id := it.record.Memory.ID
		known := stored[id].Memory.ID != "" ||
			slices.ContainsFunc(memories, func(m memory.Memory) bool { return m.ID == id })
		switch {
		case it.continues && !known:
			return memory.Errorf(memory.KindNotFound, "continues memory %s, which is not here", id)
		case !it.continues && known:
			return memory.Errorf(memory.KindConflict, "memory %s was written during the import: import it again", id)
		case !it.continues:
			memories = append(memories, it.record.Memory)
		}
		unknown, err := unknownEvents(it.record.Events, stored[id].Events)
		if err != nil {
			return err
		}
		events = append(events, unknown...)
		relations = append(relations, it.record.Relations...)
	}
	if err := tx.Restore(ctx, memories, memory.Instant(i.now())); err != nil {
		return idTaken(err, "a memory")
	}
	if err := tx.RestoreEvents(ctx, events); err != nil {
		return idTaken(err, "an event")
	}
	if err := tx.AddRelations(ctx, relations); err != nil {
		return err
	}
	return i.noteActivity(ctx, tx, memories)
}

// noteActivity notes that the user and the agents of new memories are active: otherwise a user who is new to this
// server would have no active day.
func (i *importing) noteActivity(ctx context.Context, tx db.UserTx, memories []memory.Memory) error {
	if len(memories) == 0 {
		return nil
	}
	for _, agentID := range db.AgentsOf(memories) {
		if err := tx.NoteActivity(ctx, agentID, i.now()); err != nil {
			return err
		}
	}
	return nil
}

func idsOf(items []item) []string {
	ids := make([]string, len(items))
	for n, it := range items {
		ids[n] = it.record.Memory.ID
	}
	return ids
}
