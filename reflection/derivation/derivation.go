// Package derivation condenses memories into derived ones, and takes it back:
//
//	drafts + sources as read -> derived memories, relations, retired sources   (Commit, one transaction)
//	derived memory -> forgotten, its retired sources active again              (Undo, one transaction)
//
// Reflection and compression decide what is condensed; here it is made sure
// that nothing retires unless what stands for it is stored, and that nobody
// has changed the sources meanwhile.
package derivation

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Records is what derivation needs of the database.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
}

// Pusher brings committed changes to the vector store; see vectorstore/projection.
type Pusher interface {
	Claimed() time.Time
	PushNew(ctx context.Context, memories []memory.Memory)
	Push(ctx context.Context, ids []string)
}

// Derived is a memory that is made from others.
type Derived struct {
	Memory  memory.Memory // a complete draft, see Service.Draft
	Sources []string      // ids of the memories that it stands for
}

// Derivation is one change: what is added, from what, and what retires.
type Derivation struct {
	Owner   memory.Owner
	Cause   string          // recorded with each event
	Derived []Derived       // may be empty: then State alone is set
	Sources []memory.Memory // as they were read: each must still be active in this revision
	Retire  []string        // ids of Sources that become consolidated

	// State checks what upkeep has noted of the owner and returns what it
	// notes from now on. Its error refuses the derivation; nil: nothing is
	// checked or noted. It may run more than once.
	State func(db.UserState) (db.UserState, error)
}

// Service derives.
type Service struct {
	records  Records
	pusher   Pusher
	embedder llm.Embedder
	now      func() time.Time
}

// New makes a service.
func New(records Records, pusher Pusher, embedder llm.Embedder, now func() time.Time) *Service {
	return &Service{records, pusher, embedder, now}
}

// Draft completes a new memory. The embedding is that of its content, by the
// service's embedder.
func (s *Service) Draft(owner memory.Owner, content string, t memory.Type, domain memory.Domain, importance float64, embedding []float32) memory.Memory {
	at := memory.Instant(s.now())
	return memory.Memory{
		ID: memory.NewID(), Owner: owner, Content: content, Type: t, Domain: domain, Importance: importance,
		Status: memory.Active, CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
		Lexemes: text.Join(text.Lexemes(content)), Embedding: embedding, EmbeddingModel: s.embedder.Model(), Revision: 1,
	}
}

// Commit makes a derivation, whole or not at all. KindConflict: a source has
// changed since it was read. What State refuses with is returned as it is.
func (s *Service) Commit(ctx context.Context, d Derivation) error {
	var changes *history.Recorder
	drafts := make([]memory.Memory, len(d.Derived))
	err := s.records.InUser(ctx, d.Owner, func(ctx context.Context, tx db.UserTx) error {
		if err := note(ctx, tx, d.State); err != nil {
			return err
		}
		sources, err := unchanged(ctx, tx, d.Sources)
		if err != nil {
			return err
		}
		changes = history.Record(tx, d.Cause, s.now())
		if err := s.add(ctx, tx, changes, d.Derived, drafts); err != nil {
			return err
		}
		if err := retire(ctx, changes, sources, d); err != nil {
			return err
		}
		return changes.Flush(ctx)
	})
	if err != nil {
		return err
	}
	if len(drafts) > 0 {
		s.pusher.PushNew(ctx, drafts)
	}
	s.pusher.Push(ctx, changes.Changed())
	return nil
}

// note lets state check and replace what upkeep has noted.
func note(ctx context.Context, tx db.UserTx, state func(db.UserState) (db.UserState, error)) error {
	if state == nil {
		return nil
	}
	was, err := tx.State(ctx)
	if err != nil {
		return err
	}
	next, err := state(was)
	if err != nil {
		return err
	}
	return tx.SetState(ctx, next)
}

// unchanged loads the sources, by id, and refuses any that is not as it was read.
func unchanged(ctx context.Context, tx db.UserTx, read []memory.Memory) (map[string]memory.Memory, error) {
	if len(read) == 0 {
		return nil, nil
	}
	ids := make([]string, len(read))
	for i, m := range read {
		ids[i] = m.ID
	}
	stored, err := tx.Memories(ctx, ids)
	if err != nil {
		return nil, err
	}
	sources := make(map[string]memory.Memory, len(stored))
	for _, m := range stored {
		sources[m.ID] = m
	}
	for _, m := range read {
		if is, ok := sources[m.ID]; !ok || is.Status != memory.Active || is.Revision != m.Revision || is.Pinned != m.Pinned {
			return nil, memory.Errorf(memory.KindConflict, "memory %s has changed since it was read: try again", m.ID)
		}
	}
	return sources, nil
}

// origin is the detail of a derived memory's creation.
type origin struct {
	Sources []string `json:"sources"`
}

// add stores the derived memories, which become the drafts, and what they are
// derived from.
func (s *Service) add(ctx context.Context, tx db.UserTx, changes *history.Recorder, list []Derived, drafts []memory.Memory) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		changes.Created(&list[i].Memory, origin{list[i].Sources})
		drafts[i] = list[i].Memory
	}
	if err := tx.Insert(ctx, drafts, s.pusher.Claimed()); err != nil {
		return err
	}
	var relations []memory.Relation
	for _, derived := range list {
		for _, source := range derived.Sources {
			relations = append(relations, memory.Relation{
				From: derived.Memory.ID, To: source, Kind: memory.DerivedFrom, CreatedAt: derived.Memory.CreatedAt,
			})
		}
	}
	return tx.AddRelations(ctx, relations)
}

// retired is the detail of a consolidated event.
type retired struct {
	*history.Change
	Into []string `json:"into"` // the memories that stand for it
}

// retire takes sources out of use.
func retire(ctx context.Context, changes *history.Recorder, sources map[string]memory.Memory, d Derivation) error {
	into := map[string][]string{}
	for _, derived := range d.Derived {
		for _, source := range derived.Sources {
			into[source] = append(into[source], derived.Memory.ID)
		}
	}
	for _, id := range d.Retire {
		m, ok := sources[id]
		if !ok || len(into[id]) == 0 {
			return memory.Errorf(memory.KindInternal, "memory %s would retire with nothing that stands for it", id)
		}
		before := m
		m.Status = memory.Consolidated
		changes.Note(id, memory.EventConsolidated, retired{history.Diff(before, m), into[id]})
		if err := changes.Update(ctx, before, &m); err != nil {
			return err
		}
	}
	return nil
}
