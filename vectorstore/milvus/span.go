package milvus

import (
	"context"
	"path"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"hippocampus/internal/tracing"
)

// traceCall makes a span of a call within a span, and sends its name to Milvus. Milvus reports most errors in answers
// that are successful for gRPC, which is why this interceptor stands around checkAnswer.
func traceCall(
	ctx context.Context, method string, request, answer any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	ctx, s := tracing.Start(ctx, "milvus "+path.Base(method), trace.WithSpanKind(trace.SpanKindClient))
	if s.IsRecording() {
		s.SetAttributes(attribute.String("rpc.system.name", "grpc"), attribute.String("rpc.method", method[1:]),
			attribute.String("db.system.name", "milvus"), attribute.String("server.address", conn.Target()))
		ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", tracing.Header(ctx))
	}
	err := invoke(ctx, method, request, answer, conn, opts...)
	tracing.End(s, err)
	return err
}
