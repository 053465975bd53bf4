package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Exchange reads memories with everything that is recorded about them, and the
// other rows of users. Pages of an export are ordered by bytes.
type Exchange interface {
	// Export pages through an app's memories, in any status, in (UserID,
	// CreatedAt, ID) order by bytes. A page is as of one instant. A relation is
	// part of the later of its two memories in that order, so that a reader has
	// read the other one already.
	Export(ctx context.Context, p ExportPage) ([]Record, error)
	// Recorded returns, by id, the records of the ids for which the owner has a memory or events, without embeddings.
	// Relations are in both directions. Memory is zero if it has been purged.
	Recorded(ctx context.Context, owner memory.Owner, ids []string) (map[string]Record, error)

	// ExportFacts pages through the evidence of timelines, in (UserID, Type, Key,
	// RecordedAt, ID) order, strictly after a fact; nil: from the first.
	ExportFacts(ctx context.Context, of Extent, after *memory.Fact) ([]memory.Fact, error)
	// ExportInstructions pages through instructions, in (Kind, ID, Name) order,
	// strictly after one; nil: from the first. The instructions of a user are those of the user's scope.
	ExportInstructions(ctx context.Context, of Extent, after *memory.Instruction) ([]memory.Instruction, error)
	// ExportWorkflows pages through workflows, in (UserID, Skill, AgentID, SHA-256
	// of Text) order, strictly after one; nil: from the first.
	ExportWorkflows(ctx context.Context, of Extent, after *memory.Workflow) ([]memory.Workflow, error)
	// ExportOutcomes pages through the outcomes that were counted under an id, in
	// (UserID, ID) order, strictly after one; nil: from the first.
	ExportOutcomes(ctx context.Context, of Extent, after *CountedOutcome) ([]CountedOutcome, error)
	// ExportFiles pages through files with their contents, in (UserID, AgentID, Path)
	// order, strictly after one; nil: from the first.
	ExportFiles(ctx context.Context, of Extent, after *ExportedFile) ([]ExportedFile, error)
	// ExportFileVersions pages through the former versions of files, in (UserID, AgentID,
	// Path, WrittenAt, ID) order, strictly after one; nil: from the first.
	ExportFileVersions(ctx context.Context, of Extent, after *memory.FileVersion) ([]memory.FileVersion, error)
	// ExportConversations pages through conversations, in (UserID, ID) order,
	// strictly after one; nil: from the first.
	ExportConversations(ctx context.Context, of Extent, after *memory.Conversation) ([]memory.Conversation, error)
}

// ExchangeTx is what an import writes in a user's transaction, in addition to
// events and relations.
type ExchangeTx interface {
	// Recorded is Exchange.Recorded within the transaction.
	Recorded(ctx context.Context, ids []string) (map[string]Record, error)
	// Restore stores memories as they are, with any status and times. Active ones
	// become pending without a claim, due at an instant; since the vector store may hold them, their next claim counts as
	// the second one. The others become absent. KindConflict: an id exists already, for any owner.
	Restore(ctx context.Context, memories []memory.Memory, due time.Time) error
	// RestoreEvents is AddEvents for events of another server: it announces nothing.
	RestoreEvents(ctx context.Context, events []memory.Event) error
	// RecordedFact returns a fact of the owner; ok is false if it does not exist.
	RecordedFact(ctx context.Context, id string) (f memory.Fact, ok bool, err error)
	// RestoreWorkflow stores a new workflow of the owner as it is. KindConflict:
	// its id exists already, for any owner, or the owner has one with this text.
	RestoreWorkflow(ctx context.Context, w memory.Workflow) error
	// RecordedConversation, RecordedTurn and RecordedConsolidation return the row
	// that the owner has with an id; ok is false if it does not exist.
	RecordedConversation(ctx context.Context, id string) (c memory.Conversation, ok bool, err error)
	RecordedTurn(ctx context.Context, id string) (t memory.Turn, ok bool, err error)
	RecordedConsolidation(ctx context.Context, id string) (c memory.Consolidation, ok bool, err error)
	// RestoreConversation stores a new conversation of the owner as it is; it is
	// idle from an instant on. KindConflict: the id exists already.
	RestoreConversation(ctx context.Context, c memory.Conversation, heard time.Time) error
	// ContinueConversation gives a conversation of the owner that has had no turn since it had some events the counts,
	// LastAt, EndedAt, EndReason and a later ConsolidatedThrough of next; it is idle from an instant on.
	// ErrConversationChanged: it has other events, or was begun by another turn than next.
	ContinueConversation(ctx context.Context, next memory.Conversation, events int64, heard time.Time) error
	// RestoreTurn stores a new turn of a conversation of the owner as it is, and
	// leaves the conversation's counts alone. A turn that is not accepted is never
	// due. KindConflict: its id or client id exists already, for any owner. ErrEventsTaken: the conversation has another
	// turn with one of its events.
	RestoreTurn(ctx context.Context, t memory.Turn) error
}

// ErrEventsTaken is the KindConflict of a turn whose events another turn of the conversation has.
var ErrEventsTaken = memory.Errorf(memory.KindConflict,
	"the conversation has other messages in the place of this turn: nothing was overwritten")

// ExportPage chooses a page of an export. Empty fields do not restrict.
type ExportPage struct {
	AppID      string // required
	UserID     string
	After      *ExportPlace // strictly after this
	Limit      int          // required, 1..memory.MaxPage
	Embeddings bool         // with embeddings
}

// Extent chooses a page of an export of rows other than memories.
type Extent struct {
	AppID  string // required
	UserID string // empty: every user's, and the app's and its agents' own
	Limit  int    // required, 1..memory.MaxPage
}

// CountedOutcome records that an outcome with a client's id was counted; see SkillTx.
type CountedOutcome struct {
	memory.Owner
	ID, Hash string
	At       time.Time
}

// ExportedFile is a file with the id of its present version.
type ExportedFile struct {
	File      memory.File
	VersionID string
}

// ExportPlace is a position in an export.
type ExportPlace struct {
	UserID string
	Position
}

// Record is a memory with everything that is recorded about it.
type Record struct {
	Memory    memory.Memory
	Events    []memory.Event    // oldest first, ties by id
	Relations []memory.Relation // oldest first, ties by from, kind and to
}
