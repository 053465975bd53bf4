package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// mortalTx is a transaction of a process that can die.
type mortalTx struct {
	*fuse
	real db.UserTx
}

func (s *mortalTx) AddCandidates(ctx context.Context, candidates []memory.Candidate) error {
	return act(s.fuse, "tx.AddCandidates", func() error { return s.real.AddCandidates(ctx, candidates) })
}

func (s *mortalTx) AddEvents(ctx context.Context, events []memory.Event) error {
	return act(s.fuse, "tx.AddEvents", func() error { return s.real.AddEvents(ctx, events) })
}

func (s *mortalTx) AddRelations(ctx context.Context, relations []memory.Relation) error {
	return act(s.fuse, "tx.AddRelations", func() error { return s.real.AddRelations(ctx, relations) })
}

func (s *mortalTx) FinishTurn(ctx context.Context, turnID string, attempts int, at time.Time) error {
	return act(s.fuse, "tx.FinishTurn", func() error { return s.real.FinishTurn(ctx, turnID, attempts, at) })
}

func (s *mortalTx) Insert(ctx context.Context, memories []memory.Memory, claimed time.Time) error {
	return act(s.fuse, "tx.Insert", func() error { return s.real.Insert(ctx, memories, claimed) })
}

func (s *mortalTx) Memories(ctx context.Context, ids []string) ([]memory.Memory, error) {
	return get(s.fuse, "tx.Memories", func() ([]memory.Memory, error) { return s.real.Memories(ctx, ids) })
}

func (s *mortalTx) Purge(ctx context.Context, ids []string) ([]string, error) {
	return get(s.fuse, "tx.Purge", func() ([]string, error) { return s.real.Purge(ctx, ids) })
}

func (s *mortalTx) Recorded(ctx context.Context, ids []string) (map[string]db.Record, error) {
	return get(s.fuse, "tx.Recorded", func() (map[string]db.Record, error) { return s.real.Recorded(ctx, ids) })
}

func (s *mortalTx) Restore(ctx context.Context, memories []memory.Memory, due time.Time) error {
	return act(s.fuse, "tx.Restore", func() error { return s.real.Restore(ctx, memories, due) })
}

func (s *mortalTx) SameContent(ctx context.Context, agentID, content string) (memory.Memory, bool, error) {
	return find(s.fuse, "tx.SameContent", func() (memory.Memory, bool, error) { return s.real.SameContent(ctx, agentID, content) })
}

func (s *mortalTx) SetState(ctx context.Context, state db.UserState) error {
	return act(s.fuse, "tx.SetState", func() error { return s.real.SetState(ctx, state) })
}

func (s *mortalTx) SettleCandidate(ctx context.Context, c memory.Candidate) error {
	return act(s.fuse, "tx.SettleCandidate", func() error { return s.real.SettleCandidate(ctx, c) })
}

func (s *mortalTx) State(ctx context.Context) (db.UserState, error) {
	return get(s.fuse, "tx.State", func() (db.UserState, error) { return s.real.State(ctx) })
}

func (s *mortalTx) Unconfirmed(ctx context.Context, since time.Time, limit int) ([]memory.Memory, error) {
	return get(s.fuse, "tx.Unconfirmed", func() ([]memory.Memory, error) { return s.real.Unconfirmed(ctx, since, limit) })
}

func (s *mortalTx) Update(ctx context.Context, m memory.Memory) error {
	return act(s.fuse, "tx.Update", func() error { return s.real.Update(ctx, m) })
}
