package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"hippocampus/cmd/bench/target"
	"hippocampus/internal/freeport"
)

// replica is one of the servers under test.
type replica struct {
	server  *target.Server
	address string // the same after each restart
	clock   string // file that shifts the server's clock
}

func (r *replica) start(ctx context.Context, o target.Options) (err error) {
	if err := os.WriteFile(r.clock, nil, 0o600); err != nil {
		return err
	}
	if err := shift(r.clock, 0); err != nil {
		return err
	}
	if r.address, err = freeport.Address(); err != nil {
		return err
	}
	o.Listen = r.address
	o.Settings = append([]string{"CHAOS_CLOCK=" + r.clock}, o.Settings...)
	r.server, err = target.Start(ctx, o)
	return err
}

// restart kills the server, and starts it again after a while.
func (r *replica) restart(ctx context.Context, down time.Duration) error {
	if r.server.Ended() {
		return fmt.Errorf("the server ended by itself:\n%s", r.server.Log())
	}
	r.server.Kill()
	wait(ctx, down)
	return r.ensure(ctx)
}

// ensure starts the server if it does not run. It tries again if the start fails, since
// the stores may be disturbed.
func (r *replica) ensure(ctx context.Context) error {
	var err error
	for attempt := 0; attempt < 20; attempt++ {
		if !r.server.Ended() {
			return nil
		}
		if err = r.server.Run(); err == nil {
			return nil
		}
		if !r.server.Ended() {
			r.server.Kill()
		}
		if !wait(ctx, time.Second) {
			break
		}
	}
	return fmt.Errorf("the server does not start: %w", err)
}
