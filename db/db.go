// Package db is the contract of the database, the record of truth:
//
//	accept turn -> turn row, which is its own queue entry
//	user's change -> memories + events + candidates + desired vector states
//	recall -> documents (lexical), rows (hydration), touches
//
// db/postgres and db/sqlite implement it; db/dbtest holds both to it. Times
// are stored to the microsecond, in UTC. Every method honours its context and
// returns memory.Error kinds: KindNotFound for an unknown id, KindConflict
// where said, KindUnavailable when the database cannot be reached or is busy.
package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Store is everything that an adapter offers. Consumers ask for the few
// methods that they use.
type Store interface {
	Turns
	Memories
	Indexes
	VectorQueue
	Maintenance
	Condensed
	Erasures
	Merges
	Copies
	Serving
	Calibrations
	RefusedFields
	Tokens
	Exchange
	Conversations
	Consolidations
	Timelines
	Instructions
	Policies
	Profiles
	Episodes
	Reprocessings
	Skills
	Files
	SourceDocuments
	Related
	Bounds
	Activity
	UserZones
	UserModes
	People
	Pool
	Faded
	Announcements
	Webhooks
	Recalls
	FeedbackStore
	Thresholds
	Keys
	Counts
	Jobs
	UserJobs
	Processes
	Leases

	// Migrate brings the schema, the job queue's included, to this version.
	// It is safe to run from several processes at once, and again.
	Migrate(ctx context.Context) error
	// Ping answers nil when the database serves queries and its schema is this version's.
	Ping(ctx context.Context) error
	Close() error
}

// Job is the payload of a durable job: it is stored as JSON under its kind,
// and tried up to three times. It has the shape of river.JobArgs.
type Job interface{ Kind() string }

// Turns keeps raw turns and their progress.
//
// The table is the queue of turns: ClaimTurns takes accepted turns that are due.
// A worker moves the due time of a turn ahead while it processes the turn, so a
// turn whose worker died becomes due again.
type Turns interface {
	// AcceptTurn stores t with its due time. If t has a conversation, the conversation
	// grows by t, and stored has its FirstEvent. If t has an Offset, it becomes that of the owner; see UserZones. If
	// t.ClientID is not empty and the app has a turn with it, AcceptTurn stores nothing and returns that turn with fresh
	// false. ErrErasing: see Erasures. ErrConversationChanged: log is not nil, and the conversation's log is in another
	// state. ErrMode: t.Memory is memory.ModeOn, and the mode of the owner or of the conversation is another one; see
	// UserModes.
	AcceptTurn(ctx context.Context, t memory.Turn, due time.Time, log *LogState) (
		stored memory.Turn, fresh bool, err error)
	// Turn finds a turn of the app by its id, else by its client id.
	Turn(ctx context.Context, appID, ref string) (memory.Turn, error)
	// TurnsOfMessages lists the turns of a conversation that have a message whose id, as its client gave it, is one of the
	// ids. They are in the order of their events, without turns that were withdrawn.
	TurnsOfMessages(ctx context.Context, owner memory.Owner, conversationID string, ids []string) ([]memory.Turn, error)
	// TurnStatus is the status of a turn of the app by its id.
	TurnStatus(ctx context.Context, appID, turnID string) (memory.TurnStatus, error)
	// TurnCandidates lists what the scorer proposed from a turn, oldest first.
	TurnCandidates(ctx context.Context, appID, turnID string) ([]memory.Candidate, error)
	// PastTurns lists processed turns of any app that date from before messages were kept and whose messages are not taken
	// in yet, by id, strictly after an id ("" for the first).
	PastTurns(ctx context.Context, after string, limit int) ([]memory.Turn, error)
	// CountPastTurns counts what PastTurns lists.
	CountPastTurns(ctx context.Context) (int, error)
	// ListTurns pages through turns, newest first, without their messages.
	ListTurns(ctx context.Context, f TurnFilter) ([]memory.Turn, error)

	// ClaimTurns takes up to limit accepted turns of any app that are due at now,
	// the longest due first, and sets their due time. It returns them in any order.
	// Several processes may call it at once; each turn is taken by one.
	ClaimTurns(ctx context.Context, now, due time.Time, limit int) ([]memory.Turn, error)
	// LongestDue returns the due time of the accepted turn of any app that is due first;
	// zero: no accepted turn waits.
	LongestDue(ctx context.Context) (time.Time, error)
	// RenewTurns sets the due time of those turns that are still accepted.
	RenewTurns(ctx context.Context, turnIDs []string, due time.Time) error
	// DeferTurn records an attempt that failed; the turn stays accepted.
	// refused, if not nil, is stored with it. A turn no longer accepted is left alone.
	// What a text column cannot hold (NUL, bytes that are not UTF-8) is stored as
	// U+FFFD in lastError and in the content and reason of any candidate.
	DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time,
		refused *memory.Candidate) error
	// FailTurn records the last attempt of a turn that is given up, and announces
	// it. A turn no longer accepted is left alone.
	FailTurn(ctx context.Context, turnID string, attempts int, lastError string, at time.Time,
		refused *memory.Candidate) error
	// EndTurns marks accepted turns that yield no memory and no candidate as processed,
	// counts one more attempt for each, notes Scored, and sets LeftOut unless it is empty. Turns that are no longer
	// accepted or no longer exist are left alone. A crash of the database may undo it: the turns are
	// then accepted and due as before.
	EndTurns(ctx context.Context, turns []EndedTurn, at time.Time) error
	// ReplayTurn makes a failed or accepted turn accepted, queued and due at an
	// instant, with no attempts. KindConflict: it has been processed or withdrawn, or ErrErasing.
	ReplayTurn(ctx context.Context, appID, turnID string, at time.Time) (memory.Turn, error)
}

// EndedTurn is a turn that yields no memory, with what is left out of it.
type EndedTurn struct {
	ID      string
	LeftOut []memory.Omission
	Scored  memory.Scoring
}

// LogState is the state of the log of a conversation: it changes with each turn, and with what is withheld or
// withdrawn. The zero value is that of a conversation that does not exist.
type LogState struct {
	FirstTurnID string
	Events      int64
	Edition     int64
}

// TurnFilter chooses turns. Empty fields do not restrict.
type TurnFilter struct {
	AppID  string // required
	UserID string
	Status memory.TurnStatus
	Before *Position // strictly older than this, in (AcceptedAt, ID) order
	Limit  int       // required, 1..memory.MaxPage
}

// Position is a place in a list that is ordered by time, then id.
type Position struct {
	At time.Time
	ID string
}

// VectorQueue is the outbox towards the vector store. A row is claimed by one
// pusher at a time, so that a memory has one writer there.
type VectorQueue interface {
	// ClaimVectors claims the rows with these ids that are pending or removing and have no claim at now, whether or not
	// they are due.
	ClaimVectors(ctx context.Context, ids []string, now, until time.Time) ([]VectorTask, error)
	// ClaimDueVectors claims up to limit rows, oldest due first, that are
	// pending or removing, due at now and without a claim at now. Several
	// processes may call it at once; each row is claimed by one.
	ClaimDueVectors(ctx context.Context, now, until time.Time, limit int) ([]VectorTask, error)
	// FinishVectors ends the claims of pushes that the vector store confirmed.
	// Rows whose revision is the pushed one become synced or absent, with no
	// attempts; rows that have changed since, or were pushed Into a space that does
	// not serve, become due at once. Rows that were claimed again since become due when that claim ends, since the two
	// pushes may have arrived in either order.
	FinishVectors(ctx context.Context, done []VectorTask, at time.Time) error
	// RetryVectors ends the claims of pushes that failed: one more attempt is
	// counted and each row is due at its time. Rows that were claimed again since are
	// due when that claim ends, even if its push was confirmed: the failed push may have done part of its work afterwards.
	RetryVectors(ctx context.Context, retries []VectorRetry) error
}

// VectorTask is one claimed push.
type VectorTask struct {
	Memory   memory.Memory // with its embedding, unless Remove
	Remove   bool          // the vector store should not hold the memory
	Claim    int           // its number among the claims of the memory; 1: the vector store cannot hold the memory yet
	Attempts int           // failed ones so far
	Into     memory.Space  // of the collection that it was pushed to; zero: the serving space
}

// VectorRetry is the end of a push that failed.
type VectorRetry struct {
	ID    string
	Claim int // as in VectorTask
	Due   time.Time
}

// Keys keeps API keys.
type Keys interface {
	// CreateKey stores a key. KindConflict: its app has memory.MaxKeys valid keys already. The limit does not apply to the
	// role operator.
	CreateKey(ctx context.Context, k memory.Key) error
	// Key finds a key by its id, revoked or not. KindNotFound: it does not exist.
	Key(ctx context.Context, id string) (memory.Key, error)
	// KeyByHash finds a key, revoked or not. KindNotFound: it does not exist.
	KeyByHash(ctx context.Context, hash string) (memory.Key, error)
	// ListKeys pages through keys, newest first.
	ListKeys(ctx context.Context, f KeyFilter) ([]memory.Key, error)
	// RevokeKey revokes a key from an instant on. by is the id of the key that asked for it; empty: a command did. A
	// key that is revoked already stays as it is. KindNotFound: it does not exist.
	RevokeKey(ctx context.Context, id, by string, at time.Time) error
}

// KeyFilter chooses keys. Empty fields do not restrict.
type KeyFilter struct {
	AppID            string
	WithoutOperators bool
	Before           *Position // strictly older than this, in (CreatedAt, ID) order
	Limit            int       // required, 1..memory.MaxPage
}

// Counts counts rows.
type Counts interface {
	// Stats counts one app's rows.
	Stats(ctx context.Context, appID string) (Stats, error)
	// ShelfLives counts the active memories of an app, or of one user of it, that have an end, at an instant.
	ShelfLives(ctx context.Context, of memory.Owner, at time.Time) (ShelfLives, error)
	// Usage counts what an app keeps, for each of its quotas that is not 0.
	Usage(ctx context.Context, appID string, quotas Usage) (Usage, error)
	// Users pages through an app's users that have active memories, in the order of their ids.
	Users(ctx context.Context, f UserFilter) ([]UserCount, error)
	// UserHoldings counts what is kept of a user; zeros if nothing is kept. It reads every memory of the user.
	UserHoldings(ctx context.Context, owner memory.Owner) (UserHoldings, error)
	// VectorBacklog counts the whole outbox, and the rows in it that have waited since
	// before each of the instants.
	VectorBacklog(ctx context.Context, before []time.Time) (Backlog, error)
}

// Usage is what an app keeps, or may keep.
type Usage struct {
	Users    int // with active memories
	Memories int // active ones
	Bytes    int // of the contents of all memories that are kept, in UTF-8
	Versions int // entries of the histories of memories, deleted ones included, and versions of instructions
	Webhooks int
}

// Stats counts an app's rows; kinds with no row are left out.
type Stats struct {
	Users      int
	Memories   map[memory.Status]int
	Domains    map[memory.Domain]int // active memories
	Types      map[memory.Type]int   // active memories
	Turns      map[memory.TurnStatus]int
	Candidates map[memory.Verdict]int
	Vectors    map[memory.VectorState]int
}

// ShelfLives counts active memories that have an end.
type ShelfLives struct {
	Limited int // with an end, past or to come
	Ended   int // of them: former by now
}

// UserFilter chooses users of an app.
type UserFilter struct {
	AppID  string
	Prefix string // of their ids; empty: any
	After  string // the last id seen; empty: from the first
	Limit  int
}

// UserCount counts the active memories of a user.
type UserCount struct {
	UserID      string
	Memories    int
	First, Last time.Time // when the oldest and the newest were created
	LastTurn    time.Time // when the newest turn was accepted; zero: the user has no turn
}

// UserHoldings is what is kept of a user.
type UserHoldings struct {
	Memories map[memory.Status]int // statuses without a memory are left out
	Bytes    int                   // of the contents of the memories, in UTF-8
	Turns    int
	LastTurn time.Time // when the newest turn was accepted; zero: the user has no turn
}

// Backlog is the state of the outbox towards the vector store.
type Backlog struct {
	Pending, Removing int
	Oldest            time.Time // since when the longest waiting row has waited; zero: no row waits
	Before            []int     // the rows that have waited since before each instant; nil without instants
}
