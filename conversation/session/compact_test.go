package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// answering makes a model answer with a summary.
func answering(summary string) func(llm.Prompt) (string, error) {
	return func(llm.Prompt) (string, error) {
		raw, err := json.Marshal(map[string]string{"summary": summary})
		return string(raw), err
	}
}

// Over the limit a job is enqueued once per quarter, and OnTurn is called for every turn.
func TestOnTurnProcessed_EnqueuesCompaction(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.replica(small)
	s.OnTurnProcessed(t.Context(), memory.Turn{ID: memory.NewID(), Owner: ada}) // without a conversation
	for i := 1; i <= 10; i++ {
		s.OnTurnProcessed(t.Context(), b.sayMany(s, "c", i, i))
	}
	if len(b.heard) != 10 || len(b.compactions()) != 0 {
		t.Fatalf("heard of %d turns, %d compactions at the limit", len(b.heard), len(b.compactions()))
	}
	for i, h := range b.heard {
		if h.Fill != float64(i+1)/10 || len(h.Events) != 1 || h.Events[0].Number != int64(i+1) ||
			h.Conversation.Events != int64(i+1) {
			t.Errorf("turn %d: %+v", i, h)
		}
	}
	var jobs []int
	for i := 11; i <= 15; i++ { // 4.4, 4.8, 5.2, 5.6, 6 quarters
		turn := b.sayMany(s, "c", i, i)
		s.OnTurnProcessed(t.Context(), turn)
		s.OnTurnProcessed(t.Context(), turn)
		jobs = append(jobs, len(b.compactions()))
	}
	if diff := cmp.Diff([]int{1, 1, 2, 2, 3}, jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	var payload map[string]any
	b.must(json.Unmarshal(b.compactions()[2].Payload, &payload))
	want := map[string]any{
		"app_id": "app", "user_id": "ada", "conversation_id": "c", "began": b.conversation("c").FirstTurnID, "from": 0.,
		"quarters": 4.,
	}
	if diff := cmp.Diff(want, payload); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
	if _, err := s.Delete(t.Context(), ada, "c"); err != nil {
		t.Fatal(err)
	}
	s.OnTurnProcessed(t.Context(), memory.Turn{ID: memory.NewID(), Owner: ada, ConversationID: "c", FirstEvent: 16})
	if len(b.heard) != 20 {
		t.Errorf("heard of %d turns", len(b.heard))
	}
	long := b.say(s, "long", said(strings.Repeat("long ", 2000)))
	s.OnTurnProcessed(t.Context(), long) // the latest event is never condensed
	if n := len(b.compactions()); n != 3 {
		t.Errorf("%d compactions, want 3", n)
	}
	s.OnTurnProcessed(t.Context(), b.say(s, "long", said("short")))
	if n := len(b.compactions()); n != 4 {
		t.Errorf("%d compactions, want 4", n)
	}
}

// The older half becomes the summary; the log keeps everything.
func TestCompaction_ByAModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.withModel(small)
	b.chat.OnPrompt(answering(" They sent messages. \n"))
	b.sayMany(s, "c", 1, 11)
	done, err := b.compact(s, "c")
	b.must(err)
	if want := (Compacted{Steps: 1, Events: 5, Through: 5}); done != want {
		t.Errorf("%+v, want %+v", done, want)
	}
	w := b.working(s, "c")
	b.wantNumbers("after it", w, 6, 11)
	if w.Conversation.Summary != "They sent messages." || w.Fill != .6 ||
		w.Conversation.SummarisedTokens != w.Conversation.Tokens-int64(w.Tokens) {
		t.Errorf("%+v", w)
	}
	turns, err := b.store.ConversationTurns(t.Context(), ada, "c", 0, 100)
	b.must(err)
	if len(turns) != 11 {
		t.Errorf("the log has %d turns", len(turns))
	}
	if user := b.chat.Prompts()[0].User; !strings.Contains(user, "message 5\"") ||
		strings.Contains(user, "message 6\"") ||
		!strings.Contains(user, `{"day":"2026-03-01, Sunday","role":"user","said":"message 1"}`) {
		t.Errorf("asked with %s", user)
	}
	if done, err := b.compact(s, "c"); err != nil || done.Steps != 0 || len(b.chat.Prompts()) != 1 {
		t.Errorf("within its limits: %+v, %v", done, err)
	}
	b.sayMany(s, "c", 12, 40) // 35 after the summary: 17, 9 more, and the rest fits
	done, err = b.compact(s, "c")
	b.must(err)
	if want := (Compacted{Steps: 2, Events: 26, Through: 31}); done != want {
		t.Errorf("%+v, want %+v", done, want)
	}
	if !strings.Contains(b.chat.Prompts()[1].User, `{"summary_so_far":"They sent messages."}`) {
		t.Errorf("asked with %s", b.chat.Prompts()[1].User)
	}
}

// Long events are condensed by their tokens. They are cut for the prompt, which has as many as fit into it.
func TestCompaction_OfLongEvents(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.withModel(Settings{Events: 200, Tokens: 1000, Age: time.Hour, Summary: 400})
	b.chat.OnPrompt(answering("They sent long messages."))
	for range 20 {
		b.say(s, "c", said(strings.Repeat("word ", 1200)))
	}
	done, err := b.compact(s, "c")
	b.must(err)
	if want := (Compacted{Steps: done.Steps, Events: 19, Through: 19}); done != want {
		t.Errorf("%+v, want %+v", done, want)
	}
	for _, p := range b.chat.Prompts() {
		if n := len([]rune(p.User)); n > maxPromptRunes+maxEventRunes {
			t.Errorf("a prompt of %d characters", n)
		}
	}
	if w := b.working(s, "c"); len(w.Events) != 1 || w.Fill <= 1 {
		t.Errorf("the latest event: %d events, fill %v", len(w.Events), w.Fill)
	}
}

// Events that were stored before tokens were counted do not change the fill, neither before nor after they are
// condensed.
func TestCompaction_OfEventsWithoutTokenCounts(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.replica(small)
	for range 10 {
		b.say(nil, "c", memory.Message{Role: "user", Content: "two words"})
	}
	b.say(nil, "c", said("two words"))
	_, err := b.compact(s, "c")
	b.must(err)
	if c := b.conversation("c"); c.SummarisedThrough != 5 || c.Tokens != 2 || c.SummarisedTokens != 0 {
		t.Errorf("%+v", c)
	}
}

// Without a model the most important events are kept, one per line.
func TestCompaction_WithoutAModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.replica(Settings{Events: 10, Tokens: 1000, Age: time.Hour, Summary: 116})
	b.say(s, "c", said("hello, is anybody in"), memory.Message{Role: "tool", Name: "ci", Kind: memory.Failure,
		Content: "the build\nbroke"})
	b.say(s, "c", memory.Message{Role: "user", Kind: memory.Observation, Content: "it rains"}, said("我在上海"))
	b.sayMany(s, "c", 5, 11)
	_, err := b.compact(s, "c")
	b.must(err)
	// The lines have 29, 29, 30, 13 and 18 characters with their ends, and 116 fit: the rain is least important.
	const want = "- user: hello, is anybody in\n- error, ci: the build broke\n- user: 我在上海\n- user: message 5"
	if got := b.conversation("c").Summary; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBullets_FitTheRoom(t *testing.T) {
	t.Parallel()
	event := func(importance float64, content string) Event {
		return Event{Role: "user", Kind: memory.Chat, Importance: importance, Content: content}
	}
	// Lines of 10 characters with their ends: "- user: x\n".
	a := event(.6, "a")
	b := event(.9, "b")
	c := event(.6, "c")
	d := event(.4, "d")
	for _, test := range []struct {
		summary string
		events  []Event
		room    int
		want    string
	}{
		{"", []Event{a, b, c, d}, 40, "a b c d"},
		{"", []Event{a, b, c, d}, 39, "a b c"},
		{"", []Event{a, b, c, d}, 29, "b c"}, // the later one of a tie
		{"", []Event{a, b, c, d}, 19, "b"},
		{"- user: 1\n- user: 2", []Event{a, b}, 40, "1 2 a b"},
		{"- user: 1\n- user: 2\n- user: 3", []Event{a, b}, 40, "2 3 a b"},
		{"- user: 1\n- user: 2\n- user: 3", []Event{a}, 40, "1 2 3 a"},          // room that the events leave
		{"- user: 1", []Event{a, b, c, d}, 40, "1 a b c"},                       // room that the summary leaves
		{"- user: 1\n- user: 2\n- user: 3", []Event{a, b, c, d}, 40, "2 3 b c"}, // half and half
	} {
		got := strings.ReplaceAll(strings.ReplaceAll(bullets(test.summary, test.events, test.room), "- user: ", ""), "\n",
			" ")
		if got != test.want {
			t.Errorf("%q and %d events in %d: %q, want %q", test.summary, len(test.events), test.room, got, test.want)
		}
	}
	long := bullets(strings.Repeat("paragraph ", 40), []Event{event(.6, strings.Repeat("界", 500))}, 300)
	if n := len([]rune(long)); n > 300 || n < 200 || !strings.Contains(long, "…") {
		t.Errorf("%d characters: %q", n, long)
	}
}

// dying is a database that fails, as if the process died, after a summary was stored.
type dying struct {
	Records
	err error
}

func (d dying) Summarise(ctx context.Context, c, next memory.Conversation) error {
	return errors.Join(d.Records.Summarise(ctx, c, next), d.err)
}

// A job that runs again after a crash, or twice at the same time, condenses once.
func TestCompaction_TakesPlaceOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.withModel(small)
	var calls atomic.Int64
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		return answering("A summary" + strings.Repeat("!", int(calls.Add(1))))(p)
	})
	b.sayMany(s, "c", 1, 11)
	job := s.compaction(b.conversation("c")).(CompactConversation)
	crashed := b.withModel(small)
	crashed.Records = dying{b.store, memory.Errorf(memory.KindUnavailable, "the process is gone")}
	if _, err := crashed.Work(t.Context(), job); !memory.IsKind(err, memory.KindUnavailable) {
		t.Fatalf("the crash: %v", err)
	}
	after := b.conversation("c")
	if after.Summary != "A summary!" || after.SummarisedThrough != 5 {
		t.Fatalf("%+v", after)
	}
	done, err := s.Work(t.Context(), job)
	b.must(err)
	if done.(Compacted).Steps != 0 || b.conversation("c") != after {
		t.Errorf("again: %+v, %+v", done, b.conversation("c"))
	}

	b.sayMany(s, "c", 12, 20)
	job = s.compaction(b.conversation("c")).(CompactConversation)
	var group errgroup.Group
	var steps [8]int
	for i := range steps {
		group.Go(func() error {
			done, err := b.withModel(small).Work(t.Context(), job)
			steps[i] = done.(Compacted).Steps
			return err
		})
	}
	b.must(group.Wait())
	sum := 0
	for _, n := range steps {
		sum += n
	}
	if c := b.conversation("c"); sum != 1 || c.SummarisedThrough != 12 {
		t.Errorf("%d steps, through %d", sum, c.SummarisedThrough)
	}
	if _, err := s.Delete(t.Context(), ada, "c"); err != nil {
		t.Fatal(err)
	}
	b.sayMany(s, "c", 1, 11) // the job ignores another conversation of the same id
	if done, err := s.Work(t.Context(), job); err != nil || done.(Compacted).Steps != 0 {
		t.Errorf("begun anew: %+v, %v", done, err)
	}
}

// The prompt about a Chinese conversation is in Chinese.
func TestCompaction_InChinese(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.withModel(small)
	b.chat.OnPrompt(answering("他们互相发送了消息。"))
	for i := range 11 {
		b.say(s, "c", said(fmt.Sprintf("第 %d 条消息：我在上海工作", i)))
	}
	if done, err := b.compact(s, "c"); err != nil || done.Steps != 1 ||
		!strings.Contains(b.chat.Prompts()[0].System, "滚动摘要") {
		t.Errorf("%+v, %v", done, err)
	}
}
