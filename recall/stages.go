package recall

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"hippocampus/internal/tracing"
)

// stages measures the stages of one recall for Settings.OnStage, makes a span of each, and lists them for an
// explanation.
type stages struct {
	now     func() time.Time
	onStage func(ctx context.Context, stage string, took time.Duration)
	began   time.Time
	listed  bool    // list is wanted
	latest  running // of the stages that follow each other

	mu   sync.Mutex
	list []Stage // by end
}

func (s *Service) stages(listed bool) *stages {
	return &stages{now: s.now, onStage: s.set.OnStage, began: s.now(), listed: listed}
}

// running is a stage that has begun.
type running struct {
	ctx   context.Context // of the work of the stage
	of    *stages         // nil: no stage
	name  string
	start time.Time
	span  trace.Span // nil: the recall has no span
}

// begin begins a stage that runs at the same time as others.
func (m *stages) begin(ctx context.Context, name string) running {
	r := running{ctx: ctx, of: m, name: name, start: m.now()}
	if trace.SpanFromContext(ctx).IsRecording() {
		r.ctx, r.span = tracing.Start(ctx, "recall."+name)
	}
	return r
}

// end ends a stage.
func (r running) end() {
	m := r.of
	if m == nil {
		return
	}
	took := m.now().Sub(r.start)
	if r.span != nil {
		r.span.End()
	}
	if m.onStage != nil {
		m.onStage(r.ctx, r.name, took)
	}
	if m.listed {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.list = append(m.list, Stage{Name: r.name, Start: r.start.Sub(m.began), Took: took})
	}
}

// next ends the stage that the latest call began, and begins another one, whose context it returns.
func (m *stages) next(ctx context.Context, name string) context.Context {
	m.endLatest()
	m.latest = m.begin(ctx, name)
	return m.latest.ctx
}

func (m *stages) endLatest() {
	m.latest.end()
	m.latest = running{}
}

// endSpan ends the span of a recall.
func endSpan(s trace.Span, answer Answer, err error) {
	if s.IsRecording() && err == nil {
		s.SetAttributes(attribute.Int("hippocampus.recall.memories", len(answer.Memories)),
			attribute.Bool("hippocampus.recall.skipped", answer.Skipped),
			attribute.StringSlice("hippocampus.recall.degraded", answer.Degraded))
	}
	tracing.End(s, err)
}
