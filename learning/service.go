// Package learning keeps what became of memories, and lets thresholds follow it:
//
//	recall -> answer with recall_id -> feedback of the client       -> row   (Give)
//	promotion, or forgetting by hand                                -> row   (package ingest)
//	rows of an app -> bounded step of a threshold -> gate, contexts          (Run, Of)
package learning

import (
	"context"
	"sync"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Records is the part of the database that the package uses.
type Records interface {
	db.FeedbackStore
	db.Thresholds
	ListRecalls(ctx context.Context, f db.RecallFilter) ([]memory.LoggedRecall, error)
	LoggedRecall(ctx context.Context, owner memory.Owner, id string) (memory.LoggedRecall, error)
	ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Settings are the configured thresholds, and whether they learn.
type Settings struct {
	Enabled    bool
	Gate       float64
	Confidence float64
}

// Service keeps feedback and serves thresholds. It is safe for concurrent use.
type Service struct {
	Settings
	records Records
	now     func() time.Time
	rules   map[memory.ThresholdName]Rule

	mu     sync.Mutex
	served map[servedKey]served
}

// New returns a service.
func New(records Records, set Settings, now func() time.Time) *Service {
	return &Service{Settings: set, records: records, now: now, rules: rules(set), served: map[servedKey]served{}}
}
