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

// dialOptions connect in the background and again after a loss. A call fails
// at once while there is no connection: whoever calls decides when to retry.
func dialOptions(timeout time.Duration) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(checkAnswer),
		grpc.WithDefaultCallOptions(grpc_retry.Disable(), grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: timeout,
		}),
		// A peer that vanished without a word is found out between calls.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: timeout, PermitWithoutStream: true}),
	}
}

// call runs one exchange with Milvus under the given deadline. collection is
// the alias of the space. Errors: KindInvalid when
// Milvus says that the request is wrong, else KindUnavailable.
func (s *Store) call(ctx context.Context, timeout time.Duration, doing string, f func(ctx context.Context, collection string) error) error {
	if s.closed.Load() {
		return memory.Errorf(memory.KindUnavailable, "%s: the Milvus store is closed", doing)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := f(bounded, s.alias)
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
	return memory.Errorf(kindOf(err), "%s in Milvus at %s: %w", doing, s.options.Addr, err)
}

// read is call for what changes nothing. Where the alias was moved while Milvus
// worked on the call, and the collection of before dropped, it is repeated.
func (s *Store) read(ctx context.Context, doing string, f func(ctx context.Context, collection string) error) error {
	err := s.call(ctx, s.options.Timeout, doing, f)
	if gone(err) {
		err = s.call(ctx, s.options.Timeout, doing, f)
	}
	return err
}
