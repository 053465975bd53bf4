package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Timelines keeps which facts of a user are valid when, with the evidence for them:
//
//	evidence -> FactAt, NextFact -> AddFact, ChangeFact -> ListFacts at any instant
//
// Types and keys are compared by their bytes. The stores refuse two accepted
// facts of a timeline that begin at one instant or are both open; knowledge/facts
// prevents all other overlaps, under the owner lock.
type Timelines interface {
	// ListFacts pages through the facts that are valid at an instant, the one
	// with the latest ValidFrom first.
	ListFacts(ctx context.Context, f FactFilter) ([]memory.Fact, error)
	// FactHistory pages through all evidence on a timeline, in any state, in
	// (RecordedAt, ID) order, strictly after a position if one is given.
	FactHistory(ctx context.Context, t Timeline, after *Position, limit int) ([]memory.Fact, error)
	// DueFacts lists facts of any owner whose Due is at or before an instant,
	// in (Due, ID) order, strictly after a position.
	DueFacts(ctx context.Context, now time.Time, after Position, limit int) ([]memory.Fact, error)
}

// TimelineTx is Timelines in a user's transaction.
type TimelineTx interface {
	// FactAt returns the fact that is valid at an instant; ok is false if there is no such fact.
	FactAt(ctx context.Context, factType, key string, at time.Time) (f memory.Fact, ok bool, err error)
	// NextFact returns the earliest ValidFrom after an instant of an accepted or
	// ended fact of the timeline; zero if there is no such fact.
	NextFact(ctx context.Context, factType, key string, after time.Time) (time.Time, error)
	// FactWithMemory returns the fact of the timeline that has a memory; ok is false if there is no such fact.
	FactWithMemory(ctx context.Context, factType, key string) (f memory.Fact, ok bool, err error)
	// AddFact stores a new fact. KindConflict: the timeline has an accepted one
	// of the same instant, or both are open, or both have a memory.
	AddFact(ctx context.Context, f memory.Fact) error
	// ChangeFact stores the confidence, end, state, reason and memory of a fact
	// of the owner, with EndsMemory and Due. KindNotFound: it does not exist.
	ChangeFact(ctx context.Context, f memory.Fact) error
}

// Timeline names one.
type Timeline struct {
	Owner     memory.Owner
	Type, Key string
}

// FactFilter chooses facts. Empty fields do not restrict.
type FactFilter struct {
	Owner  memory.Owner // required
	Type   string
	Key    string
	At     time.Time // required
	Before *Position // strictly older than this, in (ValidFrom, ID) order
	Limit  int       // required, 1..memory.MaxPage
}
