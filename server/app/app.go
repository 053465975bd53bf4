// Package app builds the server from the other packages and runs it:
//
//	config -> record -> models -> stores -> reading -> writing -> maintenance -> API
//
// Parts start in that order and stop in the reverse: requests are drained, then
// jobs, then touches and pushes are flushed, then the stores are closed.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"hippocampus/db"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
)

// Host has the parts of the process that the server uses.
type Host struct {
	Out io.Writer // for the banner and the results of commands
	Err io.Writer // for the log
	Now func() time.Time
	// OnProgress is called during Verify and Rebuild with the name of the step and its number of memories so far. It may
	// be nil.
	OnProgress func(what string, memories int)

	Pace Pace // for tests; zero: that of an installation
	Wrap Wrap // for tests; may be nil
}

// pace is Pace, or that of an installation.
func (h Host) pace() Pace {
	if h.Pace == (Pace{}) {
		return standardPace
	}
	return h.Pace
}

// Wrap puts a layer between the server and its stores, which injects faults. The
// vector store that it returns implements the same optional interfaces as the
// given one (Rebuilder, Ensurer).
type Wrap func(db.Store, vectorstore.Store) (db.Store, vectorstore.Store)

// Run serves until ctx is done, then shuts down in order. It returns an error if
// the server could not start or could not shut down cleanly.
func Run(ctx context.Context, cfg config.Config, host Host) (err error) {
	log := newLog(cfg.Log, host.Err)
	defer func() { _ = log.Sync() }()
	life := newLifecycle(log, cfg.API.ShutdownTimeout)
	defer func() { err = errors.Join(err, life.stop()) }()

	if ctx, err = withTraces(ctx, life); err != nil {
		return err
	}
	life.ctx = ctx
	for _, sentence := range cfg.Unread {
		log.Warn(sentence)
	}
	early, err := listen(cfg.Listen) // before anything is created
	if err != nil {
		return err
	}
	if err := early.Close(); err != nil { // no client waits while the server is built
		return err
	}
	shareFolder(ctx, cfg, life, commandTime)
	s, err := build(ctx, base{cfg: cfg, pace: host.pace(), now: host.Now, life: life, log: log}, host.Wrap)
	if err != nil {
		return err
	}
	listener, err := listen(cfg.Listen)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	s.inUse.metrics, err = serveDocuments(life, cfg, s.handler, failed)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	secret := ""
	if !cfg.Dev { // last of what may fail, so that a new key is always shown; before requests, which may have it already
		if secret, err = firstKey(ctx, s.keys, host.Now, cfg.AdminKey, log); err != nil {
			return errors.Join(fmt.Errorf("admin key: %w", err), listener.Close())
		}
	}
	server := serveHTTP(life, "requests", traced(ctx, s.handler), listener, failed)
	server.RegisterOnShutdown(s.handler.Drain)
	printBanner(host.Out, cfg, s.inUse, s.handler.Observe(ctx), secret, listener.Addr().String())

	select {
	case <-ctx.Done():
		log.Info("shutting down: draining requests and jobs")
		return nil
	case err := <-failed:
		return fmt.Errorf("serve HTTP: %w", err)
	}
}

func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another address with --listen HOST:PORT", address, err)
	}
	return listener, nil
}

// serveDocuments serves /metrics and /openapi.yaml at metrics.listen, if that is set, and returns the address.
func serveDocuments(life *lifecycle, cfg config.Config, handler *api.Server, failed chan<- error) (string, error) {
	if cfg.Metrics.Listen == "" {
		return "", nil
	}
	listener, err := net.Listen("tcp", cfg.Metrics.Listen)
	if err != nil {
		return "", fmt.Errorf("listen on %s: %w; choose another address for metrics.listen", cfg.Metrics.Listen, err)
	}
	serveHTTP(life, "metrics", handler.Documents(), listener, failed)
	return listener.Addr().String(), nil
}

// serveHTTP serves until shutdown. failed receives the error of a server that fails.
func serveHTTP(
	life *lifecycle, name string, handler http.Handler, listener net.Listener, failed chan<- error,
) *http.Server {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
	life.onStop(name, func(ctx context.Context) error {
		ctx, cancel := life.drain(ctx)
		defer cancel()
		err := server.Shutdown(ctx)
		if err != nil {
			_ = server.Close()
		}
		<-ended
		return err
	})
	return server
}

// Migrate brings the database's schema to this version.
func Migrate(ctx context.Context, cfg config.Config, host Host) (err error) {
	record, err := openDatabase(ctx, cfg, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.Close()) }()
	if err := record.Migrate(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	_, err = fmt.Fprintf(host.Out, "%s is up to date\n", record.name)
	return err
}

// newLog makes a logger that writes to w.
func newLog(c config.Log, w io.Writer) *zap.Logger {
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		level = zapcore.InfoLevel
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.RFC3339TimeEncoder
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level))
}

// slogOf returns a slog.Logger that writes warnings and errors to log.
func slogOf(log *zap.Logger, name string) *slog.Logger {
	quiet := log.WithOptions(zap.IncreaseLevel(max(zapcore.WarnLevel, log.Level())))
	return slog.New(zapslog.NewHandler(quiet.Core(), zapslog.WithName(name)))
}
