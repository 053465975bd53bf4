package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hippocampus/cmd/bench/measure"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
)

// Size is one of the sizes of the server.
type Size string

// The sizes.
const (
	Small    Size = "sqlite"
	Large    Size = "postgres+milvus"
	Pgvector Size = "pgvector"
)

// Stores are the stores of one measured server. The small size has only a folder.
type Stores struct {
	Database   string // URL, with the schema's search path
	Milvus     string // HOST:PORT
	Collection string // alias

	settings []string
	schema   string
	server   string // the database's URL without the schema
	folder   string // of SQLite
}

// Processes are the processes of the stores on this machine, by name. They also serve
// other schemas and collections.
func (s *Stores) Processes() (map[string]measure.Process, error) {
	found := map[string]measure.Process{}
	if s.schema == "" {
		return found, nil
	}
	u, err := url.Parse(s.server)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	for name, address := range map[string]string{
		"Postgres": net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "5432")), "Milvus": s.Milvus,
	} {
		tcp, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !tcp.IP.IsLoopback() {
			continue
		}
		process, err := measure.Listener(tcp.Port)
		if err != nil {
			return nil, err
		}
		if process != 0 {
			found[name] = process
		}
	}
	return found, nil
}

// NewStores creates empty stores: a schema on the Postgres of DATABASE_URL, for the large
// size with an alias on the Milvus of MILVUS_HOST and MILVUS_PORT, or a folder. The caller
// must drop them.
func NewStores(ctx context.Context, size Size, folder string) (*Stores, error) {
	if size == Small {
		return &Stores{settings: []string{"HIPPOCAMPUS_DATA=" + folder}, folder: folder}, nil
	}
	s := &Stores{server: os.Getenv("DATABASE_URL")}
	host, port := os.Getenv("MILVUS_HOST"), os.Getenv("MILVUS_PORT")
	if s.server == "" || size == Large && (host == "" || port == "") {
		return nil, errors.New("DATABASE_URL, MILVUS_HOST and MILVUS_PORT are not set: run scripts/services up, " +
			`then eval "export $(scripts/services env | xargs)"`)
	}
	id := strings.ReplaceAll(uuid.NewString(), "-", "")
	s.schema = "bench_" + id
	u, err := url.Parse(s.server)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	if err := execute(ctx, s.server, "CREATE SCHEMA "+s.schema); err != nil {
		return nil, err
	}
	query := u.Query()
	query.Set("search_path", s.schema)
	u.RawQuery = query.Encode()
	s.Database = u.String()
	s.settings = []string{"DATABASE_URL=" + s.Database}
	if size == Large {
		s.Collection = s.schema
		s.Milvus = net.JoinHostPort(host, port)
		s.settings = append(s.settings,
			"MILVUS_HOST="+host, "MILVUS_PORT="+port, "MILVUS_MEMORY_COLLECTION="+s.Collection)
	}
	return s, nil
}

// Drop removes the schema, and every collection whose name begins with the alias.
func (s *Stores) Drop() error {
	if s.schema == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := []error{execute(ctx, s.server, "DROP SCHEMA "+s.schema+" CASCADE")}
	if s.Milvus == "" {
		return errs[0]
	}
	milvus, err := client.NewClient(ctx, client.Config{Address: s.Milvus})
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	defer milvus.Close()
	_ = milvus.DropAlias(ctx, s.Collection) // the alias does not exist if the start failed
	collections, err := milvus.ListCollections(ctx)
	errs = append(errs, err)
	for _, c := range collections {
		if strings.HasPrefix(c.Name, s.Collection) {
			errs = append(errs, milvus.DropCollection(ctx, c.Name))
		}
	}
	return errors.Join(errs...)
}

func execute(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("the Postgres of DATABASE_URL does not answer: %w", err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}
