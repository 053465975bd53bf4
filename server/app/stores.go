package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/postgres"
	"hippocampus/db/sqlite"
	"hippocampus/db/zones"
	"hippocampus/ingest/policy"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/guard"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/pgvector"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/reembed"
	"hippocampus/vectorstore/sqlitevec"
)

// stores are the record, the vector store, and the services that keep them equal.
type stores struct {
	record      *database
	vectors     *guard.Store
	unguarded   vectorstore.Store // for readiness
	embedder    *reembed.Switch   // of the space that serves
	pusher      projection.Pusher
	projection  *projection.Maintenance
	reembedding *reembed.Service
	zones       *zones.Service  // of users
	policies    *policy.Service // of apps

	vectorsName  string // for people
	embedderNote string
}

func openStores(ctx context.Context, b base, wrap Wrap, record *database, m *models) (*stores, error) {
	spaces, embedder, err := openSpaces(ctx, b, record, m)
	if err != nil {
		return nil, err
	}
	var vectors vectorstore.Store = embedder.Vectors()
	if wrap != nil {
		record.Store, vectors = wrap(record.Store, vectors)
	}
	guarded := guard.New(vectors)
	b.life.onStop("vector store", func(context.Context) error { return guarded.Close() })

	log := b.log.Named("projection")
	push := projection.New(record, guarded, ProjectionSettings(b.cfg, b.pace), b.now, log)
	push.SetSpace(embedder.Space)
	maintenance := projection.NewMaintenance(record, vectors, push, b.now, log)
	reembedding, note, err := startReembedding(ctx, b, record, spaces, embedder, push, maintenance)
	if err != nil {
		return nil, err
	}
	if m.awaited != nil {
		b.life.run("awaited embedder", func(ctx context.Context) {
			m.awaited.run(ctx, func(ctx context.Context, e llm.Embedder) error {
				spaces.configure(e)
				_, err := reembedding.Begin(ctx, llm.SpaceOf(e))
				return err
			})
		})
	}
	if err := startVectors(ctx, b, maintenance); err != nil {
		return nil, fmt.Errorf("vector store: %w", err)
	}
	b.life.run("leases", voidLeases{records: record, longest: longestLeases(b.cfg.Jobs.Lease), now: b.now, log: log}.run)
	b.life.run("repair", maintenance.Run)
	b.life.run("projection", push.Run)
	s := &stores{
		record: record, vectors: guarded, unguarded: vectors, embedder: embedder, pusher: push,
		projection: maintenance, reembedding: reembedding, vectorsName: spaces.vectorsName, embedderNote: note,
		zones: zones.New(record, zoneOf(b.cfg), b.now), policies: policy.New(record, b.now),
	}
	if inOneDatabase(b.cfg) {
		s.pusher = projection.NoopPusher{}
	}
	return s, nil
}

// startVectors makes the vector store serve. A Milvus that is unavailable, or is
// still loading after the timeout of a call, is waited for in the background.
func startVectors(ctx context.Context, b base, maintenance *projection.Maintenance) error {
	var wait time.Duration
	if !inOneDatabase(b.cfg) && b.cfg.Milvus.Host != "" {
		wait = vectorCallTimeout(b.cfg)
	}
	err := b.waitFor("the vector store", func() error { return maintenance.Start(ctx, wait) })
	if wait > 0 && memory.IsKind(err, memory.KindUnavailable) {
		return nil // the banner and the log name the part
	}
	return err
}

// database is an open database with its job runner.
type database struct {
	db.Store
	name   string // for people
	runner func(jobs.Options, ...jobs.Handler) (*jobs.Runner, error)
}

// openRecord opens the database of a server.
func openRecord(ctx context.Context, b base) (*database, error) {
	record, err := openDatabase(ctx, b.cfg, b.log)
	if err != nil {
		return nil, err
	}
	b.life.onStop("database", func(context.Context) error { return record.Close() })
	if b.cfg.Database.Migrate {
		if err := record.Migrate(ctx); err != nil {
			return nil, fmt.Errorf("migrate the database: %w", err)
		}
	}
	if err := record.Ping(ctx); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return record, nil
}

// withDatabase opens the database for a command. The database must exist, with
// the schema of this version.
func withDatabase(ctx context.Context, cfg config.Config, log *zap.Logger, f func(*database) error) (err error) {
	if cfg.Database.URL == "" {
		path := filepath.Join(cfg.Data, databaseFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return memory.Errorf(memory.KindNotFound, "there is no database file %s: name its folder with --data DIR "+
				"or a Postgres with DATABASE_URL, or make the file with `hippocampus migrate`", path)
		}
	}
	record, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.Close()) }()
	if err := record.Ping(ctx); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return f(record)
}

// databaseFile is the SQLite database in the data folder.
const databaseFile = "hippocampus.db"

// openDatabase opens Postgres if a URL is set, else SQLite in the data folder.
func openDatabase(ctx context.Context, cfg config.Config, log *zap.Logger) (*database, error) {
	if cfg.Database.URL != "" {
		options := postgres.Options{
			URL: cfg.Database.URL, MaxConns: int32(cfg.Database.MaxConns), Timeout: cfg.Database.Timeout,
			Logger: slogOf(log, "postgres"),
		}
		if inOneDatabase(cfg) {
			options.Vectors = pgvector.InTransaction{}
		}
		store, err := postgres.Open(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("database: %w", err)
		}
		return &database{store, "Postgres", func(o jobs.Options, h ...jobs.Handler) (*jobs.Runner, error) {
			return jobs.New(store.Driver(), o, h...)
		}}, nil
	}
	path, err := dataFile(cfg, databaseFile)
	if err != nil {
		return nil, err
	}
	warnOfWideFolder(cfg.Data, log)
	store, err := sqlite.Open(ctx, sqlite.Options{Path: path, Logger: slogOf(log, "sqlite")})
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return &database{store, "SQLite in " + path, func(o jobs.Options, h ...jobs.Handler) (*jobs.Runner, error) {
		return jobs.New(store.Driver(), o, h...)
	}}, nil
}

// inOneDatabase reports whether memories and vectors are in one Postgres and are
// written in one transaction.
func inOneDatabase(cfg config.Config) bool {
	return cfg.Vectors == "pgvector" || cfg.Milvus.Host == "" && cfg.Database.URL != ""
}

// openVectors connects to the vector store of a space and makes it serve.
func openVectors(ctx context.Context, cfg config.Config, space vectorstore.Space, log *zap.Logger) (
	store vectorstore.Store, name string, err error) {
	store, name, err = connectVectors(ctx, cfg, space, log)
	if err != nil {
		return nil, "", err
	}
	if remote, ok := store.(*milvus.Store); ok {
		if err := remote.Ensure(ctx); err != nil {
			return nil, "", errors.Join(fmt.Errorf("vector store: %w", err), store.Close())
		}
	}
	return store, name, nil
}

// connectVectors opens the vector store of a space, without a request to a store in another
// process: Milvus if a host is set, else the Postgres of the record, else sqlite-vec in the
// data folder.
func connectVectors(ctx context.Context, cfg config.Config, space vectorstore.Space, log *zap.Logger) (
	store vectorstore.Store, name string, err error) {
	switch {
	case inOneDatabase(cfg):
		warnOfUnusedFile(cfg, space, log)
		store, name, err = openPgvector(ctx, cfg, space)
	case cfg.Milvus.Host != "":
		addr := fmt.Sprintf("%s:%d", cfg.Milvus.Host, cfg.Milvus.Port)
		name = fmt.Sprintf("Milvus at %s, collection %s", addr, cfg.Milvus.Collection)
		store, err = milvus.Connect(ctx, milvus.Options{
			Addr: addr, User: cfg.Milvus.User, Password: cfg.Milvus.Password,
			Token: cmp.Or(cfg.Milvus.Token, cfg.Milvus.APIKey), TLS: milvusTLS(cfg.Milvus.TLS),
			Collection: cfg.Milvus.Collection, Space: space, Index: cfg.Milvus.Index,
			Partitions: cfg.Milvus.Partitions, Timeout: vectorCallTimeout(cfg), Logger: log,
		})
	default:
		var path string
		if path, err = dataFile(cfg, sqlitevec.FileName(space)); err != nil {
			return nil, "", err
		}
		name = "sqlite-vec in " + path
		store, err = sqlitevec.Open(ctx, sqlitevec.Options{Path: path, Space: space, CacheBytes: sqlitevec.CacheBytes})
	}
	if err != nil {
		return nil, "", fmt.Errorf("vector store: %w", err)
	}
	return store, name, nil
}

func milvusTLS(set config.TLS) *milvus.TLS {
	if !set.Enabled {
		return nil
	}
	return &milvus.TLS{
		CAFile: set.CAFile, ServerName: set.ServerName, CertFile: set.CertFile, KeyFile: set.KeyFile,
	}
}

// openPgvector opens the vectors in the Postgres of the record.
func openPgvector(ctx context.Context, cfg config.Config, space vectorstore.Space) (
	store vectorstore.Store, name string, err error) {
	opened, err := pgvector.Open(ctx, pgvector.Options{
		URL: cfg.Database.URL, Space: space, Index: cfg.Pgvector.Index, Exact: comparedExactly,
		MaxConns: int32(cfg.Database.MaxConns), Timeout: vectorCallTimeout(cfg), Plain: cfg.Vectors != "pgvector",
	})
	if err != nil {
		return nil, "", err
	}
	name = "pgvector in the same database, written with the memories"
	if opened.Plain() {
		name = "the same database, written with the memories; this server compares all vectors of a user\n" +
			"                (for users with over 10,000 memories: CREATE EXTENSION vector, hippocampus rebuild, restart)"
	}
	return opened, name, nil
}

// dataFile returns the path of a file in the data folder, which it creates.
func dataFile(cfg config.Config, name string) (string, error) {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return "", fmt.Errorf("make the data folder (choose another with --data DIR): %w", err)
	}
	return filepath.Join(cfg.Data, name), nil
}
