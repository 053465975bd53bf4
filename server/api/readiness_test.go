package api

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// A state begins when it is first observed, and only a change is logged.
func TestReadiness_KeepsSinceWhen(t *testing.T) {
	t.Parallel()
	clock := apptest.NewClock(time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC))
	core, logged := observer.New(zap.InfoLevel)
	var fault error
	r := newReadiness([]Check{{Name: "scorer", Check: func(context.Context) error { return fault }}},
		clock.Now, zap.New(core))
	refused := memory.Errorf(memory.KindUnauthorized, "status 401")
	full := &memory.Error{Kind: memory.KindUnavailable, Err: errors.New("no room"), Reason: memory.ReasonDiskFull}
	changed := clock.Now()
	for i, step := range []struct {
		fault  error
		status string
		isNew  bool
		lines  int // logged so far
	}{
		{nil, "ready", true, 0},
		{nil, "ready", false, 0},
		{errors.New("refused"), "unavailable", true, 1},
		{errors.New("timeout"), "unavailable", false, 1},
		{full, "unavailable", true, 2},
		{refused, "unauthorized", true, 3},
		{nil, "ready", true, 4},
	} {
		clock.Advance(time.Minute)
		if step.isNew {
			changed = clock.Now()
		}
		fault = step.fault
		part := r.observe(t.Context())[0]
		if part.Status() != step.status || !part.Since.Equal(changed) || !errors.Is(part.Err, step.fault) ||
			logged.Len() != step.lines {
			t.Errorf("step %d: %s since %s, %d lines", i, part.Status(), part.Since, logged.Len())
		}
	}
}
