package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// Memories keeps the memories and their history.
type Memories interface {
	// InUser runs f in one transaction that holds the owner lock. The owner need
	// not exist yet. If f returns an error, InUser rolls back and returns it. f must
	// use the database through tx only: on SQLite the transaction holds the only
	// writing connection. f must return tx's errors, wrapped or not. f may run more than once, since the database may
	// abort the transaction because of a conflict; it must then rebuild what it stores outside of tx. ErrErasing: the
	// owner is being erased, and f has not run.
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx UserTx) error) error

	// Memory returns one memory of a user of the app, in any status, without its embedding. Memories of the pool are not
	// found.
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	// ListMemories pages through a user's memories, newest first, without embeddings.
	ListMemories(ctx context.Context, f MemoryFilter) ([]memory.Memory, error)
	// EndOfExamined returns the position of the nth memory, in any status, that ListMemories compares with the filter when
	// it reads memories one by one, newest first. nil: there are fewer, or an index finds the memories that f chooses.
	EndOfExamined(ctx context.Context, f MemoryFilter, n int) (*Position, error)
	// History lists the events of a memory of the app, oldest first.
	// KindNotFound: the app has no such memory and no event of it.
	History(ctx context.Context, appID, memoryID string) ([]memory.Event, error)

	// Events lists the owner's events of the memories with these ids, by memory, oldest first.
	Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error)

	// Documents lists every active memory of the owner as the ranking and the
	// filters need it, in (ConversationID, CreatedAt, ID) order.
	Documents(ctx context.Context, owner memory.Owner) ([]Document, error)
	// Hydrate returns the active memories of the owner with these ids, in any order. The memories in embedded carry their
	// embeddings.
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
	// Superseded returns the memories of the owner that a memory supersedes, in (CreatedAt, ID) order, without
	// embeddings.
	Superseded(ctx context.Context, owner memory.Owner, by string) ([]memory.Memory, error)
	// Recalled reads what a recall ranks: the memories with the ids in whole, without lexemes and embeddings, and the last
	// accesses of the memories with the ids in rest. It leaves out ids without an active memory of the owner.
	Recalled(ctx context.Context, owner memory.Owner, whole, rest []string) (Recalled, error)
	// MatchingIDs returns the ids of the owner's active memories that a filter
	// chooses, in any order.
	MatchingIDs(ctx context.Context, owner memory.Owner, where *filter.Filter) ([]string, error)
	// Embeddings returns the embeddings by this model of the owner's memories with these ids, in any status.
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
	// EachEmbedding calls f with the embedding of each active memory of the owner
	// that was embedded by this model, at most limit of them, in any order. f must
	// not keep the slice, which the next call reuses.
	EachEmbedding(ctx context.Context, owner memory.Owner, model string, limit int,
		f func(id string, embedding []float32)) error
	// Unconfirmed returns the owner's active memories that the vector store
	// may not show yet: pending, or synced at or after since. The latest
	// changed (UpdatedAt) first, with embeddings.
	Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	// Changes reads how the owner's documents have changed since a revision, and then reads Unconfirmed, which therefore
	// includes writes during the call. After a revision of 0, or one whose changes are not known, it reads all documents.
	Changes(ctx context.Context, owner memory.Owner, after int64, since time.Time, limit int) (Changes, error)
	// Revision returns the number of the latest change of the owner's memories; see Changes.Revision.
	Revision(ctx context.Context, owner memory.Owner) (int64, error)
	// HandedOut returns the owner's active memories that recall touched at or
	// after since, latest first, without embeddings.
	HandedOut(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	// Touch counts accesses: access_count grows by Count, last_accessed_at
	// moves to At if that is later. The day of the latest access of each memory becomes
	// an active day. Unknown ids are ignored.
	Touch(ctx context.Context, touches []Touch) error
}

// UserTx is one user's transaction. Its methods neither read nor change rows of
// other owners.
type UserTx interface {
	MaintenanceTx
	CondensedTx
	ExchangeTx
	AnnouncementTx
	TimelineTx
	SkillTx
	FileTx
	SourceDocumentTx
	ConsolidationTx
	LogTx
	RelatedTx
	ActivityTx
	UserZoneTx
	UserModeTx
	FeedbackTx
	PeopleTx
	PoolTx
	ReprocessingTx

	// Memories returns the memories with these ids that exist, in any status, with embeddings.
	Memories(ctx context.Context, ids []string) ([]memory.Memory, error)
	// SameContent returns the oldest active memory, other than a message, with exactly
	// this agent and content, with its embedding; ok is false if there is no such memory.
	SameContent(ctx context.Context, agentID, content string) (m memory.Memory, ok bool, err error)
	// Recent returns what Memories.Unconfirmed does, and the active memories other than messages that have changed after a
	// revision, which a process may not have read yet that began at this revision; latest changed first, with embeddings.
	Recent(ctx context.Context, since time.Time, after int64, limit int) ([]memory.Memory, error)

	// Insert stores new memories. Their vector state is pending and claimed until
	// an instant: the caller pushes them right after the commit. If claimed is zero,
	// they have no claim yet, and the next claim is the first one. An adapter that writes vectors in this transaction sets
	// the state to synced at once, and to synced or absent for what Update changes. KindConflict: an id exists already.
	Insert(ctx context.Context, memories []memory.Memory, claimed time.Time) error
	// Update stores every changeable field of an existing memory. Accesses are
	// counted by Touch, which does not wait for this transaction: AccessCount
	// stays as it is stored, and LastAccessedAt only moves forward.
	// If m.Revision differs from the stored one, the vector state becomes
	// pending (status active) or removing (any other), due at m.UpdatedAt; an
	// existing claim stays. KindNotFound: the owner has no such memory.
	Update(ctx context.Context, m memory.Memory) error
	// Events returns the events of a memory, oldest first.
	Events(ctx context.Context, memoryID string) ([]memory.Event, error)
	// AddEvents appends to the histories of memories, which may have been purged,
	// and announces the events at the commit.
	AddEvents(ctx context.Context, events []memory.Event) error
	AddCandidates(ctx context.Context, candidates []memory.Candidate) error
	// RemoveCandidates removes what a scorer has proposed from a turn.
	RemoveCandidates(ctx context.Context, turnID, scorer string) error
	// Enqueue stores a job once, as Jobs.Enqueue does. It exists once the transaction has committed.
	Enqueue(ctx context.Context, job Job) error
	// TakeInTurn notes that the messages of a turn of PastTurns are memories; ok is false if it
	// is not such a turn, since another process has taken it in.
	TakeInTurn(ctx context.Context, turnID string) (ok bool, err error)
	// CutTurn replaces the messages of a turn without a conversation. Another turn, or one that is gone, is left alone.
	CutTurn(ctx context.Context, turnID string, messages []memory.Message) error
	// LeaveOut replaces LeftOut of a turn. A turn that is gone is left alone.
	LeaveOut(ctx context.Context, turnID string, leftOut []memory.Omission) error
	// FinishTurn makes an accepted turn processed, and notes what has scored it. KindConflict: another worker has
	// finished it.
	FinishTurn(ctx context.Context, turnID string, attempts int, at time.Time, scored memory.Scoring) error
}

// MemoryFilter chooses memories. Empty fields do not restrict.
type MemoryFilter struct {
	Owner          memory.Owner // required
	Types          []memory.Type
	Domains        []memory.Domain
	Statuses       []memory.Status
	ConversationID string
	AgentID        string    // exactly this agent's
	SeenBy         string    // this agent's and those that all agents share
	Tags           []string  // all of them
	AnyTags        []string  // at least one of them
	Since, Until   time.Time // CreatedAt in [Since, Until)
	Unexpired      time.Time // not expired at this instant; zero: also what has expired
	Where          *filter.Filter
	// AsOf chooses memories that may have matched at an instant: they were created
	// by then, in CreatedAt and in their history, and may match Types, Domains, Statuses,
	// Tags, Unexpired and Where now or were changed afterwards. db/history decides which did match.
	AsOf   time.Time
	Before *Position // strictly older than this, in (CreatedAt, ID) order
	DownTo *Position // this one or newer, in the same order
	Limit  int       // required, 1..memory.MaxPage
}

// Touch is some accesses of one memory.
type Touch struct {
	Owner memory.Owner // of the memory
	ID    string
	Count int
	At    time.Time // of the latest
}

// Recalled is the result of Memories.Recalled.
type Recalled struct {
	Whole    []memory.Memory
	Accessed map[string]time.Time
}

// Changes is the result of Memories.Changes.
type Changes struct {
	// Revision counts the changes of the owner's memories, from 1: every transaction
	// that writes memories or relations is one. Accesses and vector states do not count.
	Revision    int64
	All         bool       // Documents are those of all active memories
	Documents   []Document // changed ones, in the order of Memories.Documents
	Gone        []string   // ids of changed memories that are not active; nil if All
	Unconfirmed []memory.Memory
	Mode        memory.ModeSetting // as of UserModes.ModeOf
}

// Document is what the ranking and the filters use of an active memory.
type Document struct {
	ID          string
	Lexemes     string
	Speaker     string // of a message; of a fact, if it is known by name
	Asked       string // likewise
	Content     string
	DerivedFrom []string // ids of memories in (id) order; nil if it has no sources, and for a message
	// Superseded memories in the order of both ids; nil: no such memory. A message lists those that were derived from it,
	// and a reflection or summary those that it was derived from. Another memory lists those that it superseded, directly
	// or not, and that were derived from messages.
	Supersedes     []Former
	Domain         memory.Domain
	Type           memory.Type
	Tags           []string // nil: no tags
	AgentID        string
	ConversationID string
	Importance     float64
	CreatedAt      time.Time
	LastAccessedAt time.Time
	ExpiresAt      time.Time // zero: never
}

// Former is a superseded memory and a message that it was derived from, or the reflection or summary that was derived
// from it.
type Former struct {
	Lexemes string // of the superseded memory
	From    string // id of the message, or of the reflection or summary
	Said    string // content of the message
}
