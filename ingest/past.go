package ingest

import (
	"context"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
)

const (
	pastPage  = 100         // turns of any user read at a time
	pastSlice = time.Minute // of one job
)

// TakenIn is the result of TakeInPast.
type TakenIn struct {
	Turns     int `json:"turns"`     // turns whose messages have become memories
	Messages  int `json:"messages"`  // that became memories
	Remaining int `json:"remaining"` // turns whose messages are still to be taken in
}

// TakeInPast makes memories of the messages of turns that were processed before messages were
// kept. It ends after about a minute; repeating it continues where it ended, and no turn is
// taken in twice, even if several processes run it.
func (s *Service) TakeInPast(ctx context.Context) (done TakenIn, err error) {
	if !s.set.Messages {
		return done, nil
	}
	after := ""
	for begin := s.Now(); s.Now().Sub(begin) < pastSlice; {
		turns, err := s.Records.PastTurns(ctx, after, pastPage)
		if err != nil || len(turns) == 0 {
			return done, err
		}
		messages, err := s.pastMessages(ctx, turns)
		if err != nil {
			return done, err
		}
		for _, turn := range turns {
			after = turn.ID
			kept, err := s.takeIn(ctx, turn, messages[turn.ID])
			if errors.Is(err, db.ErrErasing) {
				continue // its turns are being deleted
			}
			if err != nil {
				return done, err
			}
			done.Turns++
			done.Messages += kept
		}
	}
	done.Remaining, err = s.Records.CountPastTurns(ctx)
	return done, err
}

// pastMessages completes the messages of turns, by turn id, with one call of the embedder, and notes in the turns what
// is left out.
func (s *Service) pastMessages(ctx context.Context, turns []memory.Turn) (map[string][]memory.Memory, error) {
	var drafts []memory.Memory
	for i := range turns {
		turn := &turns[i]
		zone, err := s.Zone.Of(ctx, turn.Owner)
		if err != nil {
			return nil, err
		}
		turn.Zone = zone
		rules, err := s.policyOf(ctx, turn.AppID)
		if err != nil {
			return nil, err
		}
		*turn = s.read(s.cut(rules, *turn))
		messages, leftOut := s.messages(*turn, memory.Message{}, echoes{}) // what recall returned then is not known any more
		drafts, turn.LeftOut = append(drafts, messages...), inOrder(turn.LeftOut, leftOut)
	}
	complete, err := s.complete(ctx, drafts)
	if err != nil {
		return nil, err
	}
	messages := map[string][]memory.Memory{}
	for _, m := range complete {
		messages[m.SourceTurnID] = append(messages[m.SourceTurnID], m)
	}
	for i := range turns {
		turn, lost := &turns[i], []memory.Omission(nil)
		messages[turn.ID], lost = withoutLost(messages[turn.ID])
		turn.LeftOut = inOrder(turn.LeftOut, lost)
	}
	return messages, nil
}

// takeIn makes memories of the messages of one turn and returns their number.
func (s *Service) takeIn(ctx context.Context, turn memory.Turn, messages []memory.Memory) (kept int, err error) {
	candidates, err := s.Records.TurnCandidates(ctx, turn.AppID, turn.ID)
	if err != nil {
		return 0, err
	}
	_, err = s.Writer.Write(ctx, write.Batch{
		Owner: turn.Owner, Cause: causeOf(turn), Drafts: draftsOf(messages, write.Alone),
		First: func(ctx context.Context, tx db.UserTx) error {
			ok, err := tx.TakeInTurn(ctx, turn.ID)
			if err == nil && !ok {
				err = errFinished
			}
			if err != nil {
				return err
			}
			return leaveOut(ctx, tx, turn)
		},
		Also: func(ctx context.Context, tx db.UserTx, _ *history.Recorder, _ []write.Written) error {
			return s.deriveFacts(ctx, tx, turn, candidates, messages)
		},
	})
	if errors.Is(err, errFinished) {
		return 0, nil
	}
	return len(messages), err
}

// deriveFacts relates the facts of a turn to the messages that they were taken from.
func (s *Service) deriveFacts(
	ctx context.Context, tx db.UserTx, turn memory.Turn, candidates []memory.Candidate, messages []memory.Memory,
) error {
	var ids []string
	for _, c := range candidates {
		if c.MemoryID != "" && c.Verdict != memory.Echo {
			ids = append(ids, c.MemoryID)
		}
	}
	facts, err := tx.Memories(ctx, ids)
	if err != nil {
		return err
	}
	var relations []memory.Relation
	for _, fact := range facts {
		if message := spoken(fact.Content, turn, messages); message != nil {
			relations = append(relations, memory.Relation{
				From: fact.ID, Kind: memory.DerivedFrom, To: message.ID, CreatedAt: memory.Instant(s.Now()),
			})
		}
	}
	if len(relations) == 0 {
		return nil
	}
	return tx.AddRelations(ctx, relations)
}
