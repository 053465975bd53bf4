// Package related puts memories into relation, and finds what is related to one:
//
//	from, kind, to -> a relation that the client states
//	memory -> relations | its conversation | shared tags | nearest vectors
//	       -> active rows of the database -> reasons for each -> score -> the best
//
// The vector store only proposes: similarities are those of the embeddings in
// the database.
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

// Records is what is read and written of the database.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error)
	ConversationNeighbours(ctx context.Context, owner memory.Owner, seenBy, conversationID string, place db.Position, n int) ([]memory.Memory, error)
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
}

// Searcher is what is asked of the vector store.
type Searcher interface {
	Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error)
}

// Settings are those of recall.
type Settings struct {
	OwnWindow     time.Duration // how long a confirmed write may be missing from searches
	OwnLimit      int           // unconfirmed memories compared, newest first
	VectorTimeout time.Duration
}

// Service relates.
type Service struct {
	records  Records
	vectors  Searcher
	embedder llm.Embedder
	set      Settings
	now      func() time.Time
	log      *zap.Logger
}

// New makes a service.
func New(records Records, vectors Searcher, embedder llm.Embedder, set Settings, now func() time.Time, log *zap.Logger) *Service {
	return &Service{records, vectors, embedder, set, now, log}
}

// Kinds are the relations that a client may state and take back. What is
// derived from what the server alone knows: undoing a reflection relies on it.
var Kinds = []memory.RelationKind{memory.Supports, memory.Contradicts, memory.Refines}

// Relate states a relation between two memories of one user of the app; stating
// it again changes nothing, and fresh is false. KindNotFound: the app has no
// memory From, or its user none To.
func (s *Service) Relate(ctx context.Context, appID string, r memory.Relation) (stored memory.Relation, fresh bool, err error) {
	if r.From == r.To {
		return r, false, memory.Invalid(memory.Field{Path: "to", Message: "is the memory itself: name another one"})
	}
	owner, known, err := s.known(ctx, appID, r)
	if err != nil || known != nil {
		return orZero(known), false, err
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

// Unrelate takes a relation back, whoever stated it, and returns it.
// KindNotFound: there is none.
func (s *Service) Unrelate(ctx context.Context, appID string, r memory.Relation) (memory.Relation, error) {
	owner, known, err := s.known(ctx, appID, r)
	if err != nil {
		return r, err
	}
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error { return tx.RemoveRelation(ctx, r) })
	return orZero(known), err
}

// known finds whose memory a relation begins at, and the relation where it is there.
func (s *Service) known(ctx context.Context, appID string, r memory.Relation) (memory.Owner, *memory.Relation, error) {
	from, err := s.records.Memory(ctx, appID, r.From)
	if err != nil {
		return memory.Owner{}, nil, err
	}
	relations, err := s.records.Relations(ctx, appID, r.From)
	if err != nil {
		return memory.Owner{}, nil, err
	}
	same := func(k memory.Relation) bool { return k.From == r.From && k.To == r.To && k.Kind == r.Kind }
	if i := slices.IndexFunc(relations, same); i >= 0 {
		return from.Owner, &relations[i], nil
	}
	return from.Owner, nil, nil
}

func orZero(r *memory.Relation) memory.Relation {
	if r == nil {
		return memory.Relation{}
	}
	return *r
}

// noMemory is err, or that the user has no such memory.
func noMemory(id string, err error) error {
	if err != nil {
		return err
	}
	return memory.Errorf(memory.KindNotFound, "this user has no memory %s", id)
}
