package milvus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	grpc_retry "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// dialOptions connect in the background and reconnect after a loss. A call fails
// at once while there is no connection, since the caller decides when to retry.
func dialOptions(timeout time.Duration, transport credentials.TransportCredentials) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithChainUnaryInterceptor(traceCall, checkAnswer),
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
	var reason memory.Reason
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case bounded.Err() != nil || status.Code(err) == codes.DeadlineExceeded:
		err = fmt.Errorf("no answer within %v (is it overloaded or cut off?): %w", timeout, context.DeadlineExceeded)
	case refusedWith(err, codeCollectionNotFound):
		err = fmt.Errorf("%w: %w", vectorstore.ErrGone, err)
	default:
		reason, err = s.explain(bounded, err)
	}
	return &memory.Error{
		Kind: kindOf(err), Err: fmt.Errorf("%s in Milvus at %s: %w", action, s.options.Addr, err), Reason: reason,
	}
}

// The pauses before a read is repeated: each is twice the one before, 1.3 s in all.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 640 * time.Millisecond
)

// read is call for a request that changes nothing. It repeats the call if a
// rebuild moved the alias and dropped the old collection while Milvus worked on
// it, and, for about a second, while Milvus moves the collection between its nodes.
func (s *Store) read(ctx context.Context, action string, f func(ctx context.Context) error) error {
	for pause := firstPause; ; pause *= 2 {
		err := s.call(ctx, s.options.Timeout, action, f)
		if !isGone(err) && !isMoving(err) || pause > lastPause {
			return err
		}
		if refusedWith(err, codeCollectionNotFound, codeCollectionNotLoaded) {
			pause = lastPause // a repeat finds the new collection at once, if there is one
			continue
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// The codes of handled Milvus errors (package merr of Milvus 2.3).
const (
	codeCollectionNotFound  = 100
	codeCollectionNotLoaded = 101
	codeIndexNotFound       = 700
	codeParameterInvalid    = 1100
	codeParameterMissing    = 1101
	codeParameterTooLarge   = 1102
	codeAliasExists         = 1602
	codeUnexpected          = 65535 // any error without a code of its own
)

// invalidTexts identify, among the errors of codeUnexpected in Milvus 2.3, those
// of invalid requests. Later versions have codes for most of them.
var invalidTexts = []string{
	"cannot parse expression", "failed to create expr plan", "failed to create query plan", // filters
	"should divide the dim",       // dimension of an inserted vector
	"line_sizeof_",                // dimension of a searched vector
	"invalid dimension",           // dimension of a collection
	"is not a number or infinity", // number of a vector
	"should be in range",          // limit
}

// unsendableTexts identify gRPC's errors about messages that can never be sent.
var unsendableTexts = []string{"message larger than max", "error while marshaling"}

// refusal is an answer of Milvus that reports an error.
type refusal struct {
	code       int32
	legacyCode commonpb.ErrorCode
	reason     string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("Milvus refused it: %s (code %d, %s)", r.reason, r.code, r.legacyCode)
}

// refusedWith reports whether err is a refusal with one of the codes.
func refusedWith(err error, codes ...int32) bool {
	var r *refusal
	return errors.As(err, &r) && slices.Contains(codes, r.code)
}

// releasedTexts identify errors of a query node about a collection that has just
// been released, or was released while the node waited for its newest rows.
// Milvus drops their code on the way to the client.
var releasedTexts = []string{
	"collection not loaded", "partition not loaded", "delegator closed", "channel not available",
}

// isGone reports whether err says that a collection does not exist or does not
// serve, even if that happened while Milvus worked on the call.
func isGone(err error) bool {
	var r *refusal
	return refusedWith(err, codeCollectionNotFound, codeCollectionNotLoaded) ||
		errors.As(err, &r) && r.code == codeUnexpected && containsAny(r.reason, releasedTexts)
}

// movingTexts identify errors about a collection whose node Milvus is about to
// choose, after a load or when a node did not answer in time.
var movingTexts = []string{
	"can not find client of node", "failed to get delegator", "node offline", "node not match",
	"can't find collection name", // while an alias is moved; for a name that does not exist there is a code
}

// isMoving reports whether err says that no node serves the collection at the moment.
func isMoving(err error) bool {
	var r *refusal
	return errors.As(err, &r) && containsAny(r.reason, movingTexts)
}

// kindOf is KindInvalid if repeating the request cannot succeed. It is
// KindUnavailable for all other errors: Milvus may be unavailable, slow, loading,
// moving rows between nodes, limiting the rate, or defective.
func kindOf(err error) memory.Kind {
	var r *refusal
	var invalid bool
	switch {
	case refusedWith(err, codeParameterInvalid, codeParameterMissing, codeParameterTooLarge):
		invalid = true
	case errors.As(err, &r):
		invalid = r.code == codeUnexpected && containsAny(r.reason, invalidTexts)
	default:
		invalid = status.Code(err) == codes.InvalidArgument ||
			containsAny(status.Convert(err).Message(), unsendableTexts)
	}
	if invalid {
		return memory.KindInvalid
	}
	return memory.KindUnavailable
}

func containsAny(s string, texts []string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(s, t) })
}

// checkAnswer turns an answer that reports an error into a refusal. Most calls
// of the SDK look at the legacy error code only.
func checkAnswer(
	ctx context.Context, method string, request, answer any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
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
		return &refusal{code: s.GetCode(), legacyCode: s.GetErrorCode(), reason: s.GetReason()}
	}
	if m, ok := answer.(*milvuspb.MutationResult); ok && len(m.GetErrIndex()) > 0 {
		return &refusal{reason: fmt.Sprintf("%d rows were not written", len(m.GetErrIndex()))}
	}
	return nil
}
