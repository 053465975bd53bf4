package db

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// Maintenance is what reflection, forgetting and verification read: the work on
// memories that no request waits for.
type Maintenance interface {
	// Owners pages through the owners that have active memories, in (AppID,
	// UserID) order by bytes, strictly after the given one.
	Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error)
	// Facts lists the owner's active memories that are neither reflection nor
	// summary and were changed after since, the latest changed first, without
	// embeddings.
	Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	// Stale lists those of the owner's active memories that were created before
	// an instant and accessed fewer than accesses times, strictly after a
	// position in (CreatedAt, ID) order, oldest first, with embeddings. Pinned
	// ones, reflections, summaries and those that some summary was derived from
	// are left out.
	Stale(ctx context.Context, owner memory.Owner, before time.Time, accesses int, after Position, limit int) ([]memory.Memory, error)
	// Sources returns, for each of the ids that is a memory of the owner, the
	// memories that it is derived from, in any status, oldest first, without
	// embeddings. Ids with no sources are left out.
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
	// Relations lists the relations of a memory of the app, in both
	// directions, oldest first. KindNotFound: there is no such memory.
	Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error)
	// State returns what upkeep has noted of an owner; zero when nothing.
	State(ctx context.Context, owner memory.Owner) (UserState, error)

	// Purgeable lists memories of any owner that were forgotten before an
	// instant (UpdatedAt) and are gone from the vector store, oldest first,
	// without embeddings.
	Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error)
	// Ages calls f with what retention is computed from, for every active
	// memory of the app, in no order. f returning an error ends it.
	Ages(ctx context.Context, appID string, f func(Age) error) error

	// Projected lists memories of any owner whose id is greater than after
	// ("" for the first), in id order, whatever their status, as the vector
	// store should show them.
	Projected(ctx context.Context, after string, limit int) ([]Projected, error)
	// Requeue makes rows due again at an instant: active ones become pending,
	// the others removing, whatever their vector state was. An existing claim
	// stays, and the claim's end makes them due again. It returns how many
	// rows there were.
	Requeue(ctx context.Context, ids []string, at time.Time) (int, error)

	// ListCandidates pages through candidates, newest first.
	ListCandidates(ctx context.Context, f CandidateFilter) ([]Proposal, error)
	// Proposals returns those of the candidates of the app that exist.
	Proposals(ctx context.Context, appID string, ids []string) ([]Proposal, error)
}

// MaintenanceTx is what upkeep writes in a user's transaction.
type MaintenanceTx interface {
	// State is Maintenance.State within the transaction.
	State(ctx context.Context) (UserState, error)
	SetState(ctx context.Context, s UserState) error
	// AddRelations stores relations between memories of the owner; those that
	// exist are left alone. KindNotFound: one of the memories does not exist.
	AddRelations(ctx context.Context, relations []memory.Relation) error
	// SettleCandidate gives a candidate of the owner a new verdict, reason and
	// memory. KindNotFound: there is none.
	SettleCandidate(ctx context.Context, c memory.Candidate) error
	// Purge deletes those of the ids that are forgotten and gone from the
	// vector store, with their relations. Their events stay. It returns the
	// deleted ids.
	Purge(ctx context.Context, ids []string) ([]string, error)
}

// UserState is what upkeep notes of an owner.
type UserState struct {
	ReflectedAt  time.Time // zero: never
	CompressedAt time.Time // zero: never
	Erased       int       // how often the user has been erased (see Erasures); SetState leaves it alone
}

// Age is what a memory's retention is computed from.
type Age struct {
	CreatedAt      time.Time
	LastAccessedAt time.Time
	AccessCount    int
	Importance     float64
	Type           memory.Type
	Pinned         bool
}

// Projected is a memory as the vector store should show it.
type Projected struct {
	Memory    memory.Memory // without embedding and lexemes
	Vector    memory.VectorState
	UpdatedAt time.Time // of the vector state: the latest of due, claim and confirmation
}

// CandidateFilter chooses candidates. Empty fields do not restrict.
type CandidateFilter struct {
	AppID         string // required
	UserID        string
	Verdict       memory.Verdict
	MinImportance float64
	Before        *Position // strictly older than this, in (CreatedAt, ID) order
	Limit         int       // required, 1..memory.MaxPage
}

// Proposal is a candidate with what its turn says of it.
type Proposal struct {
	memory.Candidate
	Owner          memory.Owner
	AgentID        string
	ConversationID string
	SaidAt         time.Time
}

// Jobs tells of durable jobs and takes new ones.
type Jobs interface {
	// Enqueue stores a job. A job of the same kind and payload that was stored
	// so and is still kept, in whatever state, is returned instead, with fresh
	// false.
	Enqueue(ctx context.Context, job Job) (info JobInfo, fresh bool, err error)
	// Job returns a job. KindNotFound: there is none.
	Job(ctx context.Context, id int64) (JobInfo, error)
	// ListJobs pages through the jobs of some kinds, newest first.
	ListJobs(ctx context.Context, f JobFilter) ([]JobInfo, error)
}

// JobFilter chooses jobs.
type JobFilter struct {
	Kinds  []string // required
	Before int64    // ids below this; 0: no bound
	Limit  int      // required, 1..memory.MaxPage
}

// JobInfo is a durable job as it stands.
type JobInfo struct {
	ID         int64
	Kind       string
	State      string          // "available", "scheduled", "running", "retryable", "completed", "discarded", "cancelled"
	Payload    json.RawMessage // its JSON; the order of keys and the spaces may not be what came
	Attempt    int             // 0: not tried yet
	EnqueuedAt time.Time
	StartedAt  time.Time       // of the latest attempt; zero: none
	EndedAt    time.Time       // zero: not ended
	Error      string          // of the latest failed attempt; empty: none
	Result     json.RawMessage // what its handler recorded; nil: nothing
}
