package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *mortalRecords) ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error) {
	return get(s.fuse, "ListConsolidations", func() ([]memory.Consolidation, error) { return s.real.ListConsolidations(ctx, f) })
}

// DueConsolidations finds nothing while the process is at rest.
func (s *mortalRecords) DueConsolidations(ctx context.Context, now time.Time, attempts int, after db.Position, limit int) ([]memory.Consolidation, error) {
	if s.resting() {
		return nil, nil
	}
	return get(s.fuse, "DueConsolidations", func() ([]memory.Consolidation, error) {
		return s.real.DueConsolidations(ctx, now, attempts, after, limit)
	})
}

// Unconsolidated finds nothing while the process is at rest.
func (s *mortalRecords) Unconsolidated(ctx context.Context, after memory.Conversation, limit int) ([]memory.Conversation, error) {
	if s.resting() {
		return nil, nil
	}
	return get(s.fuse, "Unconsolidated", func() ([]memory.Conversation, error) { return s.real.Unconsolidated(ctx, after, limit) })
}

func (s *mortalTx) Planned(ctx context.Context, conversationID string) (map[memory.ConsolidationType]int64, error) {
	return get(s.fuse, "tx.Planned", func() (map[memory.ConsolidationType]int64, error) { return s.real.Planned(ctx, conversationID) })
}

func (s *mortalTx) PlanConsolidation(ctx context.Context, c memory.Consolidation) error {
	return act(s.fuse, "tx.PlanConsolidation", func() error { return s.real.PlanConsolidation(ctx, c) })
}

func (s *mortalTx) ClaimConsolidation(ctx context.Context, id string, now, until time.Time) (memory.Consolidation, error) {
	return get(s.fuse, "tx.ClaimConsolidation", func() (memory.Consolidation, error) { return s.real.ClaimConsolidation(ctx, id, now, until) })
}

func (s *mortalTx) ChangeConsolidation(ctx context.Context, c memory.Consolidation) error {
	return act(s.fuse, "tx.ChangeConsolidation", func() error { return s.real.ChangeConsolidation(ctx, c) })
}

func (s *mortalTx) ConsolidateThrough(ctx context.Context, conversationID string, through int64) error {
	return act(s.fuse, "tx.ConsolidateThrough", func() error { return s.real.ConsolidateThrough(ctx, conversationID, through) })
}
