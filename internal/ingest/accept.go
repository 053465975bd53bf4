package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// Accept makes a turn durable and queues it. It fills in the id, the hash and
// the times; a zero At becomes now. Where the app has a turn with the same
// client id, that one is returned with fresh false.
// KindConflict: the client id belongs to a turn with other content.
func (s *Service) Accept(ctx context.Context, turn memory.Turn) (stored memory.Turn, fresh bool, err error) {
	now := memory.Instant(s.Now())
	turn.Hash = turnHash(turn)
	turn.ID, turn.Status, turn.AcceptedAt = memory.NewID(), memory.TurnAccepted, now
	turn.At = memory.Instant(turn.At)
	if turn.At.IsZero() {
		turn.At = now
	}
	stored, fresh, err = s.Records.AcceptTurn(ctx, turn, now.Add(s.set.ResumeAfter), processTurn(turn.ID))
	if err == nil && !fresh && stored.Hash != turn.Hash {
		err = memory.Errorf(memory.KindConflict,
			"id %q was used for a turn with other content: send a new turn under a new id", turn.ClientID)
	}
	return stored, fresh, err
}

// turnHash covers all that the client sent.
func turnHash(t memory.Turn) string {
	at := ""
	if !t.At.IsZero() {
		at = memory.Instant(t.At).Format(time.RFC3339Nano)
	}
	// Encoding strings and checked JSON cannot fail.
	data, _ := json.Marshal([]any{t.UserID, t.AgentID, t.ConversationID, t.Messages, t.Metadata, at})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Outcome returns a turn of the app, by its id or client id, and its candidates.
func (s *Service) Outcome(ctx context.Context, appID, ref string) (Outcome, error) {
	turn, err := s.Records.Turn(ctx, appID, ref)
	if err != nil {
		return Outcome{}, err
	}
	candidates, err := s.Records.TurnCandidates(ctx, appID, turn.ID)
	return Outcome{turn, candidates}, err
}

// Replay queues a failed turn again, or one whose retry is still to come.
// KindConflict: it has been processed.
func (s *Service) Replay(ctx context.Context, appID, turnID string) (memory.Turn, error) {
	return s.Records.ReplayTurn(ctx, appID, turnID, s.Now().Add(s.set.ResumeAfter), processTurn(turnID))
}

// awaitStep is the time between two looks at an awaited turn.
const awaitStep = 20 * time.Millisecond

// Await returns the outcome of a turn once it is processed or failed, or the
// turn as it stands when the context ends.
func (s *Service) Await(ctx context.Context, appID, turnID string) (Outcome, error) {
	ticker := time.NewTicker(awaitStep)
	defer ticker.Stop()
	var last memory.Turn
	for {
		turn, err := s.Records.Turn(ctx, appID, turnID)
		switch {
		case err != nil && ctx.Err() != nil && last.ID != "":
			return Outcome{Turn: last}, nil
		case err != nil:
			return Outcome{}, err
		case turn.Status != memory.TurnAccepted:
			return s.Outcome(ctx, appID, turnID)
		}
		last = turn
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return Outcome{Turn: last}, nil
		}
	}
}
