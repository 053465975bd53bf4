// Package vectorstore is the contract of the vector store, a projection of
// the database that may lag, be lost or be rebuilt:
//
//	memory -> record -> store;  query vector + filter -> hits (id, similarity)
//
// vectorstore/milvus, vectorstore/sqlitevec and vectorstore/pgvector implement
// it; vectorstore/vectortest holds them to it. Errors carry KindInvalid when the
// request is wrong however often it is repeated, and KindUnavailable when the
// store cannot be reached, did not answer in time, or cannot work for now.
package vectorstore

import (
	"context"
	"errors"
	"time"

	"hippocampus/internal/memory"
)

// Space is the embedding space of a collection. Vectors of different spaces
// must never meet, so a store is opened for one and refuses another.
type Space = memory.Space

// Record is one memory as the vector store shows it.
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

// Query asks for the records nearest to a vector. Empty fields do not restrict.
type Query struct {
	Owner        memory.Owner // required: no hit is ever another owner's
	Embedding    []float32    // unit length
	Space        Space        // of Embedding; zero: the store's own, unchecked
	Limit        int          // 1..16384
	Domains      []memory.Domain
	Types        []memory.Type
	AgentID      string    // this agent's and those shared by all (empty agent)
	Since, Until time.Time // CreatedAt in [Since, Until), to the millisecond
}

// Hit is one found record.
type Hit struct {
	ID         string
	Similarity float64 // cosine, -1..1
}

// Store holds records and searches them. Searches may lag behind writes by a
// few seconds: a new record may be missing, a deleted or replaced one may
// still show. Writes to one id must not overlap.
type Store interface {
	// Insert adds records whose ids the store has never held.
	Insert(ctx context.Context, records []Record) error
	// Replace makes the records the only ones under their ids, whatever was
	// there. Repeating it changes nothing.
	Replace(ctx context.Context, records []Record) error
	// Delete removes the records of these ids; unknown ids are ignored.
	Delete(ctx context.Context, ids []string) error
	// Search returns the nearest records, most similar first, ties by id.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Scan calls f with the stored records after the given id ("" for the
	// first), in id order, without embeddings, at most limit of them, as of
	// every write acknowledged before the call.
	Scan(ctx context.Context, after string, limit int, f func(Record) error) error
	// DeleteOwner removes every record of an owner, from a collection that a
	// Rebuild is filling or has left over too, and returns how many it found
	// there as of every write acknowledged before the call.
	DeleteOwner(ctx context.Context, owner memory.Owner) (int, error)
	// CountOwner counts what DeleteOwner would find.
	CountOwner(ctx context.Context, owner memory.Owner) (int, error)
	// Ping answers nil when the store serves searches. ErrGone: it has no collection.
	Ping(ctx context.Context) error
	Close() error
}

// Writer is the writing part of a Store.
type Writer interface {
	Insert(ctx context.Context, records []Record) error
	Replace(ctx context.Context, records []Record) error
	Delete(ctx context.Context, ids []string) error
}

// Rebuilder is a store that can be filled anew while it serves.
type Rebuilder interface {
	// Rebuild makes an empty collection beside the one in use, has fill write
	// to it, and then puts it in the other's place in one step; the other is
	// dropped. Until that step searches, scans and writes, this process' and
	// others', keep to the old one; from it on, they keep to the new one, where
	// searches show all that fill wrote. An error of fill is returned as it is,
	// and leaves everything as it was. Of several rebuilds at once, in whatever
	// processes, the one that began last wins and the others fail.
	Rebuild(ctx context.Context, fill func(ctx context.Context, into Writer) error) error
}

// Remote is a store in a process of its own: asking it takes longer than comparing
// a few vectors that are at hand.
type Remote interface {
	// Healthy reports, without asking, whether the store can be expected to answer.
	Healthy() bool
}

// Leader is a store that people find by a name of its own: Lead makes that name
// mean this space.
type Leader interface {
	Lead(ctx context.Context) error
}

// Dropper is a store that can be deleted with all it holds, which also closes it.
type Dropper interface {
	Drop(ctx context.Context) error
}

// ErrGone is in errors about a collection that is not there, such as one that was
// dropped: nothing shows up in it until somebody makes it again.
var ErrGone = errors.New("the collection of vectors is gone, and is made again in a moment")

// Mender is a store whose collection can vanish while it serves.
type Mender interface {
	// Ensure makes what is absent, dropped or released serve again.
	Ensure(ctx context.Context) error
	// Losses counts how often this process found the collection absent and made
	// an empty one, at its opening or later: after each, everything that was
	// pushed before is to be pushed again.
	Losses() int
}
