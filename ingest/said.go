package ingest

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/heading"
	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
)

// said is the end of a conversation's log. It shows which messages a backend reports again, such as the whole list of a
// chat framework after each turn.
type said struct {
	log    db.LogState
	events []event   // the last ones, at most maxSaid
	older  []event   // earlier ones that have an id of the turn that is compared
	turnID string    // of the last turn
	at     time.Time // when the last turn was said
}

// event identifies a message.
type event struct {
	hash   digest
	id     digest // of the id that the client gave it; zero if it gave no id
	words  digest // hash of speaker and words, if it has an id
	spoken bool   // an utterance of the user or of the assistant
}

// digest is the first half of a SHA-256.
type digest [16]byte

func digestOf(parts ...string) digest {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return digest(sum[:len(digest{})])
}

const (
	minSaid      = 20 // events that are read of a longer log
	maxSaid      = 2 * memory.MaxMessages
	saidBytes    = 4 << 20   // of the cached ends of logs
	sameOccasion = time.Hour // time within which a single equal message is a repeated report
)

func eventOf(m memory.Message) event {
	content := m.Content
	if m.Role == memory.RoleUser && m.IsChat() {
		content = heading.WithoutContexts(content)
	}
	content, _ = secret.Cut(content) // the log may be from before, or from another value of secrets.keep
	kind := string(m.Kind)
	if m.IsChat() {
		kind = string(memory.Chat)
	}
	words := strings.Join(strings.Fields(content), " ") // clients store answers without the space around them
	e := event{hash: digestOf(m.Role, m.Name, kind, words, string(m.Raw)), spoken: m.IsSpoken()}
	if m.ID != "" {
		e.id = digestOf(m.ID)
		e.words = digestOf(m.Role, words)
	}
	return e
}

func eventsOf(messages []memory.Message) []event {
	events := make([]event, len(messages))
	for i, m := range messages {
		events[i] = eventOf(m)
	}
	return events
}

// news returns the messages of a turn that the log does not have. Ids decide first, see identified. The other messages
// of the user and the assistant are compared in order: the longest beginning of the turn that equals the end of the log
// is known, or more of it, see followed. A message of another role or kind, such as a system message, is known if it
// comes before the first new message and the log has an equal message.
func (s *said) news(turn memory.Turn) []memory.Message {
	reported := eventsOf(turn.Messages)
	isSpoken := func(e event) bool { return e.spoken }
	if !slices.ContainsFunc(reported, isSpoken) {
		return turn.Messages[endsWith(s.events, reported):]
	}
	first, _ := turn.Said()
	spokenOnes := spokenOf(reported)
	known := endsWith(spokenOf(s.events), spokenOnes)
	if len(spokenOnes) == 1 && first.Sub(s.at) > sameOccasion {
		known = 0 // it was said again
	}
	after := afterSpoken(s.events)
	if followed := s.followed(spokenOnes, first); followed > known {
		known, after = followed, s.events
	}
	identified := s.identified(reported)
	var news []memory.Message
	spoken := 0
	for i, e := range reported {
		isNew := false
		switch {
		case i < len(identified):
			isNew = !identified[i]
			if e.spoken {
				spoken++
			}
		case e.spoken:
			spoken++
			isNew = spoken > known
		case spoken == 0 || spoken < known:
			isNew = !contains(s.events, e)
		default:
			isNew = spoken > known || !contains(after, e)
		}
		if isNew {
			news = append(news, turn.Messages[i])
		}
	}
	return news
}

func spokenOf(events []event) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool { return !e.spoken })
}

// afterSpoken returns the events after the last one that was spoken.
func afterSpoken(events []event) []event {
	for i, e := range slices.Backward(events) {
		if e.spoken {
			return events[i+1:]
		}
	}
	return events
}

// endsWith returns how many of the first reported events are the last ones of the log.
func endsWith(log, reported []event) int {
	for n := min(len(log), len(reported)); n > 0; n-- {
		if slices.EqualFunc(log[len(log)-n:], reported[:n], event.equals) {
			return n
		}
	}
	return 0
}

// with returns the end of the log after a turn was stored.
func (s *said) with(turn memory.Turn) *said {
	next := &said{log: s.log, turnID: turn.ID}
	_, next.at = turn.Said()
	if next.log.FirstTurnID == "" {
		next.log.FirstTurnID = turn.ID
	}
	next.log.Events = turn.LastEvent()
	next.events = slices.Concat(s.events, eventsOf(turn.Messages))
	next.events = next.events[max(0, len(next.events)-maxSaid):]
	return next
}

func saidKey(owner memory.Owner, conversationID string) string {
	return owner.AppID + "\x00" + owner.UserID + "\x00" + conversationID
}

// saidBefore returns as much of the end of the conversation's log as is compared with a turn, without withdrawn turns
// and the turn to be replaced. cached: it is the end of the log when this process stored a turn last.
func (s *Service) saidBefore(ctx context.Context, turn memory.Turn, replaced *withdrawal) (
	before *said, cached bool, err error,
) {
	needed := max(minSaid, 2*len(turn.Messages)) // the log may have events that the client's list lacks
	before, cached = s.logs.Get(saidKey(turn.Owner, turn.ConversationID))
	if cached && replaced == nil && (len(before.events) >= needed || int64(len(before.events)) == before.log.Events) {
		return before, true, nil
	}
	c, err := s.Records.Conversation(ctx, turn.AppID, turn.UserID, turn.ConversationID)
	if memory.IsKind(err, memory.KindNotFound) {
		return &said{}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for read := int64(needed); ; read *= 2 {
		turns, err := s.Records.ConversationTurns(ctx, turn.Owner, turn.ConversationID, c.Events-read, int(read))
		if err != nil {
			return nil, false, err
		}
		before = &said{log: db.LogState{FirstTurnID: c.FirstTurnID, Edition: c.Edition}}
		for _, t := range turns {
			isReplaced := replaced != nil && t.ID == replaced.turn.ID
			if t.LastEvent() <= c.Events && t.Status != memory.TurnWithdrawn && !isReplaced {
				before = before.with(t)
			}
		}
		before.log.Events = c.Events
		if len(before.events) >= needed || read >= c.Events {
			return before, false, nil
		}
	}
}

// rememberSaid caches the end of a log.
func (s *Service) rememberSaid(turn memory.Turn, end *said) {
	const perEvent, perEntry = 49, 300
	s.logs.Add(saidKey(turn.Owner, turn.ConversationID), end, perEntry+perEvent*len(end.events))
}
