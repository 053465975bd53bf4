package db

import (
	"context"

	"hippocampus/internal/memory"
)

// People keeps who takes part in conversations, and the copies of turns that each of them has.
type People interface {
	// Participants lists who takes part in a conversation of an app, in the order of the ids of the users and of their
	// names, strictly after one; zero: from the first.
	Participants(ctx context.Context, appID, conversationID string, after memory.Participant, limit int) (
		[]memory.Participant, error)
	// Participations lists the names that a user has in conversations. The rows of deleted conversations stay.
	Participations(ctx context.Context, owner memory.Owner) ([]memory.Participant, error)
	// SharedTurns lists the copies of a turn, in the order of the ids of their users; see memory.Share.
	SharedTurns(ctx context.Context, appID, turnID string) ([]memory.Turn, error)
	// SharedAmong returns those of some turns of a user that are copies.
	SharedAmong(ctx context.Context, owner memory.Owner, turnIDs []string) ([]string, error)
}

// PeopleTx changes copies of turns in a user's transaction.
type PeopleTx interface {
	// RedactTurn replaces the messages of a copy, and deletes some of its candidates. Another turn is left alone.
	RedactTurn(ctx context.Context, turnID string, messages []memory.Message, candidates []string) error
}
