package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Conversations keeps the event logs of conversations:
//
//	AcceptTurn -> turn with the next event numbers, conversation grown, in one transaction
//	log -> working memory, running summary, consolidation
//
// The first turn creates a conversation, and the next turn of an ended one opens
// it again. The methods change existing rows only, so that an erasure, which
// deletes these rows, need not refuse them.
type Conversations interface {
	// Conversation returns a conversation of a user of the app. If userID is empty,
	// it returns the only conversation with this id; KindConflict: several users
	// have one.
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	// ListConversations pages through a user's conversations, the one with the
	// latest LastAt first.
	ListConversations(ctx context.Context, f ConversationFilter) ([]memory.Conversation, error)
	// ConversationTurns lists the turns that hold an event numbered above after,
	// in the order of their events, with their messages.
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	// Idle lists open conversations of any owner whose latest turn was accepted
	// before an instant, the longest idle first.
	Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error)

	// SetTitle gives a conversation a title. KindNotFound: it does not exist.
	SetTitle(ctx context.Context, owner memory.Owner, id, title string) (memory.Conversation, error)
	// EndConversation ends an open conversation that has not changed since it was
	// read; it returns one that has ended already with fresh false.
	// ErrConversationChanged: it has a new turn, or was deleted and begun again. KindNotFound: it does not exist.
	EndConversation(ctx context.Context, c memory.Conversation, at time.Time, reason string) (
		ended memory.Conversation, fresh bool, err error)
	// Summarise stores the Summary, SummarisedThrough and SummarisedTokens of next.
	// KindConflict: these fields or the Edition differ from c's, or another turn than
	// c.Began has begun the conversation.
	// KindNotFound: it does not exist.
	Summarise(ctx context.Context, c, next memory.Conversation) error
	// DeleteConversation deletes a conversation with its turns and their
	// candidates. Memories that were made from it stay. KindNotFound: it does not exist.
	DeleteConversation(ctx context.Context, owner memory.Owner, id string) (DeletedConversation, error)
}

// LogTx changes what readers get of the log of a user's conversations. The log itself stays as it was reported.
type LogTx interface {
	// ReviseConversation begins the next Edition of a conversation. A conversation that is gone is left out. It locks the
	// row of the conversation. Call it before Withhold, since the deletion of a conversation also begins with this row.
	ReviseConversation(ctx context.Context, id string, r ConversationRevision) error
	// Withhold replaces Withheld of a turn. A turn that is gone is left out.
	Withhold(ctx context.Context, turnID string, withheld []memory.Withheld) error
	// WithdrawTurn makes a turn withdrawn, whatever its status. KindNotFound: the owner has no such turn.
	WithdrawTurn(ctx context.Context, turnID string, at time.Time) error
	// AcceptTurn is Turns.AcceptTurn within the transaction, for a turn of the owner. ErrConversationChanged: also if
	// another process stores a turn with the same client id at the same time.
	AcceptTurn(ctx context.Context, t memory.Turn, due time.Time, log *LogState) (
		stored memory.Turn, fresh bool, err error)
}

// ConversationRevision says what a new Edition of a conversation changes.
type ConversationRevision struct {
	From            int64  // number of the first event that changes; a summary that covers it is dropped and made again
	Title, Retitled string // a title that is equal to Title becomes Retitled
}

// ConversationFilter chooses conversations. Empty fields do not restrict.
type ConversationFilter struct {
	Owner  memory.Owner // required
	State  ConversationState
	Before *Position // strictly older than this, in (LastAt, ID) order
	Limit  int       // required, 1..memory.MaxPage
}

// ConversationState says whether a conversation has ended.
type ConversationState string

// The states of a conversation.
const (
	ConversationOpen  ConversationState = "open"
	ConversationEnded ConversationState = "ended"
)

// DeletedConversation counts what was deleted with a conversation.
type DeletedConversation struct {
	Turns, Candidates int
}

// ErrSeveralUsers is the KindConflict of a conversation id that names several
// conversations of an app.
var ErrSeveralUsers = memory.Errorf(memory.KindConflict,
	"several users have a conversation with this id: name the user with user_id")

// ErrConversationChanged is the KindConflict of ending or continuing a conversation that has a
// turn newer than the one that was read last.
var ErrConversationChanged = memory.Errorf(memory.KindConflict, "the conversation has a new turn since it was read")

// ErrSummarised is the KindConflict of a summary of a conversation that has been
// summarised, or deleted and begun again, since it was read.
var ErrSummarised = memory.Errorf(memory.KindConflict, "another worker has summarised the conversation")
