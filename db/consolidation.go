package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Consolidations keeps what is to be made, and was made, of conversations:
//
//	PlanConsolidation -> pending -> ClaimConsolidation -> ChangeConsolidation, with the results -> done
//
// They go with their conversation. All writes are in the user's transaction, so
// that what a consolidation writes and its end are one.
type Consolidations interface {
	// ListConsolidations pages through the consolidations of a conversation,
	// the newest first.
	ListConsolidations(ctx context.Context, f ConsolidationFilter) ([]memory.Consolidation, error)
	// DueConsolidations lists consolidations of any owner that are pending, or
	// failed with fewer than so many attempts, and whose claim has ended by now,
	// in (CreatedAt, ID) order, strictly after a position.
	DueConsolidations(ctx context.Context, now time.Time, attempts int, after Position, limit int) ([]memory.Consolidation, error)
	// Unconsolidated lists conversations of any owner that have events after
	// their ConsolidatedThrough, in (AppID, UserID, ID) order by bytes, strictly
	// after the given one.
	Unconsolidated(ctx context.Context, after memory.Conversation, limit int) ([]memory.Conversation, error)
}

// ConsolidationTx is Consolidations in a user's transaction.
type ConsolidationTx interface {
	// Planned is the last event of a conversation that some consolidation of each
	// type reaches, in whatever state. Types without any are left out.
	Planned(ctx context.Context, conversationID string) (map[memory.ConsolidationType]int64, error)
	// PlanConsolidation stores a new consolidation. KindConflict: the conversation
	// has one of this type and Through. KindNotFound: there is no such conversation,
	// or it has fewer events.
	PlanConsolidation(ctx context.Context, c memory.Consolidation) error
	// ClaimConsolidation begins an attempt at now, which nobody else begins before
	// until. KindConflict: it has ended, or it or another one of its conversation
	// is claimed. KindNotFound: there is none.
	ClaimConsolidation(ctx context.Context, id string, now, until time.Time) (memory.Consolidation, error)
	// ChangeConsolidation stores the State, Counts, Error, Attempts and EndedAt of a
	// consolidation, and ends its claim. KindConflict: it was done or skipped
	// before. KindNotFound: there is none.
	ChangeConsolidation(ctx context.Context, c memory.Consolidation) error
	// ConsolidateThrough moves ConsolidatedThrough of a conversation forward, at
	// most to its last event, and never back. KindNotFound: there is none.
	ConsolidateThrough(ctx context.Context, conversationID string, through int64) error
}

// ConsolidationFilter chooses consolidations.
type ConsolidationFilter struct {
	Owner          memory.Owner // required
	ConversationID string       // required
	Before         *Position    // strictly older than this, in (CreatedAt, ID) order
	Limit          int          // required, 1..memory.MaxPage
}

// ErrConsolidated is the KindConflict of work on a consolidation that has ended.
var ErrConsolidated = memory.Errorf(memory.KindConflict, "this consolidation has ended already")

// ErrConsolidating is the KindConflict of a claim while somebody else is at work
// on the conversation.
var ErrConsolidating = memory.Errorf(memory.KindConflict, "this conversation is being consolidated by somebody else")
