package api

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/notify"
	"hippocampus/server/frame"
)

// EventParts are the parts behind the stream of events.
type EventParts struct {
	Feed      EventFeed
	Streams   int           // that a key may have open at this server; 0: 16
	Heartbeat time.Duration // between comments in an idle stream; 0: 15 s
}

// EventFeed reads announcements and reports new ones; notify.Feed implements it.
type EventFeed interface {
	Announced(ctx context.Context, f db.AnnouncementFilter) ([]memory.Announcement, error)
	AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error)
	Watch(ctx context.Context, appID string) (news func() <-chan struct{}, leave func(), err error)
}

type eventHandlers struct {
	EventParts
	streams  *streams
	stall    time.Duration   // how long a client may read nothing
	draining context.Context // ends when the server drains
}

func (h eventHandlers) register(r *frame.Routes) {
	r.AddStream("GET /v1/events", memory.RoleRead, h.stream)
}

const (
	eventStream   = "text/event-stream"
	lastEventID   = "Last-Event-ID"
	eventPage     = 100 // announcements read at once
	reconnectWait = 2 * time.Second
)

// subscription selects the events that a client subscribes to.
type subscription struct {
	filter db.AnnouncementFilter
	kinds  []memory.AnnouncementKind // empty: all
	resume bool                      // begin after filter.After, not now
}

// stream sends announcements as server-sent events until the client leaves, its
// key is revoked or the server drains.
func (h eventHandlers) stream(ctx context.Context, r *frame.Request) (any, error) {
	sub, err := subscriptionOf(r)
	if err != nil {
		return nil, err
	}
	if err := h.streams.enter(r.Key.ID); err != nil {
		return nil, err
	}
	defer h.streams.leave(r.Key.ID)
	news, leave, err := h.Feed.Watch(ctx, r.Key.AppID)
	if err != nil {
		return nil, err
	}
	defer leave()
	purged, head, err := h.Feed.AnnouncedBounds(ctx)
	if err != nil {
		return nil, err
	}
	out := frame.NewOutflow(r, h.stall)
	defer out.Close()
	header := r.Response().Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	fmt.Fprintf(out, "retry: %d\n", reconnectWait.Milliseconds())
	switch after := sub.filter.After; {
	case !sub.resume:
		sub.filter.After = head
	case after.Compare(purged) < 0 || after.Compare(head) > 0:
		sub.filter.After = purged
		fmt.Fprintf(out, "event: reset\ndata: {\"after\":%q}\n", after)
	}
	fmt.Fprintf(out, "id: %s\n\n", sub.filter.After)
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return nil, h.send(ctx, out, &sub, news)
}

// send sends the events after sub.filter.After, and waits for more.
func (h eventHandlers) send(
	ctx context.Context, out *frame.Flow, sub *subscription, news func() <-chan struct{},
) error {
	heartbeat := time.NewTicker(h.Heartbeat)
	defer heartbeat.Stop()
	for {
		woken := news() // before reading, so that no announcement is missed between reading and waiting
		page, err := h.Feed.Announced(ctx, sub.filter)
		if ctx.Err() != nil {
			return nil // the client has left, or its key is revoked
		}
		if err != nil {
			return err
		}
		for _, a := range page {
			sub.filter.After = a.Place
			if len(sub.kinds) == 0 || slices.Contains(sub.kinds, a.Kind) {
				fmt.Fprintf(out, "id: %s\nevent: %s\ndata: %s\n\n", a.Place, a.Kind, notify.Encode(a))
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if len(page) == sub.filter.Limit && h.draining.Err() == nil {
			continue
		}
		select {
		case <-woken:
		case <-heartbeat.C:
			// A block without data is not an event, but updates the client's last event id.
			fmt.Fprintf(out, ": still here\nid: %s\n\n", sub.filter.After)
		case <-h.draining.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// subscriptionOf reads what a client subscribes to. The header has precedence
// over the parameter, since a client that reconnects repeats the URL.
func subscriptionOf(r *frame.Request) (subscription, error) {
	sub := subscription{
		filter: db.AnnouncementFilter{AppID: r.Key.AppID, Limit: eventPage},
		kinds:  frame.NamesOf[memory.AnnouncementKind](r.Query["kind"]),
	}
	if r.Query.Has("user_id") {
		sub.filter.UserID = r.QueryOwner().UserID
	}
	path, id := "header."+lastEventID, r.Request().Header.Get(lastEventID)
	if id == "" {
		path, id = "query.after", r.Query.Get("after")
	}
	if id != "" {
		if sub.filter.After, sub.resume = memory.ParsePlace(id); !sub.resume {
			r.Note(path, "is not the id of an event: send the last one that was received, unchanged")
		}
	}
	return sub, r.Err()
}

// streams counts the open streams of each key.
type streams struct {
	most int
	mu   sync.Mutex
	open map[string]int // by key id
}

func newStreams(most int) *streams { return &streams{most: most, open: map[string]int{}} }

func (s *streams) enter(keyID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[keyID] >= s.most {
		return &memory.Error{
			Kind: memory.KindTooFast, RetryAfter: reconnectWait, Limit: "event streams",
			Err: fmt.Errorf("this key has %d event streams open, which is the limit: close one, or use another key", s.most),
		}
	}
	s.open[keyID]++
	return nil
}

func (s *streams) leave(keyID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[keyID]--
	if s.open[keyID] == 0 {
		delete(s.open, keyID)
	}
}
