// Package milvus keeps the vector store in Milvus, for many users and replicas:
//
//	records -> Insert | Delete by id, Insert -> collection behind an alias
//	query   -> filtered search at Bounded consistency -> hits
//	scan    -> queries by id at Strong consistency -> records
//
// There is one collection in use for each embedding model and dimension, and an
// alias of the space that leads to it. Milvus itself follows that alias at each
// call, so that all processes change over at once when a rebuild moves it. The
// alias named in the options is for people who look inside: it leads to the
// collection of the space that serves. Made for Milvus 2.3 and later. An upsert is never
// used: with a partition key it loses rows in Milvus 2.3.
package milvus

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Options say where the vectors are and how they are laid out. What concerns
// the layout takes effect when the collection is created.
type Options struct {
	Addr       string            // "host:port"
	Collection string            // the alias; empty: DefaultCollection
	Space      vectorstore.Space // required
	Index      string            // "FLAT" (exact, and the default) or "HNSW" (for few, huge users)
	Partitions int               // that users are hashed to; 0: 256
	Timeout    time.Duration     // of one call; 0: 5 s
	Logger     *zap.Logger       // nil: silent
}

// DefaultCollection is the alias where none is given.
const DefaultCollection = "agent_memories_vectors"

// setupTimeout bounds each step of creating and loading a collection, which
// takes seconds on a busy server.
const setupTimeout = time.Minute

// Store is a vectorstore.Store in Milvus, safe for concurrent use. It
// reconnects by itself.
type Store struct {
	writer
	options  Options
	alias    string        // of the space
	fresh    bool          // the alias led nowhere before Open
	losses   atomic.Int64  // how often it led nowhere
	ensuring chan struct{} // holds a token while Ensure runs
	closed   atomic.Bool

	connection *grpc.ClientConn
}

var (
	_ vectorstore.Store     = (*Store)(nil)
	_ vectorstore.Rebuilder = (*Store)(nil)
	_ vectorstore.Mender    = (*Store)(nil)
	_ vectorstore.Leader    = (*Store)(nil)
	_ vectorstore.Dropper   = (*Store)(nil)
	_ vectorstore.Remote    = (*Store)(nil)
)

// Open connects and ensures that the space has a loaded collection. Errors:
// KindConflict when an alias is taken by something else, KindInvalid when an option is wrong, KindUnavailable when
// Milvus is away.
func Open(ctx context.Context, options Options) (*Store, error) {
	if options.Collection == "" {
		options.Collection = DefaultCollection
	}
	if options.Index == "" {
		options.Index = "FLAT"
	}
	if options.Partitions == 0 {
		options.Partitions = 256
	}
	if options.Timeout == 0 {
		options.Timeout = 5 * time.Second
	}
	if options.Logger == nil {
		options.Logger = zap.NewNop()
	}
	if options.Space.Model == "" || options.Space.Dim < 1 {
		return nil, memory.Errorf(memory.KindInvalid, "opening Milvus: the space has no model or no dimension: ask the embedder for both")
	}

	// Without the SDK's greeting nothing blocks or fails here for a server that is away.
	c, err := client.NewClient(ctx, client.Config{Address: options.Addr, DisableConn: true, DialOptions: dialOptions(options.Timeout)})
	if err != nil {
		return nil, memory.Errorf(memory.KindInvalid, "the Milvus address %q is not of the form host:port: %w", options.Addr, err)
	}
	s := &Store{options: options, alias: aliasOf(options.Collection, options.Space), ensuring: make(chan struct{}, 1)}
	if grpc, ok := c.(*client.GrpcClient); ok {
		s.connection = grpc.Conn
	}
	s.writer = writer{c, options.Space, s.ensured}
	if s.fresh, err = s.ensure(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Space is the embedding space of the vectors.
func (s *Store) Space() vectorstore.Space { return s.options.Space }

// Fresh reports whether Open found nothing behind the alias and created the
// collection: it holds nothing that was pushed earlier, so that everything is
// to be pushed again. Of processes that open at once, several may say so. A
// collection that is dropped and ensured later does not change it.
func (s *Store) Fresh() bool { return s.fresh }

// Losses counts how often Open and Ensure found nothing behind the alias.
func (s *Store) Losses() int { return int(s.losses.Load()) }

// Ping queries the collection. KindUnavailable: Milvus is away, or still
// loading, or the collection has been dropped or released; Ensure mends these.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "pinging the vector collection", func(ctx context.Context, collection string) error {
		_, err := s.client.Query(ctx, collection, nil, fieldID+` == ""`, []string{fieldID}, eventually)
		return err
	})
}

// Healthy reports whether there is a connection. A call makes a new one.
func (s *Store) Healthy() bool { return s.connection.GetState() == connectivity.Ready }

// Close ends the connection. Calls under way, and all later ones, fail.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.client.Close()
}
