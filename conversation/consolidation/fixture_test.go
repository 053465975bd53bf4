package consolidation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
	"hippocampus/scorer"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore/projection"
)

var (
	ada  = memory.Owner{AppID: "app", UserID: "ada"}
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// defaults are the defaults of server/config.
var defaults = Settings{Importance: 0.6, Urgent: 0.7, Full: 0.8, Idle: 30 * time.Minute, Messages: 3, Similarity: 0.9,
	Attempts: 3}

// fixture is a service on real SQLite stores, with a clock that the test moves.
type fixture struct {
	*Service
	t     testing.TB
	store *sqlite.Store
	write *ingest.Service
	know  *facts.Service
	clock *apptest.Clock
	chat  *apptest.Chat
}

const (
	goodReplay = `{"summary":"The user plans a trip."}`
	nothing    = `{"facts":[],"insights":[],"preferences":[],"patterns":[],"projects":[],"skills":[]}`
)

// answers makes the model answer the two prompts.
func (b *fixture) answers(replay, deep string) {
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if strings.Contains(p.System, "[hippocampus/replay]") {
			return replay, nil
		}
		return deep, nil
	})
}

func newFixture(t testing.TB, embedder llm.Embedder, withModel bool) *fixture {
	t.Helper()
	log := zap.NewNop()
	b := &fixture{t: t, store: apptest.SQLite(t), clock: apptest.NewClock(noon), chat: &apptest.Chat{}}
	b.answers(goodReplay, nothing)
	vectors := apptest.Vectors(t, embedder)
	push := projection.New(b.store, vectors, projection.Settings{Lease: time.Minute, Backoff: time.Second,
		BackoffLimit: time.Minute}, b.clock.Now, log)
	guess := func(string) memory.Domain { return memory.Lifestyle }
	writer := write.New(write.Parts{
		Records: b.store, Embedder: embedder, Vectors: vectors, Pusher: push, Now: b.clock.Now, Log: log,
	}, write.Settings{
		MergeSimilarity: 0.95, JudgeSimilarity: 0.8, JudgeTimeout: time.Minute,
		OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
	})
	b.write = ingest.New(ingest.Parts{
		Records: b.store, Scorer: scorer.NewRules(), Writer: writer, Embedder: embedder, Pusher: push, Guess: guess,
		Now: b.clock.Now, Log: log,
	}, ingest.Settings{
		Threshold: 0.7, EchoWindow: 10 * time.Minute, Attempts: 3, RetryDelay: time.Second,
		RetryLimit: time.Minute, GiveUp: time.Hour, Lease: time.Minute,
	})
	b.know = facts.New(facts.Parts{
		Records: b.store, Embedder: embedder, Pusher: push, Guess: guess, Now: b.clock.Now,
		Compare:   writer.Compare,
		OnChanged: func(memory.Owner) {}, OnAdded: func(context.Context, memory.Owner, int) {},
	}, 0.5)
	parts := Parts{Records: b.store, Writer: b.write, Facts: b.know, Guess: guess, Now: b.clock.Now,
		Lease: time.Minute, Timeout: 10 * time.Minute, // one attempt may write hundreds of statements
		OnAttempt: func(memory.ConsolidationType, memory.ConsolidationState) {}, Log: log}
	if withModel {
		parts.Chat = b.chat
	}
	b.Service = New(parts, defaults)
	return b
}

// event is a message with a kind.
func event(kind memory.MessageKind, content string) memory.Message {
	return memory.Message{Role: "user", Kind: kind, Content: content}
}

// say accepts a turn of one of ada's conversations.
func (b *fixture) say(id, agentID string, messages ...memory.Message) memory.Turn {
	b.t.Helper()
	turn, _, err := b.write.Accept(context.Background(),
		memory.Turn{Owner: ada, ConversationID: id, AgentID: agentID, Messages: messages})
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

// trip is a conversation with three messages.
func (b *fixture) trip(id string) {
	b.t.Helper()
	b.say(id, "", event("", "I want to go to Porto in May."),
		memory.Message{Role: "assistant", Content: "Shall I look for trains?"},
		event(memory.Decision, "Ada takes the night train to Porto."))
}

// end ends a conversation and works its jobs.
func (b *fixture) end(id string) Ended {
	b.t.Helper()
	ended, err := b.End(context.Background(), "app", "ada", id, memory.TriggerEnd)
	if err != nil {
		b.t.Fatal(err)
	}
	b.work(id, memory.TriggerEnd)
	return ended
}

func (b *fixture) work(id string, trigger memory.ConsolidationTrigger) Totals {
	b.t.Helper()
	done, err := b.Work(context.Background(), ConsolidateConversation{AppID: "app", UserID: "ada", ConversationID: id,
		Trigger: trigger})
	if err != nil {
		b.t.Fatal(err)
	}
	return done.(Totals)
}

// rows lists the consolidations of a conversation, oldest first, one per line.
func (b *fixture) rows(id string) (lines []string) {
	b.t.Helper()
	list, err := b.store.ListConsolidations(context.Background(),
		db.ConsolidationFilter{Owner: ada, ConversationID: id, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range slices.Backward(list) {
		lines = append(lines, fmt.Sprintf("%s %s %d-%d %s %s", c.Type, c.Trigger, c.From, c.Through, c.State, c.Counts))
	}
	slices.Sort(lines)
	return lines
}

// row returns the consolidation of a type of the conversation c.
func (b *fixture) row(kind memory.ConsolidationType) memory.Consolidation {
	b.t.Helper()
	list, err := b.store.ListConsolidations(context.Background(),
		db.ConsolidationFilter{Owner: ada, ConversationID: "c", Limit: 10})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, one := range list {
		if one.Type == kind {
			return one
		}
	}
	b.t.Fatalf("there is no %s", kind)
	return memory.Consolidation{}
}

// memories lists ada's active memories as type, importance and content.
func (b *fixture) memories() (lines []string) {
	b.t.Helper()
	list, err := b.store.ListMemories(context.Background(),
		db.MemoryFilter{Owner: ada, Statuses: []memory.Status{memory.Active}, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range list {
		lines = append(lines, fmt.Sprintf("%s %.2f %s%s", m.Type, m.Importance, m.Content,
			map[bool]string{true: "", false: " @" + m.AgentID}[m.AgentID == ""]))
	}
	slices.Sort(lines)
	return lines
}

func (b *fixture) conversation(id string) memory.Conversation {
	b.t.Helper()
	c, err := b.store.Conversation(context.Background(), "app", "ada", id)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func want(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// heard returns a turn as the working memory reports it.
func (b *fixture) heard(turn memory.Turn, fill float64) session.ProcessedTurn {
	return session.ProcessedTurn{Conversation: b.conversation(turn.ConversationID), Events: session.EventsOf(turn),
		Fill: fill}
}
