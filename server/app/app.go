// Package app puts the server together and runs it; here alone packages meet:
//
//	config -> database -> embedder -> vector store -> projection, touches,
//	          turns, jobs -> HTTP
//
// Parts start in that order and end in the reverse: requests are drained, then
// jobs, then touches and pushes are flushed, then the stores are closed.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
)

// Host is what the process lends to the server.
type Host struct {
	Out io.Writer // the banner, and what commands print
	Err io.Writer // the log
	Now func() time.Time

	// Wrap stands between the server and its stores; nil: nothing does. Tests
	// put faults there. The vector store that it returns offers what the given
	// one does beyond the contract (Rebuilder, Mender).
	Wrap func(db.Store, vectorstore.Store) (db.Store, vectorstore.Store)
}

// Run serves until the context ends, then shuts down in order. It returns an
// error when the server could not start, or not end cleanly.
func Run(ctx context.Context, cfg config.Config, host Host) (err error) {
	log := newLog(cfg.Log, host.Err)
	defer func() { _ = log.Sync() }()
	life := &lifecycle{log: log}
	defer func() { err = errors.Join(err, life.stop()) }()

	s, err := build(ctx, cfg, host, life, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; choose another with --listen HOST:PORT", cfg.Listen, err)
	}
	failed := serveHTTP(life, s.handler, listener, cfg.API.ShutdownTimeout)
	if !cfg.Dev { // last, so that a key which is made is also shown
		if s.secret, err = firstKey(ctx, s.keys, host.Now, cfg.AdminKey); err != nil {
			return fmt.Errorf("admin key: %w", err)
		}
	}
	printBanner(host.Out, cfg, s, listener.Addr().String())

	select {
	case <-ctx.Done():
		log.Info("shutting down: requests and jobs are drained")
		return nil
	case err := <-failed:
		return fmt.Errorf("serve HTTP: %w", err)
	}
}

// serveHTTP serves until it is stopped; a server that fails says so.
func serveHTTP(life *lifecycle, handler *api.Server, listener net.Listener, drain time.Duration) <-chan error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	server.RegisterOnShutdown(handler.Drain)
	failed := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
	life.onStop("requests", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, drain)
		defer cancel()
		err := server.Shutdown(ctx)
		if err != nil {
			_ = server.Close()
		}
		<-ended
		return err
	})
	return failed
}

// Migrate brings the database's schema to this version.
func Migrate(ctx context.Context, cfg config.Config, host Host) (err error) {
	store, err := openDatabase(ctx, cfg, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(host.Out, "%s is up to date\n", store.name)
	return err
}
