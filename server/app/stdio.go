package app

import (
	"context"
	"errors"
	"io"

	"hippocampus/internal/memory"
	"hippocampus/server/config"
	"hippocampus/server/mcp"
)

// ServeMCP serves the Model Context Protocol to one client over in and host.Out, which carries nothing else, until the
// input ends or ctx is done. There is no HTTP server. The client may read and write the memories of the default app:
// those of a user, or of all users if user is empty.
func ServeMCP(ctx context.Context, cfg config.Config, host Host, in io.ReadCloser, user string) (err error) {
	if why := memory.CheckID(user, true); why != "" {
		return memory.Invalid(memory.Field{Path: "user", Message: why})
	}
	log := newLog(cfg.Log, host.Err)
	defer func() { _ = log.Sync() }()
	life := newLifecycle(log, cfg.API.ShutdownTimeout)
	defer func() { err = errors.Join(err, life.stop()) }()
	shareFolder(ctx, cfg, life, 0) // assistants start several of these at once
	s, err := build(ctx, base{cfg: cfg, pace: host.pace(), now: host.Now, life: life, log: log}, host.Wrap)
	if err != nil {
		return err
	}
	key := memory.Key{ID: "stdio", AppID: DefaultApp, UserID: user, Role: memory.RoleWrite}
	err = mcp.New(s.handler, s.zoneOf, log.Named("mcp")).ServeStdio(ctx, key, in, unclosed{host.Out})
	if ctx.Err() != nil {
		return nil // the process was asked to end
	}
	return err
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
