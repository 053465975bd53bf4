package session

import (
	"context"
	"iter"
	"time"
	"unsafe"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Event is one message of a conversation.
type Event struct {
	TurnID     string
	MessageID  string // the client's own; may be empty
	Number     int64  // in the conversation, from 1
	Role       string
	Name       string
	Content    string
	Kind       memory.MessageKind // never empty
	Tags       []string
	Context    memory.MessageContext
	Importance float64 // 0..1, see memory.Importance
	Tokens     int     // of Content
	At         time.Time
	Withheld   bool // only the log has it: nothing is left of Content, see memory.Turn.Readable, or memory was not on
}

// EventsOf returns the messages of a turn of a conversation as events, without what is withheld.
func EventsOf(t memory.Turn) []Event {
	events := make([]Event, len(t.Messages))
	for i, m := range t.Readable() {
		events[i] = Event{
			TurnID: t.ID, Number: t.FirstEvent + int64(i), Role: m.Role, Name: m.Name, Content: m.Content, Kind: m.Kind,
			Tags: m.Tags, MessageID: m.ID,
			Context: m.Context, Importance: memory.Importance(m), Tokens: m.Tokens, At: t.SaidAt(i).UTC(),
			Withheld: t.Status == memory.TurnWithdrawn || !t.Memory.Keeps() || m.Content == "" && t.Messages[i].Content != "",
		}
		if m.IsChat() {
			events[i].Kind = memory.Chat
		}
		if m.Tokens == 0 { // it is empty, or was stored before tokens were counted
			events[i].Tokens = text.CountTokens(m.Content)
		}
	}
	return events
}

// ring holds the latest events of a conversation without gaps. It is immutable.
type ring struct {
	firstTurnID string  // Conversation.Began
	edition     int64   // Conversation.Edition; the events may be of a later edition
	last        int64   // number of the last event that was read
	events      []Event // oldest first; the last one's number is last
}

// with returns a ring that includes the later events of some turns, and holds at most the latest `most` events.
func (r ring) with(most int, turns ...memory.Turn) ring {
	var more []Event
	for _, t := range turns {
		for _, e := range EventsOf(t) {
			if e.Number > r.last {
				more, r.last = append(more, e), e.Number
			}
		}
	}
	if len(more) == 0 {
		return r
	}
	more = more[max(0, len(more)-most):]
	old := r.events[max(0, len(r.events)+len(more)-most):]
	r.events = append(append(make([]Event, 0, len(old)+len(more)), old...), more...)
	return r
}

// bytes estimates the size of the ring.
func (r ring) bytes() int {
	n := int(unsafe.Sizeof(r)) + len(r.firstTurnID)
	turn := ""
	for _, e := range r.events {
		n += int(unsafe.Sizeof(e)) + len(e.MessageID) + len(e.Role) + len(e.Name) + len(e.Content) + len(e.Kind)
		for _, tag := range e.Tags {
			n += int(unsafe.Sizeof(tag)) + len(tag)
		}
		if e.TurnID != turn { // the events of a turn share it
			n, turn = n+len(e.TurnID), e.TurnID
		}
	}
	return n
}

// ageless is the importance from which an event does not age.
const ageless = 0.5

// recent returns the events after the summary that are not too old at an instant, oldest first.
func (r ring) recent(summarised int64, set Settings, now time.Time) []Event {
	events := make([]Event, 0, len(r.events))
	for _, e := range r.events {
		if e.Number > summarised && !e.Withheld && (e.Importance >= ageless || now.Sub(e.At) < set.Age) {
			events = append(events, e)
		}
	}
	return events
}

// fit divides events into the latest ones, which have at most so many tokens together, and those before them. The last
// event is always among the latest ones, however long it is.
func fit(events []Event, most int) (before, latest []Event) {
	tokens := 0
	for i := len(events) - 1; i >= 0; i-- {
		if tokens += events[i].Tokens; tokens > most {
			n := min(i+1, len(events)-1)
			return events[:n], events[n:]
		}
	}
	return nil, events
}

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
// conversation, oldest first, except for those that are withheld.
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
				if e.Number > after && !e.Withheld && !yield(Logged{Event: e, Turn: t}, nil) {
					return
				}
			}
		}
	}
}
