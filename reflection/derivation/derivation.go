// Package derivation condenses memories into derived ones, and undoes it:
//
//	conclusions + sources as read -> derived memories, relations, retired sources   (Derive, one transaction)
//	derived memory -> forgotten, its retired sources active again                   (Undo, one transaction)
//
// Reflection and compression decide what is condensed. Derivation ensures that a source retires only if a stored memory
// stands for it, and that no source has changed since it was read.
package derivation

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/vectorstore/projection"
)

// Records is the part of the database that derivation uses.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	db.ProposedInsights
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
}

// Derived is a memory that is made from others.
type Derived struct {
	Memory  memory.Memory // a complete draft, see Service.Draft
	Sources []string      // ids of the memories that it stands for
	held    bool          // the memory was active already
}

// Derivation is one change: the memories that are added and those that retire.
type Derivation struct {
	Owner   memory.Owner
	Cause   string          // recorded with each event
	Derived []Derived       // may be empty if State is set
	Sources []memory.Memory // as they were read: each must still be active in this revision
	Retire  []string        // ids of Sources that become consolidated

	// Compared: active memories that say the same may hold the derived content; see Service.Compare.
	Compared bool

	// State checks the owner's maintenance state and returns the next one. Its
	// error refuses the derivation. It may run more than once; nil leaves the
	// state as it is.
	State func(db.UserState) (db.UserState, error)

	decides string // the proposed insight that this stores; empty: it stores no proposed one
}

// Service derives.
type Service struct {
	// Compare finds the active memories near drafts of an owner, except for those whose ids are in except, and decides
	// what the drafts mean for them; package ingest implements it. nil: derived memories are not compared.
	Compare func(ctx context.Context, owner memory.Owner, drafts []memory.Memory, except []string) (history.Settle, error)

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

// Result is the result of a derivation.
type Result struct {
	Stored  []memory.Memory // the derived memories, without embeddings
	Held    []memory.Memory // active memories that hold derived content
	Retired []string        // ids of the sources that became consolidated
}

// Derive embeds the conclusions, adds them and their sources to d, and commits it. Errors are those of Commit, of the
// embedder and of Compare.
func (s *Service) Derive(ctx context.Context, d Derivation, conclusions []Conclusion) (result Result, err error) {
	texts := make([]string, len(conclusions))
	for i, c := range conclusions {
		texts[i] = c.Content
	}
	embedder := llm.Serving(s.embedder)
	var vectors [][]float32
	if len(texts) > 0 {
		if vectors, err = llm.EmbedDocuments(ctx, embedder, texts); err != nil {
			return result, err
		}
	}
	listed := map[string]bool{}
	for i, c := range conclusions {
		m := s.Draft(d.Owner, c.Content, c.Type, c.Domain, c.Importance, vectors[i])
		m.AgentID = c.Sources[0].AgentID
		m.Embed(vectors[i], embedder.Model())
		m.ConversationID, m.Metadata = c.ConversationID, c.Metadata
		m.AccessCount = c.Accesses
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
	var settle history.Settle
	if d.Compared && s.Compare != nil && len(d.Derived) > 0 {
		drafts := make([]memory.Memory, len(d.Derived))
		for i := range d.Derived {
			drafts[i] = d.Derived[i].Memory
		}
		if settle, err = s.Compare(ctx, d.Owner, drafts, memory.IDs(d.Sources)); err != nil {
			return result, err
		}
	}
	return s.commit(ctx, d, settle)
}

// Commit stores a derivation as a whole, or nothing of it. KindConflict: a source has changed since it was read. An
// error of State is returned as it is.
func (s *Service) Commit(ctx context.Context, d Derivation) error {
	_, err := s.commit(ctx, d, nil)
	return err
}

func (s *Service) commit(ctx context.Context, d Derivation, settle history.Settle) (result Result, err error) {
	var changes *history.Recorder
	var stored []memory.Memory
	err = s.records.InUser(ctx, d.Owner, func(ctx context.Context, tx db.UserTx) error {
		if err := updateState(ctx, tx, d.State); err != nil {
			return err
		}
		if d.decides != "" {
			if err := tx.DecideInsight(ctx, d.decides); err != nil {
				return err
			}
		}
		sources, err := unchanged(ctx, tx, d.Sources)
		if err != nil {
			return err
		}
		changes = history.NewRecorder(tx, d.Cause, s.now())
		list, err := s.add(ctx, tx, changes, d.Derived, settle)
		if err != nil {
			return err
		}
		stored = nil
		for _, derived := range list {
			if !derived.held {
				stored = append(stored, derived.Memory)
			}
		}
		result = Result{Stored: slices.Clone(stored)}
		for _, derived := range list {
			if derived.held {
				result.Held = append(result.Held, derived.Memory)
			}
		}
		if result.Retired, err = retire(ctx, changes, sources, d.Retire, list); err != nil {
			return err
		}
		return changes.Flush(ctx)
	})
	if err != nil {
		return Result{}, err
	}
	if len(stored) > 0 {
		s.pusher.PushNew(ctx, stored)
	}
	s.pusher.Push(ctx, changes.Changed())
	for i := range result.Stored {
		result.Stored[i].Embedding = nil
	}
	return result, nil
}

// updateState replaces the owner's maintenance state by the result of next.
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

// unchanged loads the sources by id. KindConflict: a source differs from the one that was read.
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

// add stores the derived memories, by settle if it is not nil, and relates all to their sources. It returns the derived
// memories with the memories that hold them.
func (s *Service) add(ctx context.Context, tx db.UserTx, changes *history.Recorder, list []Derived,
	settle history.Settle) ([]Derived, error) {
	if len(list) == 0 {
		return nil, nil
	}
	list = slices.Clone(list)
	drafts := make([]history.Draft, len(list))
	for i := range list {
		drafts[i] = history.Draft{Memory: list[i].Memory, Detail: origin{list[i].Sources}}
	}
	if settle == nil {
		settle = s.insert
	}
	held, err := settle(ctx, tx, changes, drafts)
	if err != nil {
		return nil, err
	}
	var relations []memory.Relation
	for i := range list {
		list[i].held = held[i].ID != list[i].Memory.ID
		list[i].Memory = held[i]
		for _, source := range list[i].Sources {
			relations = append(relations, memory.Relation{
				From: held[i].ID, To: source, Kind: memory.DerivedFrom, CreatedAt: held[i].UpdatedAt,
			})
		}
	}
	return list, tx.AddRelations(ctx, relations)
}

// insert stores memories that are not compared.
func (s *Service) insert(ctx context.Context, tx db.UserTx, changes *history.Recorder, drafts []history.Draft) (
	[]memory.Memory, error,
) {
	stored := make([]memory.Memory, len(drafts))
	for i := range drafts {
		changes.Created(&drafts[i].Memory, drafts[i].Detail)
		stored[i] = drafts[i].Memory
	}
	return stored, tx.Insert(ctx, stored, s.pusher.ClaimedUntil())
}

// retired is the detail of a consolidated event.
type retired struct {
	*history.Change
	Into []string `json:"into"` // the memories derived from it
}

// retire consolidates sources, and returns the ids of the consolidated ones. A source stays active if its derived
// content is held by memories that were active already, since no undo would restore the source.
func retire(ctx context.Context, changes *history.Recorder, sources map[string]memory.Memory, ids []string,
	list []Derived) (consolidated []string, err error) {
	cited, into := map[string]bool{}, map[string][]string{}
	for _, derived := range list {
		for _, source := range derived.Sources {
			cited[source] = true
			if !derived.held {
				into[source] = append(into[source], derived.Memory.ID)
			}
		}
	}
	for _, id := range ids {
		m, ok := sources[id]
		if !ok || !cited[id] {
			return nil, memory.Errorf(memory.KindInternal, "memory %s would retire although no derived memory cites it", id)
		}
		if len(into[id]) == 0 {
			continue
		}
		before := m
		m.Status = memory.Consolidated
		changes.Note(id, memory.EventConsolidated, retired{history.Diff(before, m), into[id]})
		if err := changes.Update(ctx, before, &m); err != nil {
			return nil, err
		}
		consolidated = append(consolidated, id)
	}
	return consolidated, nil
}
