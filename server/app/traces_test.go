package app

import (
	"errors"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestTracesWanted_NeedsAVariable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want bool
		set  map[string]string
	}{
		{false, nil},
		{false, map[string]string{"OTEL_SERVICE_NAME": "memory"}},
		{true, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}},
		{true, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}},
		{true, map[string]string{"OTEL_TRACES_EXPORTER": "console"}},
		{false, map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}},
		{false, map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}},
	} {
		if got := tracesWanted(func(name string) string { return c.set[name] }); got != c.want {
			t.Errorf("%v: %t", c.set, got)
		}
	}
}

// Libraries put paths, addresses and texts of errors into spans, which must not leave the process.
func TestWithoutContents_DropsWhatNamesUsers(t *testing.T) {
	t.Parallel()
	kept := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(withoutContents{kept}))
	_, span := provider.Tracer("test").Start(t.Context(), "GET /v1/users/:user_id")
	span.SetAttributes(attribute.String("url.path", "/v1/users/ada"), attribute.String("client.address", "10.0.0.1"),
		attribute.String("http.route", "/v1/users/:user_id"))
	span.RecordError(errors.New("ada is unknown"))
	span.SetStatus(codes.Error, "ada is unknown")
	span.End()
	got := kept.GetSpans()[0]
	if len(got.Events) != 0 || got.Status.Code != codes.Error || got.Status.Description != "" ||
		len(got.Attributes) != 1 || got.Attributes[0].Key != "http.route" {
		t.Errorf("exported %+v", got)
	}
}
