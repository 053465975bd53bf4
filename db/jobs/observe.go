package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"

	"hippocampus/db"
	"hippocampus/internal/tracing"
)

// observer makes a span of each attempt at a job, with a link to the span that enqueued it, and logs failed attempts
// within it.
type observer struct {
	river.MiddlewareDefaults
	log *slog.Logger
}

// Work implements rivertype.WorkerMiddleware.
func (o *observer) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) (err error) {
	if tracing.Provider(ctx) == nil {
		return work(ctx)
	}
	var origin db.JobOrigin
	_ = json.Unmarshal(job.Metadata, &origin) // without an origin, the span has no link
	ctx, s := tracing.Root(ctx, "job "+job.Kind, tracing.FromHeader(origin.Parent))
	s.SetAttributes(attribute.Int64("hippocampus.job.id", job.ID), attribute.Int("hippocampus.job.attempt", job.Attempt))
	err = work(ctx)
	var snoozed *rivertype.JobSnoozeError
	if errors.As(err, &snoozed) {
		s.End()
		return err
	}
	if err != nil {
		o.log.WarnContext(ctx, "an attempt at a job failed", "kind", job.Kind, "job_id", job.ID, "error", err,
			"trace_id", s.SpanContext().TraceID(), "span_id", s.SpanContext().SpanID())
	}
	tracing.End(s, err)
	return err
}
