package hippocampus

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"hippocampus/sdk/go/api"
)

// EventReset is the kind of the first event of a stream if events after the place to resume
// from may have been deleted. The oldest kept event follows it. Read the memories again if
// you keep a copy of them.
const EventReset EventKind = "reset"

// silence is how long a stream may send nothing; the server sends a comment
// every 15 seconds.
const silence = 45 * time.Second

// Event is what happened to a user's memories. The kind decides which of the last four
// fields is set.
type Event struct {
	ID           string // its place: StreamEventsParams.After resumes after it
	Kind         EventKind
	At           time.Time
	AppID        string
	UserID       string
	Data         json.RawMessage            // as the server sent it
	Memory       *api.AnnouncedMemory       // of memory.written and memory.forgotten
	Reflection   *api.AnnouncedReflection   // of reflection.created
	Conversation *api.AnnouncedConversation // of conversation.ended
	Turn         *api.AnnouncedTurn         // of turn.failed
}

// Events follows what happens, from now on or after p.After, each event once and in order.
// It reconnects, and resumes after the last event, when the stream ends. It yields an error
// as the last element when ctx ends, the server cannot be reached, or when as many
// consecutive streams as a request has attempts yield nothing.
func (c *Client) Events(ctx context.Context, p StreamEventsParams) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		p := p
		for idle := 0; ; {
			got, err := c.follow(ctx, p, yield)
			if got.done {
				return
			}
			if got.last != nil {
				p.LastEventID = got.last
			}
			if got.any {
				idle = 0
			}
			if err == nil && idle >= c.options.retries {
				err = &Error{Kind: KindUnreachable, Err: errors.New("the stream of events has ended")}
			}
			if err == nil && !sleep(ctx, c.options.backoff(idle)) {
				<-ctx.Done()
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !got.any {
				idle++
			}
		}
	}
}

// followed is the result of one connection.
type followed struct {
	last *string // the id to resume from; nil: no id was received
	any  bool    // there was an id or an event
	done bool    // the consumer wants no more
}

// follow yields the events of one connection. It returns an error if connecting again would
// not help.
func (c *Client) follow(
	ctx context.Context, p StreamEventsParams, yield func(Event, error) bool,
) (got followed, err error) {
	resp, err := c.api.StreamEvents(ctx, &p)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	if mediaType(resp.Header) != "text/event-stream" {
		err := errors.New("the answer is not a stream of events")
		return got, &Error{Kind: KindBadAnswer, Status: resp.StatusCode, Err: err}
	}
	silent := time.AfterFunc(silence, func() { resp.Body.Close() })
	defer silent.Stop()
	for lines := bufio.NewReader(resp.Body); ; {
		block, err := readBlock(lines, func() { silent.Reset(silence) })
		if err != nil {
			if ctx.Err() != nil {
				return got, context.Cause(ctx)
			}
			return got, nil // cut, or at its end: connect again
		}
		if block.id != "" {
			got.last = &block.id
		}
		got.any = got.any || block.id != "" || block.data != ""
		if block.data == "" {
			continue
		}
		event, err := block.event()
		if err != nil {
			return got, &Error{Kind: KindBadAnswer, Status: resp.StatusCode, Err: err}
		}
		if !yield(event, nil) {
			got.done = true
			return got, nil
		}
	}
}

// block is one block of a stream of server-sent events.
type block struct{ id, kind, data string }

// readBlock reads up to the next empty line (HTML standard, 9.2.6), and calls
// onLine after each line.
func readBlock(r *bufio.Reader, onLine func()) (block, error) {
	var b block
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return b, err
		}
		onLine()
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			return b, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			b.id = value
		case "event":
			b.kind = value
		case "data":
			if b.data != "" {
				b.data += "\n"
			}
			b.data += value
		}
	}
}

func (b block) event() (Event, error) {
	event := Event{ID: b.id, Kind: EventKind(b.kind)}
	if event.Kind == EventReset {
		event.Data = json.RawMessage(b.data)
		return event, nil
	}
	var announced struct {
		At     time.Time       `json:"at"`
		AppID  string          `json:"app_id"`
		UserID string          `json:"user_id"`
		Data   json.RawMessage `json:"data"`
	}
	err := json.Unmarshal([]byte(b.data), &announced)
	if err == nil {
		event.At, event.AppID = announced.At, announced.AppID
		event.UserID, event.Data = announced.UserID, announced.Data
		switch event.Kind {
		case api.EventKindMemoryWritten, api.EventKindMemoryForgotten:
			err = json.Unmarshal(event.Data, &event.Memory)
		case api.EventKindReflectionCreated:
			err = json.Unmarshal(event.Data, &event.Reflection)
		case api.EventKindConversationEnded:
			err = json.Unmarshal(event.Data, &event.Conversation)
		case api.EventKindTurnFailed:
			err = json.Unmarshal(event.Data, &event.Turn)
		}
	}
	if err != nil {
		return event, fmt.Errorf("event %s: %w", b.id, err)
	}
	return event, nil
}
