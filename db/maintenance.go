package db

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// Maintenance is what reflection, forgetting and verification read. The only requests that wait for it are writes,
// which compare their contents with Facts by words.
type Maintenance interface {
	ProposedInsights

	// Owners pages through the owners that have active memories, in (AppID,
	// UserID) order by bytes, strictly after the given one.
	Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error)
	// Facts lists the owner's active memories that are neither message, reflection nor
	// summary and were changed after since, the latest changed first, without
	// embeddings.
	Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	// FactTimes lists when each of the memories that Facts lists was changed, in its
	// order. It takes a small part of the time of Facts.
	FactTimes(ctx context.Context, owner memory.Owner, limit int) ([]Position, error)
	// Stale lists the owner's active memories that are old and rarely accessed, oldest
	// first, without embeddings. It leaves out pinned memories, reflections, summaries of conversations and the sources
	// of summaries.
	Stale(ctx context.Context, owner memory.Owner, f StaleFilter) ([]memory.Memory, error)
	// Sources returns, for each of the ids that is a memory of the owner, the
	// memories that it is derived from, in any status, oldest first, without
	// embeddings. Ids with no sources are left out.
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
	// Relations lists the relations of a memory of the app, in both
	// directions, oldest first. KindNotFound: there is no such memory.
	Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error)
	// State returns the maintenance state of an owner; zero if it was never set.
	State(ctx context.Context, owner memory.Owner) (UserState, error)

	// Purgeable lists memories of any owner that were forgotten before an
	// instant (UpdatedAt) and are gone from the vector store, oldest first,
	// without embeddings.
	Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error)
	// Ages calls f with the age of every active memory of the app, in no order,
	// until f returns an error.
	Ages(ctx context.Context, appID string, f func(userID string, a Age) error) error

	// Projected lists memories of any owner whose id is greater than after
	// ("" for the first), in id order, whatever their status, as the vector
	// store should show them.
	Projected(ctx context.Context, after string, limit int) ([]Projected, error)
	// Requeue makes rows due at an instant: active ones become pending, the others
	// removing, from any vector state. An existing claim stays, and its end makes
	// the row due again. It returns the number of rows.
	Requeue(ctx context.Context, ids []string, at time.Time) (int, error)

	// ListCandidates pages through candidates, newest first.
	ListCandidates(ctx context.Context, f CandidateFilter) ([]Proposal, error)
	// CountCandidates counts the owner's candidates by importance and verdict, in this order.
	CountCandidates(ctx context.Context, owner memory.Owner) ([]CandidateCount, error)
	// Proposals returns the candidates of the app that have these ids.
	Proposals(ctx context.Context, appID string, ids []string) ([]Proposal, error)
}

// MaintenanceTx is what maintenance writes in a user's transaction.
type MaintenanceTx interface {
	ProposedTx
	InstructionLines
	ProfileTx
	EpisodeTx

	// State is Maintenance.State within the transaction.
	State(ctx context.Context) (UserState, error)
	SetState(ctx context.Context, s UserState) error
	// AddRelations stores relations between memories of the owner; those that
	// exist already stay as they are. KindNotFound: one of the memories does not exist.
	AddRelations(ctx context.Context, relations []memory.Relation) error
	// SettleCandidate gives a candidate of the owner a new verdict, reason and
	// memory. KindNotFound: it does not exist.
	SettleCandidate(ctx context.Context, c memory.Candidate) error
	// Purge deletes the memories with these ids that are forgotten and gone from the vector store, and their relations.
	// Their events stay. It returns the deleted ids.
	Purge(ctx context.Context, ids []string) ([]string, error)
}

// UserState is the maintenance state of an owner.
type UserState struct {
	ReflectedAt  time.Time // zero: never
	CompressedAt time.Time // zero: never
	Erased       int       // how often the user has been erased (see Erasures); SetState leaves it alone
	ErasedAt     time.Time // when the latest erasure ended; zero: never, or one is running. SetState leaves it alone
}

// Age is what a memory's retention is computed from.
type Age struct {
	CreatedAt      time.Time
	UpdatedAt      time.Time // when it was recorded or changed
	LastAccessedAt time.Time
	AccessCount    int
	Importance     float64
	Type           memory.Type
	Domain         memory.Domain
	Pinned         bool
	AgentID        string // whose days count; empty: the user's
}

// Old chooses active memories by their age.
type Old struct {
	// Idle chooses memories that were neither accessed nor changed after an instant: Idle[n] for memories with n accesses,
	// and the last instant also for memories with more.
	Idle [8]time.Time
	// Messages that were created by this instant are chosen as well. Zero: no further messages.
	Messages time.Time
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
	MaxImportance float64   // exclusive; 0: no maximum
	Before        *Position // strictly older than this, in (CreatedAt, ID) order
	Limit         int       // required, 1..memory.MaxPage
}

// CandidateCount is the number of an owner's candidates of an importance and a verdict.
type CandidateCount struct {
	Importance float64 // rounded down to hundredths
	Verdict    memory.Verdict
	Count      int
}

// Proposal is a candidate with fields of its turn.
type Proposal struct {
	memory.Candidate
	Owner          memory.Owner
	AgentID        string
	ConversationID string
	SaidAt         time.Time
}

// Jobs reads and enqueues durable jobs.
type Jobs interface {
	// Enqueue stores a job. If a job of the same kind and payload is still stored,
	// in any state, Enqueue returns that one with fresh false.
	Enqueue(ctx context.Context, job Job) (info JobInfo, fresh bool, err error)
	// Job returns a job. KindNotFound: it does not exist.
	Job(ctx context.Context, id int64) (JobInfo, error)
	// ListJobs pages through the jobs of some kinds, newest first.
	ListJobs(ctx context.Context, f JobFilter) ([]JobInfo, error)
	// WaitingJobs counts the jobs of a kind that have not ended, including those that run.
	WaitingJobs(ctx context.Context, kind string) (int64, error)
}

// JobFilter chooses jobs.
type JobFilter struct {
	Kinds  []string // required
	Before int64    // ids below this; 0: no bound
	Limit  int      // required, 1..memory.MaxPage
}

// JobInfo is the state of a durable job.
type JobInfo struct {
	ID         int64
	Kind       string
	State      string          // "available", "scheduled", "running", "retryable", "completed", "discarded", "cancelled"
	Payload    json.RawMessage // its JSON; order of keys and white space may differ from what was enqueued
	Attempt    int             // 0: not tried yet
	EnqueuedAt time.Time
	StartedAt  time.Time       // of the latest attempt; zero: not tried yet
	EndedAt    time.Time       // zero: not ended
	Error      string          // of the latest failed attempt; empty: no attempt failed
	Result     json.RawMessage // what its handler recorded; nil: nothing
}

// JobOrigin is what the metadata of a job holds of the span that enqueued it.
type JobOrigin struct {
	Parent string `json:"traceparent"` // of W3C Trace Context
}

// Bounds reads what is needed to enforce the bound of an owner's memories.
type Bounds interface {
	// CountActive counts the owner's active memories.
	CountActive(ctx context.Context, owner memory.Owner) (int, error)
	// OwnerAges calls f with the id and age of each of the owner's active
	// memories, in no order, until f returns an error.
	OwnerAges(ctx context.Context, owner memory.Owner, f func(id string, a Age) error) error
	// OldAges is OwnerAges for the memories that are as old as o says.
	OldAges(ctx context.Context, owner memory.Owner, o Old, f func(id string, a Age) error) error
}

// Related finds memories of the same conversation.
type Related interface {
	// ConversationNeighbours lists active memories of an owner's conversation: the
	// last n before a place in (CreatedAt, ID) order and the first n after it, oldest
	// first, without embeddings. The memory at the place is left out. Unless seenBy is empty, memories of other agents are
	// left out as well.
	ConversationNeighbours(ctx context.Context, owner memory.Owner, seenBy, conversationID string, place Position, n int) (
		[]memory.Memory, error)
}

// RelatedTx undoes MaintenanceTx.AddRelations.
type RelatedTx interface {
	// RemoveRelation deletes a relation between memories of the owner.
	// KindNotFound: it does not exist.
	RemoveRelation(ctx context.Context, r memory.Relation) error
}

// StaleFilter selects old memories.
type StaleFilter struct {
	Before         time.Time // of all but messages: created before
	MessagesBefore time.Time // of messages: last recorded, changed and accessed before
	Accesses       int       // accessed fewer times
	After          Position  // strictly after this, in (CreatedAt, ID) order
	Limit          int       // required
}
