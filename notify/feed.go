package notify

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Records is what a feed reads; db.Announcements has it.
type Records interface {
	Announced(ctx context.Context, f db.AnnouncementFilter) ([]memory.Announcement, error)
	AnnouncedApps(ctx context.Context, after memory.Place, limit int) (apps []string, through memory.Place, err error)
	AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error)
}

// Feed wakes those who wait for announcements of an app. It looks once for all
// of them, and while somebody waits; what there is each reads for itself from
// its own place, so that none misses anything however slow it is.
type Feed struct {
	Records
	poll time.Duration
	log  *zap.Logger

	mu      sync.Mutex
	rooms   map[string]*room
	through memory.Place // has been looked up to, while there are rooms
}

// room is where the ones wait who follow an app.
type room struct {
	watchers int
	news     chan struct{} // closed at the next news
}

// NewFeed makes a feed, which tells of news while Run runs.
func NewFeed(records Records, s Settings, log *zap.Logger) *Feed {
	return &Feed{Records: records, poll: s.Poll, log: log, rooms: map[string]*room{}}
}

// Watch follows an app until leave is called. news returns a channel that is
// closed when there is something new: take it, read, then wait for it.
func (f *Feed) Watch(ctx context.Context, appID string) (news func() <-chan struct{}, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.rooms) == 0 {
		if _, f.through, err = f.AnnouncedBounds(ctx); err != nil {
			return nil, nil, err
		}
	}
	r := f.rooms[appID]
	if r == nil {
		r = &room{news: make(chan struct{})}
		f.rooms[appID] = r
	}
	r.watchers++
	news = func() <-chan struct{} {
		f.mu.Lock()
		defer f.mu.Unlock()
		return r.news
	}
	return news, sync.OnceFunc(func() { f.leave(appID, r) }), nil
}

func (f *Feed) leave(appID string, r *room) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.watchers--; r.watchers == 0 {
		delete(f.rooms, appID)
	}
}

// Run looks for news until the context ends.
func (f *Feed) Run(ctx context.Context) {
	ticker := time.NewTicker(f.poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.look(ctx)
		}
	}
}

const (
	looked      = 1000 // announcements that one look passes
	lookTimeout = 10 * time.Second
)

// look wakes those who have something to read. While it asks nobody is let in.
func (f *Feed) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.rooms) == 0 {
		return
	}
	apps, through, err := f.AnnouncedApps(ctx, f.through, looked)
	if err != nil {
		if ctx.Err() == nil {
			f.log.Warn("announcements could not be looked for; streams wait", zap.Error(err))
		}
		return
	}
	f.through = through
	for _, app := range apps {
		if r := f.rooms[app]; r != nil {
			close(r.news)
			r.news = make(chan struct{})
		}
	}
}
