package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *mortalRecords) ExportFacts(ctx context.Context, of db.Extent, after *memory.Fact) ([]memory.Fact, error) {
	return get(s.fuse, "ExportFacts", func() ([]memory.Fact, error) { return s.real.ExportFacts(ctx, of, after) })
}

func (s *mortalRecords) ExportInstructions(ctx context.Context, of db.Extent, after *memory.Instruction) ([]memory.Instruction, error) {
	return get(s.fuse, "ExportInstructions", func() ([]memory.Instruction, error) { return s.real.ExportInstructions(ctx, of, after) })
}

func (s *mortalRecords) ExportWorkflows(ctx context.Context, of db.Extent, after *memory.Workflow) ([]memory.Workflow, error) {
	return get(s.fuse, "ExportWorkflows", func() ([]memory.Workflow, error) { return s.real.ExportWorkflows(ctx, of, after) })
}

func (s *mortalRecords) ExportOutcomes(ctx context.Context, of db.Extent, after *db.CountedOutcome) ([]db.CountedOutcome, error) {
	return get(s.fuse, "ExportOutcomes", func() ([]db.CountedOutcome, error) { return s.real.ExportOutcomes(ctx, of, after) })
}

func (s *mortalTx) RecordedFact(ctx context.Context, id string) (memory.Fact, bool, error) {
	return find(s.fuse, "tx.RecordedFact", func() (memory.Fact, bool, error) { return s.real.RecordedFact(ctx, id) })
}

func (s *mortalTx) RestoreWorkflow(ctx context.Context, w memory.Workflow) error {
	return act(s.fuse, "tx.RestoreWorkflow", func() error { return s.real.RestoreWorkflow(ctx, w) })
}

func (s *mortalRecords) ExportConversations(ctx context.Context, of db.Extent, after *memory.Conversation) ([]memory.Conversation, error) {
	return get(s.fuse, "ExportConversations", func() ([]memory.Conversation, error) { return s.real.ExportConversations(ctx, of, after) })
}

func (s *mortalTx) RecordedConversation(ctx context.Context, id string) (memory.Conversation, bool, error) {
	return find(s.fuse, "tx.RecordedConversation", func() (memory.Conversation, bool, error) { return s.real.RecordedConversation(ctx, id) })
}

func (s *mortalTx) RecordedTurn(ctx context.Context, id string) (memory.Turn, bool, error) {
	return find(s.fuse, "tx.RecordedTurn", func() (memory.Turn, bool, error) { return s.real.RecordedTurn(ctx, id) })
}

func (s *mortalTx) RecordedConsolidation(ctx context.Context, id string) (memory.Consolidation, bool, error) {
	return find(s.fuse, "tx.RecordedConsolidation", func() (memory.Consolidation, bool, error) { return s.real.RecordedConsolidation(ctx, id) })
}

func (s *mortalTx) RestoreConversation(ctx context.Context, c memory.Conversation, heard time.Time) error {
	return act(s.fuse, "tx.RestoreConversation", func() error { return s.real.RestoreConversation(ctx, c, heard) })
}

func (s *mortalTx) RestoreTurn(ctx context.Context, t memory.Turn) error {
	return act(s.fuse, "tx.RestoreTurn", func() error { return s.real.RestoreTurn(ctx, t) })
}
