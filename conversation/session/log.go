package session

import (
	"context"
	"iter"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// TurnLister lists turns of a conversation; db.Conversations has it.
type TurnLister interface {
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
}

// Logged is an event with its turn.
type Logged struct {
	Event
	Turn memory.Turn
}

// logPage is how many turns are read at once.
const logPage = 100

// Log iterates over the events after one number and up to another of a
// conversation, oldest first.
func Log(ctx context.Context, records TurnLister, owner memory.Owner, id string, after,
	through int64) iter.Seq2[Logged, error] {
	turns := db.All(logPage, func(last memory.Turn, limit int) ([]memory.Turn, error) {
		if after >= through {
			return nil, nil
		}
		return records.ConversationTurns(ctx, owner, id, max(after, last.FirstEvent+int64(len(last.Messages))-1), limit)
	})
	return func(yield func(Logged, error) bool) {
		for t, err := range turns {
			if err != nil {
				yield(Logged{}, err)
				return
			}
			for _, e := range EventsOf(t) {
				if e.Number > through {
					return
				}
				if e.Number > after && !yield(Logged{Event: e, Turn: t}, nil) {
					return
				}
			}
		}
	}
}
