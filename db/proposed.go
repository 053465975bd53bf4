package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// ProposedInsight is an insight that a reflection proposes, which becomes a memory by an approval. With an Instruction
// it is a text for an instruction of the user, which becomes its active version.
type ProposedInsight struct {
	ID         string
	Owner      memory.Owner
	AgentID    string // whose facts it rests on; empty: the user's
	Content    string
	Domain     memory.Domain
	Importance float64
	Sources    []string // ids of the memories that it rests on; of an insight, at least one
	Retires    []string // ids of those Sources that become consolidated when it is approved
	ProposedAt time.Time

	Instruction string          // name; empty: it is an insight
	Grounds     []memory.Ground // of the lines of Content
	Basis       int64           // how much evidence there was: outcomes, or the time of the latest request in Unix seconds
	Decided     bool            // it was approved or rejected, and is kept so that it is not proposed again
}

// MaxProposedInsights is the number of proposed insights that a user has at most; older ones are dropped.
const MaxProposedInsights = 100

// ProposedFilter chooses proposed insights.
type ProposedFilter struct {
	AppID  string // required
	UserID string // empty: of all users
	Before string // only ids below this one; empty: from the newest
	Limit  int    // required, 1..memory.MaxPage
	All    bool   // those for instructions alone, also decided ones and those that do not stand
}

// ProposedInsights reads proposed insights and instructions. One stands until it is decided, and only as long as each
// of its sources is active, or, of an instruction, condensed; otherwise it is not found.
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
	// DecideInsight removes a proposed insight, and marks a proposed instruction as decided. KindNotFound: the owner does
	// not have it, or it does not stand.
	DecideInsight(ctx context.Context, id string) error
}
