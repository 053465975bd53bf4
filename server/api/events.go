package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/notify"
)

// EventFeed reads announcements and tells when there are more; notify.Feed does.
type EventFeed interface {
	Announced(ctx context.Context, f db.AnnouncementFilter) ([]memory.Announcement, error)
	AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error)
	Watch(ctx context.Context, appID string) (news func() <-chan struct{}, leave func(), err error)
}

const (
	eventStream   = "text/event-stream"
	lastEventID   = "Last-Event-ID"
	eventPage     = 100 // announcements that are read at once
	reconnectWait = 2 * time.Second
)

// following is what a client asks to hear of.
type following struct {
	filter db.AnnouncementFilter
	kinds  []memory.AnnouncementKind // none: all
	resume bool                      // after filter.After; else from now on
}

// streamEvents sends what is announced, as server-sent events, until the client
// leaves, its key is revoked or the server ends. The stream reads from the place
// that it has come to, whether that is of long ago or of now.
func (s *Server) streamEvents(ctx context.Context, r *request) error {
	what, err := followingOf(r)
	if err != nil {
		return err
	}
	if err := s.streams.enter(r.key.ID); err != nil {
		return err
	}
	defer s.streams.leave(r.key.ID)
	news, leave, err := s.Feed.Watch(ctx, r.key.AppID)
	if err != nil {
		return err
	}
	defer leave()
	purged, head, err := s.Feed.AnnouncedBounds(ctx)
	if err != nil {
		return err
	}
	out := s.flow(r, (*http.ResponseController).SetWriteDeadline)
	defer out.end()
	for name, value := range map[string]string{echo.HeaderContentType: eventStream, echo.HeaderCacheControl: "no-store", "X-Accel-Buffering": "no"} {
		r.Response().Header().Set(name, value)
	}
	fmt.Fprintf(out, "retry: %d\n", reconnectWait.Milliseconds())
	switch after := what.filter.After; {
	case !what.resume:
		what.filter.After = head
	case after.Compare(purged) < 0 || after.Compare(head) > 0:
		what.filter.After = purged
		fmt.Fprintf(out, "event: reset\ndata: {\"after\":%q}\n", after)
	}
	fmt.Fprintf(out, "id: %s\n\n", what.filter.After)
	if err := out.flush(); err != nil {
		return err
	}
	return s.sendEvents(ctx, r, out, &what, news)
}

// sendEvents sends events after what.filter.After, and waits for more.
func (s *Server) sendEvents(ctx context.Context, r *request, out *flow, what *following, news func() <-chan struct{}) error {
	heartbeat := time.NewTicker(s.Heartbeat)
	defer heartbeat.Stop()
	for {
		woken := news() // before the reading, so that nothing falls between
		page, err := s.Feed.Announced(ctx, what.filter)
		if ctx.Err() != nil {
			return nil // the client has left
		}
		if err != nil {
			return err
		}
		for _, a := range page {
			what.filter.After = a.Place
			if len(what.kinds) == 0 || slices.Contains(what.kinds, a.Kind) {
				fmt.Fprintf(out, "id: %s\nevent: %s\ndata: %s\n\n", a.Place, a.Kind, notify.Encode(a))
			}
		}
		if err := out.flush(); err != nil {
			return err
		}
		if len(page) == what.filter.Limit && s.draining.Err() == nil {
			continue
		}
		select {
		case <-woken:
		case <-heartbeat.C:
			// A block without data is no event, but moves the place to resume from.
			fmt.Fprintf(out, ": still here\nid: %s\n\n", what.filter.After)
			if err := s.stillValid(ctx, r); err != nil {
				return err
			}
		case <-s.draining.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// stillValid looks whether the key of a long request has been revoked since.
func (s *Server) stillValid(ctx context.Context, r *request) error {
	if s.Dev {
		return nil
	}
	secret, err := secretOf(r.Request())
	if err == nil {
		_, err = s.keys.key(ctx, secret)
	}
	return err
}

// followingOf reads what a client asks for. The header counts more than the
// parameter: clients that come again by themselves repeat the URL.
func followingOf(r *request) (following, error) {
	var c checks
	f := following{filter: db.AnnouncementFilter{AppID: r.key.AppID, Limit: eventPage}}
	if r.query.Has("user_id") {
		f.filter.UserID = c.owner("query.user_id", r.key, r.query.Get("user_id")).UserID
	}
	for _, kind := range r.query["kind"] {
		f.kinds = append(f.kinds, memory.AnnouncementKind(kind))
	}
	path, id := "header."+lastEventID, r.Request().Header.Get(lastEventID)
	if id == "" {
		path, id = "query.after", r.query.Get("after")
	}
	if id != "" {
		if f.filter.After, f.resume = memory.ParsePlace(id); !f.resume {
			c.note(path, "is no id of an event: send the last one that was received, unchanged")
		}
	}
	return f, c.err()
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
			Kind: memory.KindTooFast, RetryAfter: reconnectWait,
			Err: fmt.Errorf("this key has %d streams of events open, and no more are allowed: close one, or use another key", s.most),
		}
	}
	s.open[keyID]++
	return nil
}

func (s *streams) leave(keyID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[keyID]--; s.open[keyID] == 0 {
		delete(s.open, keyID)
	}
}
