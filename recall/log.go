package recall

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
)

// LogStore is the database that recalls are logged to.
type LogStore interface {
	LogRecalls(ctx context.Context, entries []memory.LoggedRecall) error
}

// Log writes recalls to the database off the request path.
type Log struct {
	store LogStore
	every time.Duration
	log   *zap.Logger

	mu      sync.Mutex
	waiting []memory.LoggedRecall
	dropped int // since the last flush
}

// maxEntries bounds the entries that wait while the database is unavailable.
// Further recalls are not logged. logRows bounds one statement.
const (
	maxEntries = 2_000
	logRows    = 100
)

// NewLog makes a log. While Run runs, it writes entries at an interval.
func NewLog(store LogStore, every time.Duration, log *zap.Logger) *Log {
	return &Log{store: store, every: every, log: log}
}

func (l *Log) add(e memory.LoggedRecall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= maxEntries {
		l.dropped++
		return
	}
	l.waiting = append(l.waiting, e)
}

// Run flushes at the interval until the context ends, then once more.
func (l *Log) Run(ctx context.Context) { flushEvery(ctx, l.every, l.flush) }

func (l *Log) flush(ctx context.Context) {
	l.mu.Lock()
	entries, dropped := l.waiting, l.dropped
	l.dropped = 0
	l.mu.Unlock()
	if dropped > 0 {
		l.log.Warn("recalls are missing from the log: the database accepts too few", zap.Int("recalls", dropped))
	}
	for len(entries) > 0 {
		part := entries[:min(logRows, len(entries))]
		if err := l.write(ctx, part); err != nil {
			l.log.Warn("recalls could not be logged: they wait for the next flush",
				zap.Int("recalls", len(entries)), zap.Error(err))
			return
		}
		entries = entries[len(part):]
		l.mu.Lock()
		l.waiting = l.waiting[len(part):]
		l.mu.Unlock()
	}
}

func (l *Log) write(ctx context.Context, entries []memory.LoggedRecall) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	return l.store.LogRecalls(ctx, entries)
}

// Logged is a service whose answers are logged.
type Logged struct {
	*Service
	Log *Log
}

// Recall is Service.Recall. While memory is not on, the query is not logged.
func (s Logged) Recall(ctx context.Context, q Query) (Answer, error) {
	began := s.now()
	answer, err := s.Service.Recall(ctx, q)
	if err != nil || !answer.Memory.Keeps() {
		return answer, err
	}
	asked := memory.Clip(cmp.Or(strings.Join(answer.Asked, "\n"), q.Text), memory.MaxContentRunes)
	e := memory.LoggedRecall{
		ID: cmp.Or(q.ID, memory.NewRecallID(q.Owner)), Owner: q.Owner, AgentID: q.AgentID, Query: asked,
		Degraded: answer.Degraded,
		Took:     s.now().Sub(began), At: memory.Instant(began), Memories: make([]memory.LoggedMemory, len(answer.Memories)),
	}
	for i, m := range answer.Memories {
		e.Memories[i] = memory.LoggedMemory{ID: m.Memory.ID, Relevance: m.Relevance, Confidence: m.Confidence}
	}
	s.Log.add(e)
	return answer, nil
}

// LogPurger deletes old entries of the log; db.Recalls has it.
type LogPurger interface {
	PurgeRecalls(ctx context.Context, before time.Time, limit int) (int, error)
}

const purgeRows = 1_000

// PurgeLog deletes the entries from before an instant, in batches, and returns
// their number.
func PurgeLog(ctx context.Context, store LogPurger, before time.Time) (purged int, err error) {
	for n := purgeRows; n == purgeRows; purged += n {
		if n, err = store.PurgeRecalls(ctx, before, purgeRows); err != nil {
			return purged, err
		}
	}
	return purged, nil
}
