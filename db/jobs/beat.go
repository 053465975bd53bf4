package jobs

import (
	"context"
	"log/slog"
	"time"

	"hippocampus/db"
)

// A process that has been silent for several beats is dead, and other processes begin its jobs again.
const (
	defaultBeat    = 3 * time.Second
	beatsOfSilence = 4
	beatTimeout    = 10 * time.Second
)

// heart notes at intervals that this process works.
type heart struct {
	processes db.Processes
	process   string
	interval  time.Duration
	log       *slog.Logger
	stop      func()
}

// start notes that the process works, at once and then at intervals until stop is called.
func (h *heart) start(ctx context.Context) {
	h.beat(ctx)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	h.stop = func() {
		cancel()
		<-ended
	}
	go func() {
		defer close(ended)
		ticker := time.NewTicker(h.interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				h.beat(ctx)
			}
		}
	}()
}

func (h *heart) beat(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	freed, err := h.processes.Beat(limited, h.process, beatsOfSilence*h.interval)
	switch {
	case err != nil && ctx.Err() == nil:
		h.log.WarnContext(ctx, "could not note that this process works on jobs", "error", err)
	case freed > 0:
		h.log.InfoContext(ctx, "jobs of a process that died are begun again", "jobs", freed)
	}
}
