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

// Feed wakes the streams of an app when it has new announcements. It polls once
// for all streams, and only if there are any. Each stream then reads from its own
// place, so that a slow one misses nothing.
type Feed struct {
	Records
	poll time.Duration
	log  *zap.Logger

	mu      sync.Mutex
	waiting map[string]*waiters // by app
	through memory.Place        // up to which the feed has polled, if streams wait
}

// waiters are the streams of an app.
type waiters struct {
	streams int
	news    chan struct{} // closed at the next announcement
}

// NewFeed makes a feed, which wakes streams while Run runs.
func NewFeed(records Records, s Settings, log *zap.Logger) *Feed {
	return &Feed{Records: records, poll: s.Poll, log: log, waiting: map[string]*waiters{}}
}

// Watch follows an app until leave is called. news returns a channel that is
// closed at the next announcement: get the channel, read the announcements, then wait for the channel.
func (f *Feed) Watch(ctx context.Context, appID string) (news func() <-chan struct{}, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		if _, f.through, err = f.AnnouncedBounds(ctx); err != nil {
			return nil, nil, err
		}
	}
	r := f.waiting[appID]
	if r == nil {
		r = &waiters{news: make(chan struct{})}
		f.waiting[appID] = r
	}
	r.streams++
	news = func() <-chan struct{} {
		f.mu.Lock()
		defer f.mu.Unlock()
		return r.news
	}
	return news, sync.OnceFunc(func() { f.leave(appID, r) }), nil
}

func (f *Feed) leave(appID string, r *waiters) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.streams--
	if r.streams == 0 {
		delete(f.waiting, appID)
	}
}

// Run polls until the context ends.
func (f *Feed) Run(ctx context.Context) { every(ctx, f.poll, f.wake) }

const (
	pollBatch   = 1000 // announcements in one poll
	pollTimeout = 10 * time.Second
)

// wake wakes the streams with new announcements. New streams wait until it has polled.
func (f *Feed) wake(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		return
	}
	apps, through, err := f.AnnouncedApps(ctx, f.through, pollBatch)
	if err != nil {
		if ctx.Err() == nil {
			f.log.Warn("announcements could not be read; streams wait", zap.Error(err))
		}
		return
	}
	f.through = through
	for _, app := range apps {
		if r := f.waiting[app]; r != nil {
			close(r.news)
			r.news = make(chan struct{})
		}
	}
}
