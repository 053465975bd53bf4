package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Conversations keeps the log of what was said where:
//
//	AcceptTurn -> turn with the next event numbers, conversation grown, in one transaction
//	log -> working memory, running summary, consolidation
//
// A conversation comes into being with its first turn, and an ended one is open
// again with the next. What its methods change are rows that exist: they need
// not be refused to an owner who is being erased, whose rows go.
type Conversations interface {
	// Conversation returns a conversation of a user of the app. Where userID is
	// empty it is that of the only user who has one of this id; KindConflict:
	// several have.
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

	// SetTitle gives a conversation a title. KindNotFound: there is none.
	SetTitle(ctx context.Context, owner memory.Owner, id, title string) (memory.Conversation, error)
	// EndConversation ends an open conversation that stands as it was read, and
	// returns it with fresh false where it has ended already. ErrConversationChanged: something
	// has been said since, or it was begun anew. KindNotFound: there is none.
	EndConversation(ctx context.Context, c memory.Conversation, at time.Time, reason string) (ended memory.Conversation, fresh bool, err error)
	// Summarise gives a conversation the Summary, SummarisedThrough and
	// SummarisedTokens of next, where these are still as in c and it is still
	// the one that c.Began has begun. KindConflict: they are not.
	// KindNotFound: there is none.
	Summarise(ctx context.Context, c, next memory.Conversation) error
	// DeleteConversation deletes a conversation with its turns and their
	// candidates. Memories that were made from it stay. KindNotFound: there is none.
	DeleteConversation(ctx context.Context, owner memory.Owner, id string) (DeletedConversation, error)
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

// DeletedConversation counts what went with a conversation.
type DeletedConversation struct {
	Turns, Candidates int
}

// ErrSeveralUsers is the KindConflict of a conversation id that names several
// conversations of an app.
var ErrSeveralUsers = memory.Errorf(memory.KindConflict, "several users have a conversation with this id: say whose is meant with user_id")

// ErrConversationChanged is the KindConflict of the end of a conversation in which something
// has been said since it was read.
var ErrConversationChanged = memory.Errorf(memory.KindConflict, "the conversation has gone on since it was read")

// ErrSummarised is the KindConflict of a summary of a conversation that has
// been summarised, or begun anew, since it was read.
var ErrSummarised = memory.Errorf(memory.KindConflict, "the conversation has been summarised by somebody else")
