package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// ProposedInsight is an insight that a reflection proposes. An approval makes a memory of it.
type ProposedInsight struct {
	ID         string
	Owner      memory.Owner
	AgentID    string // whose facts it rests on; empty: the user's
	Content    string
	Domain     memory.Domain
	Importance float64
	Sources    []string // ids of the facts that it rests on, at least one
	Retires    []string // ids of those Sources that become consolidated when it is approved
	ProposedAt time.Time
}

// MaxProposedInsights is the number of proposed insights that a user has at most; older ones are dropped.
const MaxProposedInsights = 100

// ProposedFilter chooses proposed insights.
type ProposedFilter struct {
	AppID  string // required
	UserID string // empty: of all users
	Before string // only ids below this one; empty: from the newest
	Limit  int    // required, 1..memory.MaxPage
}

// ProposedInsights reads proposed insights. One stands only as long as each of its sources is active; otherwise it is
// not found.
type ProposedInsights interface {
	// ListProposedInsights pages through the proposed insights that stand, newest first.
	ListProposedInsights(ctx context.Context, f ProposedFilter) ([]ProposedInsight, error)
	// ProposedInsight returns one that stands. KindNotFound: it does not exist, or does not stand.
	ProposedInsight(ctx context.Context, appID, id string) (ProposedInsight, error)
}

// ProposedTx changes proposed insights of a user.
type ProposedTx interface {
	// ProposeInsights stores proposed insights of the owner, and drops the oldest over MaxProposedInsights and those that
	// do not stand any more.
	ProposeInsights(ctx context.Context, insights []ProposedInsight) error
	// DecideInsight removes a proposed insight. KindNotFound: the owner does not have it, or it does not stand.
	DecideInsight(ctx context.Context, id string) error
}
