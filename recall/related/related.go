// Package related stores the relations that clients state between memories, and
// finds the memories that are related to one:
//
//	from, kind, to -> a relation
//	memory -> relations | its conversation | shared tags | nearest vectors
//	       -> active rows of the database -> reasons for each -> score -> the best
//
// The vector store only proposes memories. Their similarities are computed from
// the embeddings in the database.
package related

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Records is the part of the database that this package uses.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error)
	ConversationNeighbours(ctx context.Context, owner memory.Owner, seenBy, conversationID string,
		place db.Position, n int) ([]memory.Memory, error)
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
}

// Searcher is the part of the vector store that this package uses.
type Searcher interface {
	Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error)
}

// Settings have the meaning of recall's.
type Settings struct {
	OwnWindow     time.Duration // how long after its confirmation a write may be missing from searches
	OwnLimit      int           // own writes compared, newest first
	VectorTimeout time.Duration
}

// Service relates memories.
type Service struct {
	records  Records
	vectors  Searcher
	embedder llm.Embedder
	set      Settings
	now      func() time.Time
	log      *zap.Logger
}

// New makes a service.
func New(records Records, vectors Searcher, embedder llm.Embedder, set Settings, now func() time.Time,
	log *zap.Logger) *Service {
	return &Service{records: records, vectors: vectors, embedder: embedder, set: set, now: now, log: log}
}

// Kinds are the relations that a client may state and remove. Only the server
// states what a memory is derived from, and it needs that to undo a reflection.
var Kinds = []memory.RelationKind{memory.Supports, memory.Contradicts, memory.Refines}

// Relate states a relation between two memories of one user of the app. If the
// relation exists, it changes nothing, and fresh is false. KindNotFound: the app
// has no memory From, or the user of From has no memory To.
func (s *Service) Relate(ctx context.Context, appID string, r memory.Relation) (
	stored memory.Relation, fresh bool, err error) {
	if r.From == r.To {
		return r, false, memory.Invalid(memory.Field{Path: "to", Message: "is the memory itself: name another one"})
	}
	owner, stored, exists, err := s.stored(ctx, appID, r)
	if err != nil || exists {
		return stored, false, err
	}
	to, err := s.records.Memory(ctx, appID, r.To)
	if err != nil || to.Owner != owner {
		return r, false, noMemory(r.To, err)
	}
	r.CreatedAt = memory.Instant(s.now())
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{r})
	})
	return r, err == nil, err
}

// Unrelate removes a relation, whichever client stated it, and returns it.
// KindNotFound: the relation does not exist.
func (s *Service) Unrelate(ctx context.Context, appID string, r memory.Relation) (memory.Relation, error) {
	owner, stored, _, err := s.stored(ctx, appID, r)
	if err != nil {
		return r, err
	}
	return stored, s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.RemoveRelation(ctx, r)
	})
}

// stored returns the owner of the memory From, and the relation if it exists.
func (s *Service) stored(ctx context.Context, appID string, r memory.Relation) (
	owner memory.Owner, stored memory.Relation, exists bool, err error) {
	from, err := s.records.Memory(ctx, appID, r.From)
	if err != nil {
		return owner, stored, false, err
	}
	relations, err := s.records.Relations(ctx, appID, r.From)
	if err != nil {
		return owner, stored, false, err
	}
	i := slices.IndexFunc(relations, func(other memory.Relation) bool {
		return other.From == r.From && other.To == r.To && other.Kind == r.Kind
	})
	if i < 0 {
		return from.Owner, stored, false, nil
	}
	return from.Owner, relations[i], true, nil
}

// noMemory returns err, or an error that the user has no such memory.
func noMemory(id string, err error) error {
	if err != nil {
		return err
	}
	return memory.Errorf(memory.KindNotFound, "this user has no memory %s", id)
}
