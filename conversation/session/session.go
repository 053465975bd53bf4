// Package session is the working memory of conversations: a view of their log
// that any process has.
//
//	turn accepted  -> the ring of its conversation, where this process has one
//	read           -> conversation's row -> ring, read on from the log up to the row's last event -> view
//	turn processed -> how full it is -> job: older half -> running summary, by a model or as bullet lines
//	               -> triggers
//
// A ring holds the latest events of a conversation; those that nobody has used
// for longest are let go. Nothing here is the truth: whatever is lost is read
// again, and every read asks the log how far it has come.
package session

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Records is what the working memory needs of the database.
type Records interface {
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	Summarise(ctx context.Context, c, next memory.Conversation) error
	DeleteConversation(ctx context.Context, owner memory.Owner, id string) (db.DeletedConversation, error)
	Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error)
}

// Settings of the working memory; server/config states their defaults and ranges.
type Settings struct {
	Events     int           // most of them
	Tokens     int           // of their contents together
	Age        time.Duration // of those that matter little
	Summary    int           // characters of the running summary
	CacheBytes int           // of the rings of this process; 0: none is kept
}

// Parts are what a Service works with.
type Parts struct {
	Records Records
	Chat    llm.Chat // condenses; nil: the most important events are kept as lines
	// OnTurn hears of each turn of a conversation once it is durable, and again
	// where its processing is tried again; nil: nobody does.
	OnTurn func(ctx context.Context, h ProcessedTurn)
	Now    func() time.Time
	Log    *zap.Logger
}

// ProcessedTurn is a turn of a conversation, and what that makes of the conversation.
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
	if parts.OnTurn == nil {
		parts.OnTurn = func(context.Context, ProcessedTurn) {}
	}
	return &Service{Parts: parts, set: set, rings: cache.New[ring](set.CacheBytes)}
}

// OnTurnAccepted hears of a turn that has just become durable. It never waits.
func (s *Service) OnTurnAccepted(t memory.Turn) {
	if t.FirstEvent == 0 {
		return
	}
	key := keyOf(t.Owner, t.ConversationID)
	r, ok := s.rings.Get(key)
	switch {
	case t.FirstEvent == 1:
		r = ring{began: t.ID}
	case !ok || r.last != t.FirstEvent-1 || t.ID < r.began:
		return // it comes early, or from a former life: the next read goes to the log
	}
	s.keep(key, r.with(s.set.Events, t))
}

// heardTimeout bounds what is done about a turn beside its processing.
const heardTimeout = 10 * time.Second

// OnTurnProcessed hears of a turn that has been worked on, whatever came of it: a
// conversation that is over its limits is to be compacted. What fails here is
// made up for by a later turn.
func (s *Service) OnTurnProcessed(ctx context.Context, t memory.Turn) {
	if t.FirstEvent == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, heardTimeout)
	defer cancel()
	c, err := s.Records.Conversation(ctx, t.AppID, t.UserID, t.ConversationID)
	if memory.IsKind(err, memory.KindNotFound) {
		return // deleted meanwhile
	}
	if err == nil && s.over(c) {
		_, _, err = s.Records.Enqueue(ctx, s.compaction(c))
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	if err != nil {
		s.Log.Warn("the next turn makes up for it: a conversation could not be looked after", zap.String("turn", t.ID), zap.Error(err))
		return
	}
	s.OnTurn(ctx, ProcessedTurn{c, EventsOf(t), c.FillRatio(s.set.Events, s.set.Tokens)})
}

// Delete deletes a conversation, and what is held of it here.
func (s *Service) Delete(ctx context.Context, owner memory.Owner, id string) (db.DeletedConversation, error) {
	gone, err := s.Records.DeleteConversation(ctx, owner, id)
	s.rings.Remove(keyOf(owner, id))
	return gone, err
}

// Purge lets go of everything. It is for a user who is erased: whose a ring is
// is not looked at.
func (s *Service) Purge() { s.rings.Purge() }

// CacheStats tell how the rings have done.
func (s *Service) CacheStats() cache.Stats { return s.rings.Stats() }

// keyOf names a conversation. Ids hold no NUL.
func keyOf(owner memory.Owner, id string) string {
	return owner.AppID + "\x00" + owner.UserID + "\x00" + id
}
