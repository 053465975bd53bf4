package tracing

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hippocampus/internal/memory"
)

func TestStart_DoesNothingWithoutASpan(t *testing.T) {
	never := trace.NewTracerProvider(trace.WithSampler(trace.NeverSample()))
	unsampled, _ := Root(With(context.Background(), never), "root", api.SpanContext{})
	for name, ctx := range map[string]context.Context{"no provider": context.Background(), "not sampled": unsampled} {
		allocated := testing.AllocsPerRun(100, func() {
			_, span := Start(ctx, "child")
			End(span, nil)
		})
		if allocated > 0 {
			t.Errorf("%s: a span allocates %v times", name, allocated)
		}
	}
	if ctx, span := Root(context.Background(), "root", api.SpanContext{}); span.IsRecording() || Header(ctx) != "" {
		t.Errorf("a root without a provider is recorded, with the header %q", Header(ctx))
	}
}

func TestRoot_HasALinkToItsCauseAndTheKindOfItsError(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	ctx := With(context.Background(), trace.NewTracerProvider(trace.WithSpanProcessor(recorder)))
	request, asking := Root(ctx, "request", api.SpanContext{})
	_, work := Root(ctx, "work", FromHeader(Header(request)))
	End(work, memory.Errorf(memory.KindUnavailable, "what Ada said"))
	asking.End()
	ended := recorder.Ended()[0]
	if links := ended.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != asking.SpanContext().SpanID() ||
		ended.Parent().IsValid() {
		t.Errorf("the links are %v, the parent is %v", links, ended.Parent())
	}
	if a := ended.Attributes(); len(a) != 1 || a[0].Value.AsString() != "unavailable" || ended.Status().Description != "" {
		t.Errorf("the attributes are %v, the status is %v", a, ended.Status())
	}
	if FromHeader("00-nothing-01").IsValid() {
		t.Error("a malformed header names a span")
	}
}

func TestLog_NamesTheSpan(t *testing.T) {
	t.Parallel()
	core, logged := observer.New(zap.InfoLevel)
	log := zap.New(core)
	ctx, span := Root(With(t.Context(), trace.NewTracerProvider()), "work", api.SpanContext{})
	log.Info("within", Log(ctx))
	log.Info("without", Log(t.Context()))
	within, without := logged.All()[0].ContextMap(), logged.All()[1].ContextMap()
	if within["trace_id"] != span.SpanContext().TraceID().String() ||
		within["span_id"] != span.SpanContext().SpanID().String() || len(without) != 0 {
		t.Errorf("logged %v and %v", within, without)
	}
}
