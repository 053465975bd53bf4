package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"hippocampus/internal/tracing"
)

// A failed attempt at a job is logged with the trace of the attempt, and a job that waits is not.
func TestObserver_LogsFailedAttemptsWithTheirTrace(t *testing.T) {
	t.Parallel()
	recorded := tracetest.NewSpanRecorder()
	ctx := tracing.With(t.Context(), trace.NewTracerProvider(trace.WithSpanProcessor(recorded)))
	var log bytes.Buffer
	o := &observer{log: slog.New(slog.NewJSONHandler(&log, nil))}
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	job := &rivertype.JobRow{ID: 7, Kind: "purge", Attempt: 2, Metadata: []byte(`{"traceparent":"` + parent + `"}`)}
	for _, failure := range []error{nil, river.JobSnooze(0), errors.New("the disk is full")} {
		err := o.Work(ctx, job, func(context.Context) error { return failure })
		if !errors.Is(err, failure) {
			t.Errorf("the attempt ends with %v, want %v", err, failure)
		}
	}
	spans := recorded.Ended()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for i, s := range spans {
		if failed := s.Status().Description != "" || s.Status().Code != 0; s.Name() != "job purge" || failed != (i == 2) {
			t.Errorf("span %d is %s, failed: %v", i, s.Name(), failed)
		}
		if links := s.Links(); len(links) != 1 || links[0].SpanContext.TraceID().String() != parent[3:35] {
			t.Errorf("span %d has the links %v", i, links)
		}
	}
	var line struct {
		Message string `json:"msg"`
		Kind    string `json:"kind"`
		JobID   int64  `json:"job_id"`
		Error   string `json:"error"`
		Trace   string `json:"trace_id"`
		Span    string `json:"span_id"`
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil { // which fails for more than one line
		t.Fatalf("%v: %s", err, &log)
	}
	failed := spans[2].SpanContext()
	if line.Message == "" || line.Kind != "purge" || line.JobID != 7 || line.Error != "the disk is full" ||
		line.Trace != failed.TraceID().String() || line.Span != failed.SpanID().String() {
		t.Errorf("the log has %s, and the span is %s", &log, failed.SpanID())
	}
}
