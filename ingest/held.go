package ingest

import (
	"context"
	"sync"
	"time"

	"hippocampus/internal/memory"
)

// longestHold is the longest time for which AcceptHeld keeps a turn from its worker.
const longestHold = 100 * time.Millisecond

// AcceptHeld is Accept, but a worker that was idle begins with the turn when start is called, or after longestHold. It
// leaves the processors to what the caller does first. start is never nil, and may be called again.
func (s *Service) AcceptHeld(ctx context.Context, turn memory.Turn) (
	stored memory.Turn, fresh bool, start func(), err error,
) {
	stored, fresh, start, err = s.accept(ctx, turn)
	start = sync.OnceFunc(start)
	time.AfterFunc(longestHold, start)
	return stored, fresh, start, err
}
