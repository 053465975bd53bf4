package speed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/target"
)

// overloads sends request n of each kind.
var overloads = map[string]func(ctx context.Context, s *target.Server, data content.Data, n int) error{
	"recall": func(ctx context.Context, s *target.Server, data content.Data, n int) error {
		random := rand.New(rand.NewPCG(uint64(n), 7))
		user, query := data.User(random.IntN(data.Users)), data.Query(random.IntN(queries))
		return s.Call(ctx, "POST", "/v1/recall", map[string]any{"user_id": user, "query": query}, nil)
	},
	"memory": func(ctx context.Context, s *target.Server, data content.Data, n int) error {
		random := rand.New(rand.NewPCG(uint64(n), 13))
		return s.Call(ctx, "POST", "/v1/memories", map[string]any{
			"user_id": data.User(random.IntN(data.Users)), "content": content.Sentence(random, 15), "importance": 0.8,
		}, nil)
	},
	"turn": func(ctx context.Context, s *target.Server, data content.Data, n int) error {
		return sendTurn(ctx, s, data, n, false)
	},
	"turn that waits": func(ctx context.Context, s *target.Server, data content.Data, n int) error {
		return sendTurn(ctx, s, data, n, true)
	},
}

// Overloads are the kinds of requests of an overload.
var Overloads = []string{"recall", "memory", "turn", "turn that waits"}

func sendTurn(ctx context.Context, s *target.Server, data content.Data, n int, wait bool) error {
	random := rand.New(rand.NewPCG(uint64(n), 17))
	return s.Call(ctx, "POST", "/v1/turns", map[string]any{
		"user_id": data.User(random.IntN(data.Users)), "wait": wait, "messages": []map[string]string{
			{"role": "user", "content": "My favourite thing is " + content.Sentence(random, 8)},
		},
	}, nil)
}

// run sends requests for a duration.
func (c *Crowd) run(
	ctx context.Context, while time.Duration, next *atomic.Int64, send func(ctx context.Context, n int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var wait sync.WaitGroup
	begin := time.Now()
	for range c.Clients {
		wait.Go(func() {
			for time.Since(begin) < while && ctx.Err() == nil {
				at := time.Now()
				err := send(ctx, int(next.Add(1)))
				took := time.Since(at)
				var refused *target.Refusal
				isRefused := errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable
				if err != nil && !isRefused {
					cancel(err)
					return
				}
				mu.Lock()
				times := &c.served
				if isRefused {
					times = &c.refused
				}
				times.Latencies = append(times.Latencies, took)
				mu.Unlock()
				if !isRefused || !c.Patient {
					continue
				}
				pause := time.Duration(float64(refused.RetryAfter()) * (1 + rand.Float64()))
				select {
				case <-time.After(min(pause, while-time.Since(begin))):
				case <-ctx.Done():
				}
			}
		})
	}
	wait.Wait()
	took := time.Since(begin)
	c.served.Took += took
	c.refused.Took += took
	return context.Cause(ctx)
}

// settleTurns waits until no turn waits for a worker.
func settleTurns(ctx context.Context, s *target.Server) error {
	for {
		var waiting struct {
			Turns []struct{ ID string } `json:"turns"`
		}
		if err := s.Call(ctx, "GET", "/v1/turns?status=accepted&limit=1", nil, &waiting); err != nil {
			return err
		}
		if len(waiting.Turns) == 0 {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("turns wait for a worker: %w", ctx.Err())
		}
	}
}
