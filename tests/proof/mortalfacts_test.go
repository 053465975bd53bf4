package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *mortalRecords) ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error) {
	return get(s.fuse, "ListFacts", func() ([]memory.Fact, error) { return s.real.ListFacts(ctx, f) })
}

func (s *mortalRecords) FactHistory(ctx context.Context, t db.Timeline, after *db.Position, limit int) ([]memory.Fact, error) {
	return get(s.fuse, "FactHistory", func() ([]memory.Fact, error) { return s.real.FactHistory(ctx, t, after, limit) })
}

func (s *mortalRecords) DueFacts(ctx context.Context, now time.Time, after db.Position, limit int) ([]memory.Fact, error) {
	return get(s.fuse, "DueFacts", func() ([]memory.Fact, error) { return s.real.DueFacts(ctx, now, after, limit) })
}

func (s *mortalTx) FactAt(ctx context.Context, factType, key string, at time.Time) (memory.Fact, bool, error) {
	return find(s.fuse, "tx.FactAt", func() (memory.Fact, bool, error) { return s.real.FactAt(ctx, factType, key, at) })
}

func (s *mortalTx) NextFact(ctx context.Context, factType, key string, after time.Time) (time.Time, error) {
	return get(s.fuse, "tx.NextFact", func() (time.Time, error) { return s.real.NextFact(ctx, factType, key, after) })
}

func (s *mortalTx) FactWithMemory(ctx context.Context, factType, key string) (memory.Fact, bool, error) {
	return find(s.fuse, "tx.FactWithMemory", func() (memory.Fact, bool, error) { return s.real.FactWithMemory(ctx, factType, key) })
}

func (s *mortalTx) AddFact(ctx context.Context, f memory.Fact) error {
	return act(s.fuse, "tx.AddFact", func() error { return s.real.AddFact(ctx, f) })
}

func (s *mortalTx) ChangeFact(ctx context.Context, f memory.Fact) error {
	return act(s.fuse, "tx.ChangeFact", func() error { return s.real.ChangeFact(ctx, f) })
}
