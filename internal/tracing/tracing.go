// Package tracing makes spans of OpenTelemetry. The context carries what they need, so that no package has a parameter
// for it:
//
//	With(ctx, provider)   -> Root: a span of work that no request waits for
//	context within a span -> Start: its children
//
// Without a provider, and within a span that is not sampled, Start and Root do nothing and allocate nothing. No name
// and no attribute may hold what a user wrote, or who the user is.
package tracing

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hippocampus/internal/memory"
)

// scope names this program as the source of spans.
const scope = "hippocampus"

// noSpan is what Start and Root return if they do nothing.
var noSpan trace.Span = noop.Span{}

type providerKey struct{}

// With returns a context within which Root makes spans of a provider.
func With(ctx context.Context, provider trace.TracerProvider) context.Context {
	return context.WithValue(ctx, providerKey{}, provider)
}

// Provider returns the provider of With, or nil.
func Provider(ctx context.Context) trace.TracerProvider {
	provider, _ := ctx.Value(providerKey{}).(trace.TracerProvider)
	return provider
}

// Start starts a child of the span of ctx. End ends it.
func Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, noSpan
	}
	return parent.TracerProvider().Tracer(scope).Start(ctx, name, options...)
}

// Root starts a span without a parent. It has a link to the span that caused the work, if cause is valid. End ends it.
func Root(ctx context.Context, name string, cause trace.SpanContext) (context.Context, trace.Span) {
	provider := Provider(ctx)
	if provider == nil {
		return ctx, noSpan
	}
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer)}
	if cause.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: cause}))
	}
	return provider.Tracer(scope).Start(ctx, name, options...)
}

// End ends a span, which has failed if err is not nil.
func End(s trace.Span, err error) {
	Fail(s, err)
	s.End()
}

// Fail marks a span as failed if err is not nil. The span has the kind of the error, not its text, which may quote a
// user.
func Fail(s trace.Span, err error) {
	if err != nil && s.IsRecording() {
		s.SetStatus(codes.Error, "")
		s.SetAttributes(attribute.String("error.type", string(memory.KindOf(err))))
	}
}

// Log returns a field of a log line that names the span of ctx, if it has one.
func Log(ctx context.Context) zap.Field {
	current := trace.SpanContextFromContext(ctx)
	if !current.IsValid() {
		return zap.Skip()
	}
	return zap.Inline(zapcore.ObjectMarshalerFunc(func(line zapcore.ObjectEncoder) error {
		line.AddString("trace_id", current.TraceID().String())
		line.AddString("span_id", current.SpanID().String())
		return nil
	}))
}

// parentHeader is the header of W3C Trace Context that names a span.
const parentHeader = "traceparent"

// Header returns the traceparent header of the span of ctx, or "".
func Header(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[parentHeader]
}

// FromHeader returns the span that a traceparent header names. The span is not valid if the header is not.
func FromHeader(header string) trace.SpanContext {
	carrier := propagation.MapCarrier{parentHeader: header}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

// Observe records a value in a histogram. Within a sampled span, its trace is the exemplar of the value.
func Observe(ctx context.Context, histogram prometheus.Observer, value float64) {
	current := trace.SpanContextFromContext(ctx)
	exemplar, ok := histogram.(prometheus.ExemplarObserver)
	if !current.IsSampled() || !ok {
		histogram.Observe(value)
		return
	}
	exemplar.ObserveWithExemplar(value, prometheus.Labels{"trace_id": current.TraceID().String()})
}
