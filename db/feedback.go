package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// FeedbackStore keeps what became of memories that recalls returned, and of candidates. FeedbackTx adds to it.
type FeedbackStore interface {
	// FeedbackOn lists feedback of clients on recalls of a user, by the ids of the recalls.
	FeedbackOn(ctx context.Context, owner memory.Owner, recallIDs []string) ([]memory.Feedback, error)
	// CountFeedback counts an app's feedback by kind; that on one memory of the owner if memoryID is not empty.
	CountFeedback(ctx context.Context, of memory.Owner, memoryID string) (map[memory.FeedbackKind]int, error)
	// Evidence lists an app's feedback of a kind with a score from a time on, newest first. Of FeedbackForgotten it leaves
	// out memories that have been restored.
	Evidence(ctx context.Context, f EvidenceFilter) ([]memory.Feedback, error)
	// NextAppWithFeedback returns the first app after another one that has feedback, or "".
	NextAppWithFeedback(ctx context.Context, after string) (appID string, err error)
	// ExportFeedback pages through feedback in (UserID, SourceID, MemoryID) order, strictly after one; nil: from the
	// first.
	ExportFeedback(ctx context.Context, of Extent, after *memory.Feedback) ([]memory.Feedback, error)
}

// EvidenceFilter chooses feedback of an app.
type EvidenceFilter struct {
	AppID string
	Kind  memory.FeedbackKind
	After time.Time
	Limit int
}

// FeedbackTx changes feedback in a user's transaction.
type FeedbackTx interface {
	// AddFeedback stores feedback of the user, and replaces what was said before of the same source and memory. It returns
	// how many rows it has changed: what was said just so before changes nothing.
	AddFeedback(ctx context.Context, list []memory.Feedback) (changed int, err error)
	// WithdrawFeedback deletes feedback of clients on memories of the user, by its source.
	WithdrawFeedback(ctx context.Context, sourceID string, memoryIDs []string) error
	// RecordedFeedback returns the user's feedback of a source and a memory.
	RecordedFeedback(ctx context.Context, sourceID, memoryID string) (f memory.Feedback, ok bool, err error)
}

// Thresholds keeps how the thresholds of apps have moved.
type Thresholds interface {
	// ThresholdSteps lists the steps of an app's threshold, newest first.
	ThresholdSteps(ctx context.Context, appID string, name memory.ThresholdName, limit int) ([]memory.ThresholdStep, error)
	// AddThresholdStep stores a step under its Number. KindConflict: another process has stored that step.
	AddThresholdStep(ctx context.Context, s memory.ThresholdStep) error
}
