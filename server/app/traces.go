package app

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// withTraces returns a context with a provider of spans, which are exported as the variables of OpenTelemetry
// (OTEL_...) say. Without such a variable it returns ctx, and starts nothing.
func withTraces(ctx context.Context, life *lifecycle) (context.Context, error) {
	if !tracesWanted(os.Getenv) {
		return ctx, nil
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return ctx, fmt.Errorf("export traces: %w; see the variables OTEL_TRACES_EXPORTER and OTEL_EXPORTER_OTLP_PROTOCOL",
			err)
	}
	described, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "hippocampus"),
			attribute.String("service.instance.id", memory.NewID())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return ctx, fmt.Errorf("describe the server in traces: %w; see OTEL_RESOURCE_ATTRIBUTES", err)
	}
	log := life.log.Named("traces")
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("traces could not be exported", zap.Error(err))
	}))
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(described),
		sdktrace.WithBatcher(withoutContents{exporter}))
	life.onStop("traces", provider.Shutdown)
	return tracing.With(ctx, provider), nil
}

// tracesWanted reports whether a variable of the environment asks for traces. The default of OpenTelemetry, a collector
// on this machine, is used only if OTEL_TRACES_EXPORTER names it.
func tracesWanted(env func(string) string) bool {
	switch exporter := env("OTEL_TRACES_EXPORTER"); {
	case strings.EqualFold(env("OTEL_SDK_DISABLED"), "true"), exporter == "none":
		return false
	case exporter != "":
		return true
	}
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// traced makes a span of each request to a handler if ctx has a provider. The handler names the span. A traceparent
// header of a request names the parent.
func traced(ctx context.Context, handler http.Handler) http.Handler {
	provider := tracing.Provider(ctx)
	if provider == nil {
		return handler
	}
	return otelhttp.NewHandler(handler, "request",
		otelhttp.WithTracerProvider(provider), otelhttp.WithMeterProvider(noop.NewMeterProvider()),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(func(operation string, _ *http.Request) string { return operation }),
		otelhttp.WithFilter(func(r *http.Request) bool {
			return !slices.Contains([]string{"/healthz", "/readyz", "/metrics"}, r.URL.Path)
		}))
}

// withoutContents is an exporter that drops what may hold texts or names of users from spans, since libraries record
// the texts of errors and the paths of requests.
type withoutContents struct{ sdktrace.SpanExporter }

// ExportSpans implements sdktrace.SpanExporter.
func (e withoutContents) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	clean := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		clean[i] = spanWithoutContents{s}
	}
	return e.SpanExporter.ExportSpans(ctx, clean)
}

type spanWithoutContents struct{ sdktrace.ReadOnlySpan }

// Events returns no event: the libraries record errors as events.
func (spanWithoutContents) Events() []sdktrace.Event { return nil }

// Status returns whether the span has failed, without a text.
func (s spanWithoutContents) Status() sdktrace.Status {
	return sdktrace.Status{Code: s.ReadOnlySpan.Status().Code}
}

// personal are the attributes that name users or their machines.
var personal = []attribute.Key{
	"url.path", "url.query", "url.full", "client.address", "network.peer.address", "network.peer.port",
	"user_agent.original", "user.name", "http.request.method_original",
}

// Attributes returns the attributes that name no user.
func (s spanWithoutContents) Attributes() []attribute.KeyValue {
	return slices.DeleteFunc(slices.Clone(s.ReadOnlySpan.Attributes()), func(a attribute.KeyValue) bool {
		return slices.Contains(personal, a.Key)
	})
}
