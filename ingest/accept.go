package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Accept makes a turn durable and due: an idle worker of this process takes it directly, or any process claims it.
// Accept fills in the id if it is empty, the hash and the times; a zero At becomes now. It leaves out messages that
// the log of the turn's conversation has at this place already, and counts them in Repeated. If no message is left, it
// returns the turn that has the last of them, with fresh false. If the app has a turn with the same client id, it
// returns that turn, with fresh false. Of the modes of the turn, its key, its conversation and its user, the strictest
// decides. A turn that Replaces another one is stored and withdraws it in one transaction.
// KindConflict: the client id belongs to a turn with other content. KindNotFound: the user has no turn to be replaced.
func (s *Service) Accept(ctx context.Context, turn memory.Turn) (stored memory.Turn, fresh bool, err error) {
	stored, fresh, start, err := s.accept(ctx, turn)
	start()
	return stored, fresh, err
}

// accept is Accept without handing the turn to a worker, which start does.
func (s *Service) accept(ctx context.Context, turn memory.Turn) (
	stored memory.Turn, fresh bool, start func(), err error,
) {
	start = func() {}
	if err := s.refuseLate(); err != nil {
		return memory.Turn{}, false, start, err
	}
	now := memory.Instant(s.Now())
	turn.Hash = turnHash(turn) // of what was sent: a setting that has changed since does not make a repetition a conflict
	if turn.Memory != memory.ModeOn || turn.KeyMemory != memory.ModeOn {
		if turn, err = s.withMode(ctx, turn); err != nil {
			return memory.Turn{}, false, start, err
		}
	}
	if turn.ConversationID != "" {
		turn.Messages = counted(turn.Messages)
	}
	turn.ID = cmp.Or(turn.ID, memory.NewID())
	if len(turn.People) > 0 {
		if turn, err = s.ownCopy(ctx, turn); err != nil {
			return memory.Turn{}, false, start, err
		}
	}
	turn.Status = memory.TurnAccepted
	turn.AcceptedAt = now
	turn.QueuedAt = now
	turn = dated(turn, now)
	if turn.ExpiresAt, err = s.endOf(ctx, turn.Owner, turn.Expires); err != nil {
		return memory.Turn{}, false, start, err
	}
	due, reserved := now, turn.Memory.Keeps() && s.reserve()
	if reserved {
		due = now.Add(s.set.Lease)
	}
	defer func() {
		if reserved {
			s.unreserve()
		}
	}()
	for range plans {
		stored, fresh, err = s.continueLog(ctx, turn, due)
		if errors.Is(err, db.ErrMode) {
			if turn, err = s.withMode(ctx, turn); err != nil {
				return memory.Turn{}, false, start, err
			}
			stored, fresh, err = s.continueLog(ctx, turn, due)
		}
		if !errors.Is(err, errOutdated) {
			break
		}
	}
	switch {
	case err != nil:
		return stored, false, start, err
	case fresh:
		reported := stored
		reported.Offset = turn.Offset
		s.OnAccepted(reported)
		switch {
		case stored.Status == memory.TurnProcessed:
			s.counts.count(1, OutcomeProcessed)
		case reserved:
			reserved = false
			start = func() { s.taken <- taken{stored, trace.SpanContextFromContext(ctx)} }
		default:
			signal(s.due)
		}
	case turn.ClientID != "" && stored.ClientID == turn.ClientID && stored.Hash != turn.Hash:
		err = memory.Errorf(memory.KindConflict,
			"id %q was used for a turn with other content: send a new turn under a new id", turn.ClientID)
	}
	return stored, fresh, start, err
}

// withMode returns a turn with the strictest of the modes of itself, its key, its conversation and its user.
func (s *Service) withMode(ctx context.Context, turn memory.Turn) (memory.Turn, error) {
	chosen, err := s.Records.ModeOf(ctx, turn.Owner, turn.ConversationID)
	set := memory.Strictest(memory.ModeAt(memory.LevelTurn, turn.Memory), memory.ModeAt(memory.LevelKey, turn.KeyMemory),
		chosen)
	turn.Memory, turn.MemoryLevel = set.Mode, set.Level
	return turn, err
}

// continueLog stores a turn, and adds its new messages to the log of its conversation, if it has one.
func (s *Service) continueLog(ctx context.Context, turn memory.Turn, due time.Time) (
	stored memory.Turn, fresh bool, err error,
) {
	accept := s.Records.AcceptTurn
	if !turn.Memory.Keeps() {
		turn.Status, turn.ProcessedAt = memory.TurnProcessed, turn.AcceptedAt
	}
	var replaced *withdrawal
	if turn.Replaces != "" {
		if replaced, err = s.replacedBy(ctx, turn); err != nil {
			return stored, false, err
		}
		accept = replaced.accept
	}
	if turn.ConversationID == "" {
		if turn, err = s.asStored(ctx, turn); err != nil {
			return stored, false, err
		}
		return accept(ctx, turn, due, nil)
	}
	for {
		before, cached, err := s.saidBefore(ctx, turn, replaced)
		if err != nil {
			return stored, false, err
		}
		known, err := s.identify(ctx, turn, before, replaced)
		if err != nil {
			return stored, false, err
		}
		added := turn
		added.Messages = known.news(turn)
		added.Repeated = len(turn.Messages) - len(added.Messages)
		edited := known.edited(turn)
		switch {
		case edited >= 0 && !cached:
			stored, err = s.edited(ctx, turn, edited, replaced)
			return stored, false, err
		case edited < 0 && len(added.Messages) > 0:
			if added, err = s.asStored(ctx, added); err != nil {
				return stored, false, err
			}
			stored, fresh, err = accept(ctx, added, due, &before.log)
		case cached: // another process may have continued the log since
			err = db.ErrConversationChanged
		default:
			stored, err = s.repeatedTurn(ctx, turn, before.turnID, replaced)
			if err == nil && replaced != nil && !replaced.isEmpty() {
				_, err = replaced.run(ctx, nil)
			}
		}
		if fresh {
			if replaced == nil {
				s.rememberSaid(turn, before.with(stored))
			}
			return stored, true, nil
		}
		if !errors.Is(err, db.ErrConversationChanged) {
			stored.Repeated = len(turn.Messages)
			return stored, false, err
		}
		s.logs.Remove(saidKey(turn.Owner, turn.ConversationID))
	}
}

// repeatedTurn returns the stored turn for a turn that adds nothing: the one with the same client id, else the one that
// has the id of its last message, else the last turn of the log. db.ErrConversationChanged: the log has been deleted
// since it was read.
func (s *Service) repeatedTurn(ctx context.Context, turn memory.Turn, lastID string, replaced *withdrawal) (
	memory.Turn, error,
) {
	if known, ok, err := s.turnOfClient(ctx, turn); err != nil || ok {
		return known, err
	}
	if m := turn.Messages[len(turn.Messages)-1]; m.ID != "" {
		known, err := s.turnsOfMessages(ctx, turn, []string{m.ID}, replaced)
		if err != nil {
			return memory.Turn{}, err
		}
		if len(known) > 0 {
			return known[len(known)-1], nil
		}
	}
	last, err := s.Records.Turn(ctx, turn.AppID, lastID)
	if memory.IsKind(err, memory.KindNotFound) {
		err = db.ErrConversationChanged
	}
	return last, err
}

// turnOfClient returns the stored turn that has the client id of a turn; ok is false without such a turn.
func (s *Service) turnOfClient(ctx context.Context, turn memory.Turn) (known memory.Turn, ok bool, err error) {
	if turn.ClientID == "" {
		return known, false, nil
	}
	known, err = s.Records.Turn(ctx, turn.AppID, turn.ClientID)
	if memory.IsKind(err, memory.KindNotFound) {
		return memory.Turn{}, false, nil
	}
	return known, err == nil && known.ClientID == turn.ClientID, err
}

// dated returns a turn with the instants of what was said. A zero At becomes the time of the latest message if all
// messages have times, else now.
func dated(turn memory.Turn, now time.Time) memory.Turn {
	turn.Messages = slices.Clone(turn.Messages)
	own := time.Time{}
	for i := range turn.Messages {
		at := &turn.Messages[i].At
		if at.IsZero() {
			own = now
			continue
		}
		*at = memory.Instant(*at)
		if at.After(own) {
			own = *at
		}
	}
	turn.At = memory.Instant(cmp.Or(turn.At, own))
	return turn
}

// counted returns messages with their token counts.
func counted(messages []memory.Message) []memory.Message {
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].Tokens = text.CountTokens(messages[i].Content)
	}
	return messages
}

// turnHash covers everything that the client sent.
func turnHash(t memory.Turn) string {
	at := ""
	if !t.At.IsZero() {
		at = memory.Instant(t.At).Format(time.RFC3339Nano)
	}
	// Encoding strings and checked JSON cannot fail.
	sent := []any{t.UserID, t.AgentID, t.ConversationID, t.Messages, t.Metadata, at}
	if t.Replaces != "" {
		sent = append(sent, t.Replaces)
	}
	if t.Memory != memory.ModeOn {
		sent = append(sent, t.Memory.String())
	}
	if t.Expires != (memory.Expiry{}) {
		sent = append(sent, t.Expires)
	}
	if len(t.People) > 0 {
		sent = append(sent, t.People)
	}
	data, _ := json.Marshal(sent)
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

// Replay makes a failed turn, or one whose retry is not yet due, accepted and due.
// KindConflict: it has been processed.
func (s *Service) Replay(ctx context.Context, appID, turnID string) (memory.Turn, error) {
	turn, err := s.Records.ReplayTurn(ctx, appID, turnID, memory.Instant(s.Now()))
	signal(s.due)
	return turn, err
}

// Await checks the turn at growing intervals.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// Await returns the outcome of a turn once it is processed or failed, or the
// turn as it stands when the context ends.
func (s *Service) Await(ctx context.Context, appID, turnID string) (Outcome, error) {
	for wait := firstLook; ; wait = min(wait*5/4, lastLook) {
		status, err := s.Records.TurnStatus(ctx, appID, turnID)
		if ctx.Err() != nil || err == nil && status != memory.TurnAccepted {
			return s.lastOutcome(ctx, appID, turnID)
		}
		if err != nil {
			return Outcome{}, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// lastOutcome is Outcome for a context that may have ended.
func (s *Service) lastOutcome(ctx context.Context, appID, turnID string) (Outcome, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tickTimeout)
	defer cancel()
	return s.Outcome(ctx, appID, turnID)
}
