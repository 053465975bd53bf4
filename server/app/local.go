package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
	"hippocampus/server/frame"
)

// Local is a server within this process that no other process can reach.
type Local struct {
	life *lifecycle
	http *http.Client
}

// OpenLocal starts the server on the SQLite files of a data folder, for requests of an admin of the default app. The
// caller closes it. Errors: KindInvalid if the settings name a Postgres or Milvus, KindConflict if another process
// uses the folder.
func OpenLocal(ctx context.Context, cfg config.Config, host Host) (_ *Local, err error) {
	if cfg.Database.URL != "" || cfg.Milvus.Host != "" {
		return nil, memory.Errorf(memory.KindInvalid,
			"the data folder is not in use, since a Postgres or Milvus is configured: name the server with --url")
	}
	log := newLog(cfg.Log, host.Err)
	life := newLifecycle(log, cfg.API.ShutdownTimeout)
	defer func() {
		if err != nil {
			err = errors.Join(err, life.stop())
		}
	}()
	if err := lockFolder(ctx, cfg, life, commandTime); err != nil {
		return nil, err
	}
	s, err := build(ctx, base{cfg: cfg, pace: host.pace(), now: host.Now, life: life, log: log}, host.Wrap)
	if err != nil {
		return nil, err
	}
	key := memory.Key{ID: "local", AppID: DefaultApp, Role: memory.RoleAdmin}
	admitted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handler.ServeHTTP(w, r.WithContext(frame.WithKey(r.Context(), key)))
	})
	connections := newPipes()
	server := serveHTTP(life, "requests", admitted, connections, make(chan error, 1))
	server.RegisterOnShutdown(s.handler.Drain)
	transport := &http.Transport{DialContext: connections.dial}
	life.onStop("connections", func(context.Context) error { transport.CloseIdleConnections(); return nil })
	return &Local{life: life, http: &http.Client{Transport: transport}}, nil
}

// Client returns a client whose requests reach the server, whatever host they name.
func (l *Local) Client() *http.Client { return l.http }

// Close stops the server as the end of its process would.
func (l *Local) Close() error { return l.life.stop() }

// lockFile is the file that a process locks while it uses the data folder.
const lockFile = "hippocampus.db.serving-lock"

// lockFolder marks the data folder as used by this process until it ends. It returns KindConflict if another process
// uses it after the wait. A server on Postgres has no data folder.
func lockFolder(ctx context.Context, cfg config.Config, life *lifecycle, wait time.Duration) error {
	if cfg.Database.URL != "" {
		return nil
	}
	path, err := dataFile(cfg, lockFile)
	if err != nil {
		return err
	}
	unlock, err := sqlite.Lock(ctx, path, wait)
	switch {
	case memory.IsKind(err, memory.KindUnavailable):
		return memory.Errorf(memory.KindConflict, "a server or another command uses the data folder %s: "+
			"give the server's address with --url, or wait until the command ends", cfg.Data)
	case err != nil:
		return err
	}
	life.onStop("folder", func(context.Context) error { return unlock() })
	return nil
}

// shareFolder is lockFolder for servers. A server starts even if another process, such as one that is about to end,
// still uses the folder after the wait.
func shareFolder(ctx context.Context, cfg config.Config, life *lifecycle, wait time.Duration) {
	if err := lockFolder(ctx, cfg, life, wait); err != nil {
		life.log.Warn("another process uses the data folder: searches may miss what it writes", zap.Error(err))
	}
}

// commandTime is how long a server or command waits for a command that uses its folder.
const commandTime = 2 * time.Second

// HasData reports whether the data folder has a database.
func HasData(cfg config.Config) error {
	path := filepath.Join(cfg.Data, databaseFile)
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no database in the folder %s: name another with --data, or give a server's --url",
			cfg.Data)
	}
	return nil
}

// pipes is a listener for connections within the process.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

func newPipes() *pipes {
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case connection := <-p.accepted:
		return connection, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error { p.close(); return nil }

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "local", Net: "pipe"} }
