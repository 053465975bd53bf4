package session

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// remembered is a log in memory, so that the benchmark measures only the working memory.
type remembered struct{ c memory.Conversation }

func (r *remembered) Conversation(context.Context, string, string, string) (memory.Conversation, error) {
	return r.c, nil
}
func (r *remembered) ConversationTurns(context.Context, memory.Owner, string, int64, int) ([]memory.Turn, error) {
	return nil, memory.Errorf(memory.KindInternal, "everything is in the ring")
}
func (r *remembered) Summarise(context.Context, memory.Conversation, memory.Conversation) error {
	return nil
}
func (r *remembered) DeleteConversation(context.Context, memory.Owner, string) (db.DeletedConversation, error) {
	return db.DeletedConversation{}, nil
}
func (r *remembered) EnqueueForConversation(context.Context, memory.Conversation, db.Job) error {
	return nil
}

// grow adds a turn of two messages to the conversation.
func (r *remembered) grow() memory.Turn {
	content := strings.Repeat("Some words of a message. ", 8)
	t := memory.Turn{ID: memory.NewID(), Owner: ada, ConversationID: "c", FirstEvent: r.c.Events + 1, At: noon,
		Messages: []memory.Message{
			{Role: "user", Content: content, Tokens: 40}, {Role: "assistant", Content: content, Tokens: 40},
		}}
	if r.c.Events == 0 {
		r.c = memory.Conversation{Owner: ada, ID: "c", FirstTurnID: t.ID}
	}
	r.c.Events += 2
	r.c.Tokens += 80
	return t
}

// BenchmarkWorking appends a turn to a full ring and reads the ring, with a database that answers at once.
func BenchmarkWorking(b *testing.B) {
	log := &remembered{}
	s := New(Parts{Records: log, Now: func() time.Time { return noon }, Log: zap.NewNop()},
		Settings{Events: 200, Tokens: 8000, Age: time.Hour, Summary: 2000, CacheBytes: 64 << 20})
	for range 100 {
		s.OnTurnAccepted(log.grow())
	}
	var appends, reads []time.Duration
	for b.Loop() {
		turn := log.grow()
		started := time.Now()
		s.OnTurnAccepted(turn)
		appended := time.Now()
		w, err := s.Working(b.Context(), "app", "ada", "c", Filter{})
		reads, appends = append(reads, time.Since(appended)), append(appends, appended.Sub(started))
		if err != nil || len(w.Events) != 200 {
			b.Fatalf("%d events, %v", len(w.Events), err)
		}
	}
	for name, took := range map[string][]time.Duration{"append": appends, "read": reads} {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, name+"-p99-us")
	}
}

// The estimated size of rings is close to their real size. The test is not parallel, since the heap is shared.
func TestRing_EstimatesItsBytes(t *testing.T) {
	for name, content := range map[string]string{"short": "yes", "middling": strings.Repeat("word ", 20),
		"long": strings.Repeat("word ", 1000)} {
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		s := New(Parts{Now: func() time.Time {
			return noon
		}, Log: zap.NewNop()}, Settings{Events: 100, Tokens: 8000, CacheBytes: 1 << 30})
		for c := range 100 {
			for i := range 50 {
				t := memory.Turn{ID: memory.NewID(), Owner: ada, ConversationID: fmt.Sprint(c), FirstEvent: int64(2*i + 1),
					Messages: []memory.Message{
						{Role: "user", Content: strings.Clone(content), Tokens: 1},
						{Role: "tool", Content: strings.Clone(content), Tokens: 1, Tags: []string{strings.Clone("a tag")},
							Kind: memory.ToolUse},
					}}
				s.OnTurnAccepted(t)
			}
		}
		held := heap() - before
		ratio := float64(held) / float64(s.CacheStats().Bytes)
		t.Logf("%s: %d bytes held, %d counted: %.2f", name, held, s.CacheStats().Bytes, ratio)
		if ratio < .7 || ratio > 1.3 {
			t.Errorf("%s contents: the heap grew by %d bytes, %d are counted", name, held, s.CacheStats().Bytes)
		}
		runtime.KeepAlive(s)
	}
}
