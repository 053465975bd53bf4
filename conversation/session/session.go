// Package session is the working memory of conversations: a view of their log
// that every process can serve.
//
//	turn accepted  -> the cached ring of its conversation, if this process has one
//	read           -> conversation's row -> ring, read up to the row's last event -> view
//	turn processed -> fill -> job: older half -> running summary, by a model or as bullet lines
//	               -> OnTurn
//
// A ring holds the latest events of a conversation; the least recently used
// rings are evicted. Rings are only a cache: every read checks the log for later
// events, and what is missing is read again.
package session

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/zones"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Records is the part of the database that the working memory uses.
type Records interface {
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	TurnLister
	Summarise(ctx context.Context, c, next memory.Conversation) error
	DeleteConversation(ctx context.Context, owner memory.Owner, id string) (db.DeletedConversation, error)
	EnqueueForConversation(ctx context.Context, c memory.Conversation, job db.Job) error
}

// Settings of the working memory; server/config holds their defaults and ranges.
type Settings struct {
	Events     int           // greatest number of events
	Tokens     int           // greatest number of tokens in all of them
	Age        time.Duration // of events of little importance
	Summary    int           // characters of the running summary
	CacheBytes int           // of the rings of this process; 0: no cache
}

// Parts are what a Service works with.
type Parts struct {
	Records Records
	Chat    llm.Chat // condenses; nil: the most important events are kept as lines
	// OnTurn is called for each turn of a conversation once it is durable, and
	// again if its processing is retried.
	OnTurn func(ctx context.Context, h ProcessedTurn)
	Zone   zones.Finder // of the days in prompts
	Now    func() time.Time
	Log    *zap.Logger
}

// ProcessedTurn is a turn of a conversation, with the conversation after it.
type ProcessedTurn struct {
	Conversation memory.Conversation
	Events       []Event // of the turn
	Fill         float64 // of the working memory: 1 is full
}

// Service is the working memory. It is safe for concurrent use.
type Service struct {
	Parts
	set   Settings
	rings *cache.Cache[ring]
}

// New makes a working memory.
func New(parts Parts, set Settings) *Service {
	return &Service{Parts: parts, set: set, rings: cache.New[ring](set.CacheBytes)}
}

// OnTurnAccepted adds a turn that has just become durable to the cache. It does not block.
func (s *Service) OnTurnAccepted(t memory.Turn) {
	if t.FirstEvent == 0 {
		return
	}
	key := keyOf(t.Owner, t.ConversationID)
	r, ok := s.rings.Get(key)
	switch {
	case t.FirstEvent == 1:
		r = ring{firstTurnID: t.ID}
	case !ok || r.last != t.FirstEvent-1 || t.ID < r.firstTurnID:
		return // out of order, or of a deleted conversation: the next read uses the log
	}
	s.cache(key, r.with(s.set.Events, t))
}

// onTurnTimeout limits OnTurnProcessed.
const onTurnTimeout = 10 * time.Second

// OnTurnProcessed handles a turn that was processed, successfully or not: it enqueues the compaction of a conversation
// that is over its limits. If it fails, a later turn enqueues the compaction.
func (s *Service) OnTurnProcessed(ctx context.Context, t memory.Turn) {
	if t.FirstEvent == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, onTurnTimeout)
	defer cancel()
	c, err := s.Records.Conversation(ctx, t.AppID, t.UserID, t.ConversationID)
	if memory.IsKind(err, memory.KindNotFound) {
		return // deleted in the meantime
	}
	if err == nil && s.over(c) {
		err = s.Records.EnqueueForConversation(ctx, c, s.compaction(c))
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	if err != nil {
		s.Log.Warn("a conversation could not be checked for compaction; the next turn tries again", zap.String("turn", t.ID),
			zap.Error(err))
		return
	}
	s.OnTurn(ctx, ProcessedTurn{Conversation: c, Events: EventsOf(t), Fill: c.FillRatio(s.set.Events, s.set.Tokens)})
}

// Delete deletes a conversation and its ring.
func (s *Service) Delete(ctx context.Context, owner memory.Owner, id string) (db.DeletedConversation, error) {
	gone, err := s.Records.DeleteConversation(ctx, owner, id)
	s.rings.Remove(keyOf(owner, id))
	return gone, err
}

// Purge empties the cache. Erasing a user needs it, since rings cannot be found by user.
func (s *Service) Purge() { s.rings.Purge() }

// CacheStats returns the statistics of the cache.
func (s *Service) CacheStats() cache.Stats { return s.rings.Stats() }

// keyOf is the cache key of a conversation. Ids hold no NUL.
func keyOf(owner memory.Owner, id string) string {
	return owner.AppID + "\x00" + owner.UserID + "\x00" + id
}
