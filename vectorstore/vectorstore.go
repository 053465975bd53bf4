// Package vectorstore is the contract of the vector store, a projection of
// the database that may lag, be lost or be rebuilt:
//
//	memory -> record -> store;  query vector + filter -> hits (id, similarity)
//
// vectorstore/milvus, vectorstore/sqlitevec and vectorstore/pgvector implement
// it; the suite vectorstore/vectortest tests every implementation. An error has
// KindInvalid if repeating the request cannot succeed, and KindUnavailable if the
// store cannot be reached, did not answer in time, or cannot work for now.
package vectorstore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hippocampus/internal/memory"
)

// Space is the embedding space of a collection. A store is opened for one space
// and refuses vectors of another, since they must never be compared.
type Space = memory.Space

// Record is one memory as the vector store holds it.
type Record struct {
	ID string
	memory.Owner
	AgentID   string
	Domain    memory.Domain
	Type      memory.Type
	Content   string
	CreatedAt time.Time // kept to the millisecond
	Embedding []float32 // unit length
	Space     Space     // of Embedding; zero: the store's own, unchecked
}

// RecordOf is the projection of a memory.
func RecordOf(m memory.Memory) Record {
	return Record{
		ID: m.ID, Owner: m.Owner, AgentID: m.AgentID, Domain: m.Domain, Type: m.Type,
		Content: m.Content, CreatedAt: m.CreatedAt, Embedding: m.Embedding,
	}
}

// Query asks for the records nearest to a vector. An empty field does not restrict the result.
type Query struct {
	Owner        memory.Owner // required: no hit is ever another owner's
	Embedding    []float32    // unit length
	Space        Space        // of Embedding; zero: the store's own, unchecked
	Limit        int          // 1..16384
	Domains      []memory.Domain
	Types        []memory.Type
	AgentID      string    // the records of this agent and those shared by all agents
	Since, Until time.Time // CreatedAt in [Since, Until), to the millisecond
}

// Hit is one found record.
type Hit struct {
	ID         string
	Similarity float64 // cosine, -1..1
}

// CompareHits orders hits by falling similarity, and by id if that is equal.
func CompareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
}

// Writer is the writing part of a Store. Writes to one id must not overlap.
type Writer interface {
	// Insert adds records whose ids the store has never held.
	Insert(ctx context.Context, records []Record) error
	// Replace makes the records the only ones under their ids. It is idempotent.
	Replace(ctx context.Context, records []Record) error
	// Delete removes the records with these ids; unknown ids are ignored.
	Delete(ctx context.Context, ids []string) error
}

// Store holds records and searches them. Searches may lag behind writes by a
// few seconds: a new record may be missing, and a deleted or replaced one may
// still be found.
type Store interface {
	Writer
	// Search returns the nearest records in the order of CompareHits.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Scan calls f with at most limit stored records after the given id ("" for
	// the first), in id order and without embeddings. It sees every write that
	// was acknowledged before the call. It returns an error of f unchanged.
	Scan(ctx context.Context, after string, limit int, f func(Record) error) error
	// DeleteOwner removes every record of an owner, also from collections that a
	// Rebuild is filling or has left behind. It returns how many it found there,
	// counting every write that was acknowledged before the call.
	DeleteOwner(ctx context.Context, owner memory.Owner) (int, error)
	// CountOwner counts what DeleteOwner would find.
	CountOwner(ctx context.Context, owner memory.Owner) (int, error)
	// Ping returns nil if the store serves searches, and ErrGone if its collection does not exist.
	Ping(ctx context.Context) error
	Close() error
}

// Rebuilder is a store whose collection can be replaced while it serves.
type Rebuilder interface {
	// Rebuild creates an empty collection, lets fill write to it, puts it in the
	// place of the one in use in one step, and drops the old one. Before that
	// step, searches, scans and writes of every process use the old collection;
	// after it, they use the new one, and searches find everything that fill
	// wrote. An error of fill is returned unchanged, and nothing has changed
	// then. Of several concurrent rebuilds, in any processes, the one that began
	// last succeeds and the others fail.
	Rebuild(ctx context.Context, fill func(ctx context.Context, into Writer) error) error
}

// Remote is a store in another process: asking it takes longer than comparing
// a few vectors in memory.
type Remote interface {
	// Healthy reports, without asking the store, whether it can be expected to answer.
	Healthy() bool
}

// Aliaser is a store with an alias under which people find it.
type Aliaser interface {
	// SetAlias points the alias to the collection of this space.
	SetAlias(ctx context.Context) error
}

// Dropper is a store that can be deleted with all its records.
type Dropper interface {
	// Drop deletes the store and closes it.
	Drop(ctx context.Context) error
}

// ErrGone is wrapped by errors about a collection that does not exist, for
// example because it was dropped: nothing is found until it is created again.
var ErrGone = errors.New("the vector collection does not exist; it will be created again in a moment")

// Ensurer is a store whose collection can vanish while it serves.
type Ensurer interface {
	// Ensure creates or loads whatever is missing, so that the store serves again.
	Ensure(ctx context.Context) error
	// Losses counts how often this process found no collection and created an
	// empty one, when opening or later. After each loss, all records must be
	// pushed again.
	Losses() int
}
