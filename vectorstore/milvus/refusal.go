package milvus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hippocampus/internal/memory"
)

// Codes of Milvus errors that are handled (Milvus 2.3, merr).
const (
	codeCollectionNotFound  = 100
	codeCollectionNotLoaded = 101
	codeIndexNotFound       = 700
	codeParameterInvalid    = 1100
	codeParameterMissing    = 1101
	codeParameterTooLarge   = 1102
	codeAliasExists         = 1602
	codeUnexpected          = 65535 // whatever has no code of its own
)

// wrongRequest are the words by which Milvus 2.3 tells that a request is wrong
// where the code is codeUnexpected; later versions have codes for most.
var wrongRequest = []string{
	"cannot parse expression", "failed to create expr plan", "failed to create query plan", // filters
	"should divide the dim", "line_sizeof_", "invalid dimension", // vectors of another dimension: inserted, searched, configured
	"is not a number or infinity", // a number of a vector
	"should be in range",          // limits
}

// unsendable are the words of gRPC for a message that never fits the wire.
var unsendable = []string{"message larger than max", "error while marshaling"}

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
	return errors.As(err, &r) && slices.Contains(codes, r.code)
}

// released are the words by which a query node tells what it was just made to
// let go of; on the way to the client their code is lost.
var released = []string{"collection not loaded", "partition not loaded"}

// gone reports whether err says that a collection is not there, or does not
// serve, also where that came about while Milvus worked on the call.
func gone(err error) bool {
	var r *refusal
	return refusedWith(err, codeCollectionNotFound, codeCollectionNotLoaded) ||
		errors.As(err, &r) && r.code == codeUnexpected && containsAny(r.reason, released)
}

// kindOf is KindInvalid for a request that fails however often it is repeated,
// and KindUnavailable for all else: Milvus may be away, slow, loading, moving
// rows between nodes, limiting the rate, or broken inside.
func kindOf(err error) memory.Kind {
	var r *refusal
	var wrong bool
	switch {
	case refusedWith(err, codeParameterInvalid, codeParameterMissing, codeParameterTooLarge):
		wrong = true
	case errors.As(err, &r):
		wrong = r.code == codeUnexpected && containsAny(r.reason, wrongRequest)
	default:
		wrong = status.Code(err) == codes.InvalidArgument || containsAny(status.Convert(err).Message(), unsendable)
	}
	if wrong {
		return memory.KindInvalid
	}
	return memory.KindUnavailable
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
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
