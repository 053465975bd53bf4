package session

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/tests/apptest"
)

var (
	ada  = memory.Owner{AppID: "app", UserID: "ada"}
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// small is a working memory that fills up fast.
var small = Settings{Events: 10, Tokens: 1000, Age: time.Hour, Summary: 400, CacheBytes: 1 << 20}

// fixture is a log in a real SQLite database, working memories over it, and a
// clock that the test moves.
type fixture struct {
	t     testing.TB
	store *sqlite.Store
	clock *apptest.Clock
	chat  *apptest.Chat
	heard []ProcessedTurn
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return &fixture{t: t, store: apptest.SQLite(t), clock: apptest.NewClock(noon), chat: &apptest.Chat{}}
}

func (b *fixture) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// replica is the working memory of one process.
func (b *fixture) replica(set Settings) *Service {
	return New(Parts{
		Records: b.store, Now: b.clock.Now, Log: zap.NewNop(),
		OnTurn: func(_ context.Context, h ProcessedTurn) { b.heard = append(b.heard, h) },
	}, set)
}

// withModel is a replica that has a chat model.
func (b *fixture) withModel(set Settings) *Service {
	s := b.replica(set)
	s.Chat = b.chat
	return s
}

// said is a message of the user.
func said(content string) memory.Message {
	return memory.Message{Role: "user", Content: content, Tokens: text.CountTokens(content)}
}

// say stores a turn of Ada's by a replica, or by no replica if s is nil.
func (b *fixture) say(by *Service, id string, messages ...memory.Message) memory.Turn {
	b.t.Helper()
	now := b.clock.Now()
	stored, _, err := b.store.AcceptTurn(b.t.Context(), memory.Turn{
		ID: memory.NewID(), Owner: ada, ConversationID: id, Messages: messages, At: now, AcceptedAt: now, QueuedAt: now,
		Hash: "h", Status: memory.TurnAccepted,
	}, now.Add(time.Hour), nil)
	b.must(err)
	if by != nil {
		by.OnTurnAccepted(stored)
	}
	return stored
}

// sayMany stores n turns of one message each.
func (b *fixture) sayMany(by *Service, id string, from, to int) (last memory.Turn) {
	b.t.Helper()
	for i := from; i <= to; i++ {
		last = b.say(by, id, said(fmt.Sprintf("message %d", i)))
	}
	return last
}

func (b *fixture) working(s *Service, id string) Working {
	b.t.Helper()
	w, err := s.Working(b.t.Context(), "app", "", id, Filter{})
	b.must(err)
	return w
}

func contents(events []Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Content)
	}
	return all
}

// wantNumbers requires the events with numbers from first to last.
func (b *fixture) wantNumbers(what string, w Working, first, last int64) {
	b.t.Helper()
	var got, want []int64
	for _, e := range w.Events {
		got = append(got, e.Number)
	}
	for n := first; n <= last; n++ {
		want = append(want, n)
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: events %v, want %v", what, got, want)
	}
}

// compactions lists the pending jobs.
func (b *fixture) compactions() []db.JobInfo {
	b.t.Helper()
	found, err := b.store.ListJobs(b.t.Context(), db.JobFilter{Kinds: []string{CompactConversation{}.Kind()}, Limit: 100})
	b.must(err)
	return found
}

func (b *fixture) conversation(id string) memory.Conversation {
	b.t.Helper()
	c, err := b.store.Conversation(b.t.Context(), "app", "ada", id)
	b.must(err)
	return c
}

// compact does the job that is due for a conversation.
func (b *fixture) compact(s *Service, id string) (Compacted, error) {
	b.t.Helper()
	done, err := s.Work(b.t.Context(), s.compaction(b.conversation(id)).(CompactConversation))
	return done.(Compacted), err
}
