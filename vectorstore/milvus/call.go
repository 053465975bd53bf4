package milvus

import (
	"context"
	"fmt"
	"math"
	"time"

	grpc_retry "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// dialOptions connect in the background and reconnect after a loss. A call fails
// at once while there is no connection, since the caller decides when to retry.
func dialOptions(timeout time.Duration) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(checkAnswer),
		grpc.WithDefaultCallOptions(grpc_retry.Disable(), grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second,
			},
			MinConnectTimeout: timeout,
		}),
		// Keepalive detects a dead peer between calls.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 10 * time.Second, Timeout: timeout, PermitWithoutStream: true,
		}),
	}
}

// call runs one request to Milvus, described by action, with a timeout. Errors:
// KindInvalid if Milvus reports that the request is wrong, else KindUnavailable.
func (s *Store) call(
	ctx context.Context, timeout time.Duration, action string, f func(ctx context.Context) error,
) error {
	if s.closed.Load() {
		return memory.Errorf(memory.KindUnavailable, "%s: the Milvus store is closed", action)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := f(bounded)
	if err == nil {
		return nil
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case bounded.Err() != nil || status.Code(err) == codes.DeadlineExceeded:
		err = fmt.Errorf("no answer within %v (is it overloaded or cut off?): %w", timeout, context.DeadlineExceeded)
	case refusedWith(err, codeCollectionNotFound):
		err = fmt.Errorf("%w: %w", vectorstore.ErrGone, err)
	case status.Code(err) == codes.Unavailable:
		err = fmt.Errorf("no connection (is it running, and is the address right?): %w", err)
	}
	return memory.Errorf(kindOf(err), "%s in Milvus at %s: %w", action, s.options.Addr, err)
}

// read is call for a request that changes nothing. It repeats the call if a
// rebuild moved the alias and dropped the old collection while Milvus worked on it.
func (s *Store) read(ctx context.Context, action string, f func(ctx context.Context) error) error {
	err := s.call(ctx, s.options.Timeout, action, f)
	if isGone(err) {
		err = s.call(ctx, s.options.Timeout, action, f)
	}
	return err
}
