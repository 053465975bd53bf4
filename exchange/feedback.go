package exchange

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// feedbackLine is what became of a memory that a recall returned, or of a candidate.
type feedbackLine struct {
	UserID   string              `json:"user_id"`
	SourceID string              `json:"source_id"`
	MemoryID string              `json:"memory_id"`
	Kind     memory.FeedbackKind `json:"kind"`
	Score    float64             `json:"score"`
	At       time.Time           `json:"at"`
}

func feedbackLineOf(f memory.Feedback) feedbackLine {
	return feedbackLine{
		UserID: f.UserID, SourceID: f.SourceID, MemoryID: f.MemoryID, Kind: f.Kind, Score: f.Score, At: f.At,
	}
}

func (l *feedbackLine) kind() Kind   { return Feedback }
func (l *feedbackLine) user() string { return l.UserID }

func (l *feedbackLine) check(f *faults) {
	f.note("feedback.user_id", memory.CheckID(l.UserID, false))
	f.id("feedback.source_id", l.SourceID)
	f.id("feedback.memory_id", l.MemoryID)
	oneOf(f, "feedback.kind", memory.AllFeedbackKinds, l.Kind)
	f.fraction("feedback.score", l.Score)
	f.time("feedback.at", l.At)
}

func (l *feedbackLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	stored, found, err := tx.RecordedFeedback(ctx, l.SourceID, l.MemoryID)
	if err != nil || found {
		return false, orDifference(err, "feedback on memory "+l.MemoryID, *l, feedbackLineOf(stored))
	}
	_, err = tx.AddFeedback(ctx, []memory.Feedback{{
		Owner: memory.Owner{AppID: i.appID, UserID: l.UserID}, SourceID: l.SourceID, MemoryID: l.MemoryID, Kind: l.Kind,
		Score: l.Score, At: memory.Instant(l.At),
	}})
	return true, err
}
