// Package milvus is the vector store in Milvus, for many users and replicas:
//
//	records -> Insert | Delete by id, Insert -> collection behind an alias
//	query   -> filtered search at Bounded consistency -> hits
//	scan    -> queries by id at Strong consistency -> records
//
// Each embedding space has one collection in use and an alias that points to it.
// Milvus resolves the alias in each call, so that all processes change over at
// once if a rebuild moves it. The alias named in the options, the public alias,
// is for people who inspect Milvus: it points to the collection of the serving
// space. The package supports Milvus 2.3 and later. It never uses an upsert,
// which loses rows of collections with a partition key in Milvus 2.3.
package milvus

import (
	"context"
	"crypto/tls"
	"sync/atomic"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Options of a store. Index and Partitions take effect when a collection is created.
type Options struct {
	Addr       string            // "host:port"
	User       string            // with Password; empty: no authentication, unless Token is set
	Password   string            //
	Token      string            // instead of User: "user:password" or an API key
	TLS        *TLS              // nil: no TLS
	Collection string            // the public alias; empty: DefaultCollection
	Space      vectorstore.Space // required
	Index      string            // "FLAT" (exact, and the default) or "HNSW" (for few, huge users)
	Partitions int               // partitions that users are hashed to; 0: 256
	Timeout    time.Duration     // of one call; 0: 5 s
	Logger     *zap.Logger       // nil: silent
}

// DefaultCollection is the default public alias.
const DefaultCollection = "agent_memories_vectors"

// setupTimeout bounds each step of creating and loading a collection, which
// takes seconds on a busy server.
const setupTimeout = time.Minute

// Store is a vectorstore.Store in Milvus, safe for concurrent use. It
// reconnects automatically.
type Store struct {
	writer
	options  Options
	alias    string        // alias of the space
	tls      *tls.Config   // nil: no TLS
	losses   atomic.Int64  // how often Ensure found no collection
	ensuring chan struct{} // holds a token while Ensure runs
	closed   atomic.Bool

	connection *grpc.ClientConn
}

var (
	_ vectorstore.Store     = (*Store)(nil)
	_ vectorstore.Rebuilder = (*Store)(nil)
	_ vectorstore.Ensurer   = (*Store)(nil)
	_ vectorstore.Aliaser   = (*Store)(nil)
	_ vectorstore.Dropper   = (*Store)(nil)
	_ vectorstore.Remote    = (*Store)(nil)
)

// Open connects and ensures that the space has a loaded collection. Errors:
// KindConflict if an alias points to a collection of another program or space,
// KindInvalid if an option is wrong, KindUnavailable if Milvus is unavailable.
func Open(ctx context.Context, options Options) (*Store, error) {
	s, err := Connect(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := s.Ensure(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Connect makes a store without asking Milvus, which may be unavailable. Searches
// fail with KindUnavailable until Ensure has succeeded once, in any process. Errors:
// KindInvalid if an option is wrong.
func Connect(ctx context.Context, options Options) (*Store, error) {
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
		return nil, memory.Errorf(memory.KindInvalid,
			"opening Milvus: the space has no model or no dimension: ask the embedder for both")
	}

	security, err := options.TLS.config()
	if err != nil {
		return nil, err
	}
	// DisableConn skips the SDK's first request, which would block if Milvus is unavailable.
	c, err := client.NewClient(ctx, client.Config{
		Address: options.Addr, Username: options.User, Password: options.Password, APIKey: options.Token,
		DisableConn: true, DialOptions: dialOptions(options.Timeout, transport(security)),
	})
	if err != nil {
		return nil, memory.Errorf(memory.KindInvalid, "the Milvus address %q is not of the form host:port: %w",
			options.Addr, err)
	}
	s := &Store{
		options: options, alias: aliasOf(options.Collection, options.Space), tls: security, ensuring: make(chan struct{}, 1),
	}
	if grpc, ok := c.(*client.GrpcClient); ok {
		s.connection = grpc.Conn
	}
	s.writer = writer{client: c, space: options.Space, collection: s.alias, call: s.callLoaded}
	return s, nil
}

// Losses counts how often Open and Ensure found no collection. If several
// processes open the store at once, each of them may count a loss.
func (s *Store) Losses() int { return int(s.losses.Load()) }

// Ping queries the collection. It returns an error of KindUnavailable if Milvus
// is unavailable or loading, or if the collection was dropped or released; Ensure
// repairs the latter two.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "pinging the vector collection", func(ctx context.Context) error {
		_, err := s.client.Query(ctx, s.alias, nil, fieldID+` == ""`, []string{fieldID}, eventually)
		return err
	})
}

// Healthy reports whether the store is connected. Any call reconnects.
func (s *Store) Healthy() bool { return s.connection.GetState() == connectivity.Ready }

// Close ends the connection. Calls under way and all later calls fail.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.client.Close()
}
