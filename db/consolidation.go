package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Consolidations keeps the planned and finished consolidations of conversations:
//
//	PlanConsolidation -> pending -> ClaimConsolidation -> ChangeConsolidation, with the results -> done
//
// They are deleted with their conversation. All writes are in the user's
// transaction, so that the memories of a consolidation and its end are committed
// together.
type Consolidations interface {
	// ListConsolidations pages through the consolidations of a conversation,
	// the newest first.
	ListConsolidations(ctx context.Context, f ConsolidationFilter) ([]memory.Consolidation, error)
	// DueConsolidations lists consolidations of any owner that are pending, or
	// failed with fewer than so many attempts, and whose claim has ended by now,
	// in (CreatedAt, ID) order, strictly after a position.
	DueConsolidations(ctx context.Context, now time.Time, attempts int, after Position, limit int) (
		[]memory.Consolidation, error)
	// RenewConsolidation moves the end of the claim of an attempt, which began at
	// c.StartedAt, and reports whether the attempt still had a claim.
	RenewConsolidation(ctx context.Context, c memory.Consolidation, until time.Time) (bool, error)
	// Unconsolidated lists conversations of any owner that have events after
	// their ConsolidatedThrough, in (AppID, UserID, ID) order by bytes, strictly
	// after the given one.
	Unconsolidated(ctx context.Context, after memory.Conversation, limit int) ([]memory.Conversation, error)
}

// ConsolidationTx is Consolidations in a user's transaction.
type ConsolidationTx interface {
	// Planned returns, by type, the last event of a conversation that a
	// consolidation of the type covers, in any state. Types without a consolidation
	// are left out.
	Planned(ctx context.Context, conversationID string) (map[memory.ConsolidationType]int64, error)
	// PlanConsolidation stores a new consolidation. KindConflict: the conversation
	// has one of this type and Through. KindNotFound: there is no such conversation,
	// or it has fewer events.
	PlanConsolidation(ctx context.Context, c memory.Consolidation) error
	// ClaimConsolidation begins an attempt at now and claims the consolidation
	// until an instant. KindConflict: it has ended, or a consolidation of its
	// conversation is claimed. KindNotFound: it does not exist.
	ClaimConsolidation(ctx context.Context, id string, now, until time.Time) (memory.Consolidation, error)
	// ChangeConsolidation stores the State, Counts, Error, Attempts and EndedAt of a
	// consolidation, and ends its claim. KindConflict: it was done or skipped
	// before. KindNotFound: it does not exist.
	ChangeConsolidation(ctx context.Context, c memory.Consolidation) error
	// ConsolidateThrough moves ConsolidatedThrough of a conversation forward, at
	// most to its last event. KindNotFound: it does not exist.
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

// ErrConsolidating is the KindConflict of a claim while another worker has claimed
// a consolidation of the conversation.
var ErrConsolidating = memory.Errorf(memory.KindConflict, "another worker is consolidating this conversation")
