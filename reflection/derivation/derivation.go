// Package derivation condenses memories into derived ones, and undoes it:
//
//	conclusions + sources as read -> derived memories, relations, retired sources   (Derive, one transaction)
//	derived memory -> forgotten, its retired sources active again                   (Undo, one transaction)
//
// Reflection and compression decide what is condensed. Derivation ensures that
// a source retires only if a stored memory stands for it, and that no source
// has changed since it was read.
package derivation

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/vectorstore/projection"
)

// Records is what derivation needs of the database.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
}

// Derived is a memory that is made from others.
type Derived struct {
	Memory  memory.Memory // a complete draft, see Service.Draft
	Sources []string      // ids of the memories that it stands for
}

// Derivation is one change: the memories that are added and those that retire.
type Derivation struct {
	Owner   memory.Owner
	Cause   string          // recorded with each event
	Derived []Derived       // may be empty if State is set
	Sources []memory.Memory // as they were read: each must still be active in this revision
	Retire  []string        // ids of Sources that become consolidated

	// State checks the owner's maintenance state and returns the next one. Its
	// error refuses the derivation. It may run more than once; nil leaves the
	// state as it is.
	State func(db.UserState) (db.UserState, error)
}

// Service derives.
type Service struct {
	records  Records
	pusher   projection.Pusher
	embedder llm.Embedder
	now      func() time.Time
}

// New makes a service.
func New(records Records, pusher projection.Pusher, embedder llm.Embedder, now func() time.Time) *Service {
	return &Service{records: records, pusher: pusher, embedder: embedder, now: now}
}

// Draft completes a new memory. The service's embedder must have made the embedding.
func (s *Service) Draft(owner memory.Owner, content string, t memory.Type, domain memory.Domain, importance float64,
	embedding []float32) memory.Memory {
	at := memory.Instant(s.now())
	return memory.Memory{
		ID: memory.NewID(), Owner: owner, Content: content, Type: t, Domain: domain, Importance: importance,
		Status: memory.Active, CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
		Lexemes: text.Join(text.Lexemes(content)), Embedding: embedding, EmbeddingModel: s.embedder.Model(), Revision: 1,
	}
}

// Derive embeds the conclusions, adds them and their sources to d, and commits
// it. It returns the derived memories without their embeddings. Errors are those
// of Commit and of the embedder.
func (s *Service) Derive(ctx context.Context, d Derivation, conclusions []Conclusion) ([]memory.Memory, error) {
	texts := make([]string, len(conclusions))
	for i, c := range conclusions {
		texts[i] = c.Content
	}
	embedder := llm.Serving(s.embedder)
	var vectors [][]float32
	if len(texts) > 0 {
		var err error
		if vectors, err = embedder.Embed(ctx, llm.ForDocument, texts); err != nil {
			return nil, err
		}
	}
	listed := map[string]bool{}
	for i, c := range conclusions {
		m := s.Draft(d.Owner, c.Content, c.Type, c.Domain, c.Importance, vectors[i])
		m.AgentID, m.EmbeddingModel = c.Sources[0].AgentID, embedder.Model()
		m.ConversationID = c.ConversationID
		if !c.At.IsZero() {
			m.CreatedAt = c.At
		}
		d.Derived = append(d.Derived, Derived{Memory: m, Sources: memory.IDs(c.Sources)})
		for _, source := range c.Sources {
			if !listed[source.ID] {
				listed[source.ID] = true
				d.Sources = append(d.Sources, source)
			}
		}
	}
	if err := s.Commit(ctx, d); err != nil {
		return nil, err
	}
	derived := make([]memory.Memory, len(d.Derived))
	for i := range d.Derived {
		derived[i] = d.Derived[i].Memory
		derived[i].Embedding = nil
	}
	return derived, nil
}

// Commit makes a derivation, whole or not at all. KindConflict: a source has
// changed since it was read. An error of State is returned as it is.
func (s *Service) Commit(ctx context.Context, d Derivation) error {
	var changes *history.Recorder
	drafts := make([]memory.Memory, len(d.Derived))
	err := s.records.InUser(ctx, d.Owner, func(ctx context.Context, tx db.UserTx) error {
		if err := updateState(ctx, tx, d.State); err != nil {
			return err
		}
		sources, err := unchanged(ctx, tx, d.Sources)
		if err != nil {
			return err
		}
		changes = history.NewRecorder(tx, d.Cause, s.now())
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

// updateState replaces the owner's maintenance state by what next returns.
func updateState(ctx context.Context, tx db.UserTx, next func(db.UserState) (db.UserState, error)) error {
	if next == nil {
		return nil
	}
	state, err := tx.State(ctx)
	if err != nil {
		return err
	}
	if state, err = next(state); err != nil {
		return err
	}
	return tx.SetState(ctx, state)
}

// unchanged loads the sources by id. KindConflict: one differs from what was read.
func unchanged(ctx context.Context, tx db.UserTx, read []memory.Memory) (map[string]memory.Memory, error) {
	if len(read) == 0 {
		return nil, nil
	}
	stored, err := tx.Memories(ctx, memory.IDs(read))
	if err != nil {
		return nil, err
	}
	sources := make(map[string]memory.Memory, len(stored))
	for _, m := range stored {
		sources[m.ID] = m
	}
	for _, m := range read {
		now, ok := sources[m.ID]
		if !ok || now.Status != memory.Active || now.Revision != m.Revision || now.Pinned != m.Pinned {
			return nil, memory.Errorf(memory.KindConflict, "memory %s has changed since it was read: try again", m.ID)
		}
	}
	return sources, nil
}

// origin is the detail of a derived memory's creation.
type origin struct {
	Sources []string `json:"sources"`
}

// add stores the derived memories with relations to their sources, and copies them to drafts.
func (s *Service) add(ctx context.Context, tx db.UserTx, changes *history.Recorder, list []Derived,
	drafts []memory.Memory) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		changes.Created(&list[i].Memory, origin{list[i].Sources})
		drafts[i] = list[i].Memory
	}
	if err := tx.Insert(ctx, drafts, s.pusher.ClaimedUntil()); err != nil {
		return err
	}
	var relations []memory.Relation
	for _, derived := range list {
		for _, source := range derived.Sources {
			relations = append(relations, memory.Relation{
				From: derived.Memory.ID, To: source, Kind: memory.DerivedFrom, CreatedAt: derived.Memory.UpdatedAt,
			})
		}
	}
	return tx.AddRelations(ctx, relations)
}

// retired is the detail of a consolidated event.
type retired struct {
	*history.Change
	Into []string `json:"into"` // the memories derived from it
}

// retire consolidates the sources that d retires.
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
			return memory.Errorf(memory.KindInternal, "memory %s would retire although no derived memory cites it", id)
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
