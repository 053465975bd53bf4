package milvus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	grpc_retry "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"hippocampus/internal/memory"
)

// Codes of Milvus errors that are handled (Milvus 2.3, merr).
const (
	codeCollectionNotFound  = 100
	codeCollectionNotLoaded = 101
	codeIndexNotFound       = 700
	codeAliasExists         = 1602
)

// refusal is an answer of Milvus that says no.
type refusal struct {
	code   int32
	old    commonpb.ErrorCode
	reason string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("Milvus refused it: %s (code %d, %s)", r.reason, r.code, r.old)
}

// refusedWith reports whether err is a refusal with one of the codes.
func refusedWith(err error, codes ...int32) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return false
	}
	for _, code := range codes {
		if r.code == code {
			return true
		}
	}
	return false
}

// checkAnswer turns an answer that says no into an error. The SDK looks at the
// old error code alone, in most calls.
func checkAnswer(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := invoke(ctx, method, request, answer, conn, opts...); err != nil {
		return err
	}
	var s *commonpb.Status
	switch a := answer.(type) {
	case *commonpb.Status:
		s = a
	case interface{ GetStatus() *commonpb.Status }:
		s = a.GetStatus()
	}
	if s.GetCode() != 0 || s.GetErrorCode() != commonpb.ErrorCode_Success {
		return &refusal{code: s.GetCode(), old: s.GetErrorCode(), reason: s.GetReason()}
	}
	if m, ok := answer.(*milvuspb.MutationResult); ok && len(m.GetErrIndex()) > 0 {
		return &refusal{reason: fmt.Sprintf("%d rows were not taken", len(m.GetErrIndex()))}
	}
	return nil
}

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
// the one that the alias led to when last looked up.
func (s *Store) call(ctx context.Context, timeout time.Duration, doing string, f func(ctx context.Context, collection string) error) error {
	if s.closed.Load() {
		return memory.Errorf(memory.KindUnavailable, "%s: the Milvus store is closed", doing)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := f(bounded, *s.collection.Load())
	if err == nil {
		return nil
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case bounded.Err() != nil || status.Code(err) == codes.DeadlineExceeded:
		err = fmt.Errorf("no answer within %v (is it overloaded or cut off?): %w", timeout, context.DeadlineExceeded)
	case status.Code(err) == codes.Unavailable:
		err = fmt.Errorf("no connection (is it running, and is the address right?): %w", err)
	}
	return memory.Errorf(memory.KindUnavailable, "%s in Milvus at %s: %w", doing, s.options.Addr, err)
}
