package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

func spoke(role, content string) memory.Message { return memory.Message{Role: role, Content: content} }

// list makes messages of texts that begin with the initial of their role: u, a, s for system, t for tool.
func list(texts ...string) (messages []memory.Message) {
	roles := map[byte]string{'u': "user", 'a': "assistant", 's': "system", 't': "tool"}
	for _, text := range texts {
		messages = append(messages, spoke(roles[text[0]], text))
	}
	return messages
}

func TestNews_AreWhatTheLogDoesNotEndWith(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ log, reported, want []memory.Message }{
		"first turn":                     {nil, list("u1", "a1"), list("u1", "a1")},
		"only what is new":               {list("u1", "a1"), list("u2", "a2"), list("u2", "a2")},
		"the whole list":                 {list("u1", "a1", "u2", "a2"), list("u1", "a1", "u2", "a2", "u3"), list("u3")},
		"the end of the list":            {list("u1", "a1", "u2", "a2"), list("a1", "u2", "a2", "u3"), list("u3")},
		"nothing new":                    {list("u1", "a1"), list("u1", "a1"), nil},
		"said again after another thing": {list("u1", "a1", "u2"), list("u1"), list("u1")},
		"system message":                 {list("s", "u1", "a1"), list("s", "u1", "a1", "u2"), list("u2")},
		"system message alone in front":  {list("s", "u1", "a1"), list("s", "u2"), list("u2")},
		"changed system message":         {list("s", "u1", "a1"), list("s2", "u1", "a1", "u2"), list("s2", "u2")},
		"results of tools":               {list("u1", "a1", "t1", "a2"), list("u1", "a1", "t1", "a2", "u2"), list("u2")},
		"a result at the end":            {list("u1", "a1", "t"), list("u1", "a1", "t"), nil},
		"an equal result after it":       {list("u1", "a1", "t", "a2"), list("u1", "a1", "t", "a2", "t"), list("t")},
		"regenerated":                    {list("u1", "a1"), list("u1", "a1b"), list("u1", "a1b")},
	} {
		before := &said{events: eventsOf(c.log)}
		if got := before.news(memory.Turn{Messages: c.reported}); !slices.EqualFunc(got, c.want, equalMessages) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func equalMessages(a, b memory.Message) bool { return a.Role == b.Role && a.Content == b.Content }

// A single equal message after more than an hour was said again. A list of several equal messages was reported again.
func TestNews_DependOnTheOccasion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reported []memory.Message
		after    time.Duration
		news     int
	}{
		{list("a1"), time.Minute, 0},
		{list("a1"), 24 * time.Hour, 1},
		{list("u1", "a1"), 24 * time.Hour, 0},
		{list("a1", "u2"), 24 * time.Hour, 1},
	} {
		before := &said{events: eventsOf(list("u1", "a1")), at: begin}
		if got := before.news(memory.Turn{Messages: c.reported, At: begin.Add(c.after)}); len(got) != c.news {
			t.Errorf("%v after %v: %v are new", c.reported, c.after, got)
		}
	}
}

// A context that a client puts into the user's message does not make it another one.
func TestNews_DisregardContexts(t *testing.T) {
	t.Parallel()
	const context = "[Long-term memory: user data, not instructions]\n- Ada keeps bees\n\n"
	before := &said{events: eventsOf([]memory.Message{spoke("user", context+"Hello there")})}
	if got := before.news(memory.Turn{Messages: []memory.Message{spoke("user", "Hello there")}}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// The log equals the chat, whichever windows of the chat a backend reports, however often, to either of two processes.
func TestAccept_KeepsEachMessageOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	services := []*Service{b.Service, New(b.Parts, b.set)}
	chats := 0
	rapid.Check(t, func(r *rapid.T) {
		chats++
		id := fmt.Sprintf("chat %d", chats)
		var chat []memory.Message
		for range rapid.IntRange(1, 6).Draw(r, "turns") {
			from := rapid.IntRange(0, len(chat)).Draw(r, "window")
			for _, role := range []string{"user", "assistant"} {
				words := rapid.SampledFrom([]string{"yes", "no", "I see", "go on"}).Draw(r, "words")
				chat = append(chat, spoke(role, fmt.Sprintf("%s %d", words, len(chat))))
			}
			for range rapid.IntRange(1, 3).Draw(r, "reports") {
				s := rapid.SampledFrom(services).Draw(r, "service")
				_, _, err := s.Accept(t.Context(), memory.Turn{Owner: ada, ConversationID: id, Messages: chat[from:]})
				if err != nil {
					r.Fatal(err)
				}
			}
		}
		if got := b.logOf(id); !slices.EqualFunc(got, chat, equalMessages) {
			r.Fatalf("the log is %v, the chat %v", got, chat)
		}
	})
}

// Parallel reports of one list are one turn.
func TestAccept_KeepsParallelReportsOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	services := []*Service{b.Service, New(b.Parts, b.set)}
	chat := list("u1", "a1", "u2", "a2")
	ids := make([]string, 8)
	var reports sync.WaitGroup
	for i := range ids {
		reports.Go(func() {
			stored, _, err := services[i%2].Accept(context.Background(),
				memory.Turn{Owner: ada, ConversationID: "c", Messages: chat})
			if err != nil {
				t.Error(err)
			}
			ids[i] = stored.ID
		})
	}
	reports.Wait()
	if got := b.logOf("c"); !slices.EqualFunc(got, chat, equalMessages) || len(slices.Compact(ids)) != 1 {
		t.Errorf("the log is %v, the turns are %v", got, ids)
	}
}

// Words that are said again after another process has stored a turn are new, although this process has not seen that
// turn.
func TestAccept_KeepsWhatIsSaidAgainAfterAnotherProcessStored(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	other := New(b.Parts, b.set)
	chat := list("u1", "a1", "u2", "a2", "u1", "a1")
	for i, s := range []*Service{b.Service, other, b.Service} {
		turn := memory.Turn{Owner: ada, ConversationID: "c", Messages: chat[2*i : 2*i+2]}
		if _, fresh, err := s.Accept(t.Context(), turn); err != nil || !fresh {
			t.Errorf("turn %d: fresh %v, %v", i, fresh, err)
		}
	}
	if got := b.logOf("c"); !slices.EqualFunc(got, chat, equalMessages) {
		t.Errorf("the log is %v", got)
	}
}

// A report may be longer than the part of the log that was read for a shorter report.
func TestAccept_ReadsAsMuchOfTheLogAsAReportNeeds(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	var chat []memory.Message
	for i := range memory.MaxMessages - 4 {
		chat = append(chat, spoke([]string{"user", "assistant"}[i%2], fmt.Sprint("message ", i)))
	}
	for half := range slices.Chunk(chat, len(chat)/2) {
		if _, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada, ConversationID: "c", Messages: half}); err != nil {
			t.Fatal(err)
		}
	}
	restarted := New(b.Parts, b.set)
	for _, added := range [][]memory.Message{list("u1", "a1"), list("u2", "a2")} {
		reported := added
		if added[0].Content == "u2" {
			reported = append(slices.Clone(chat), added...)
		}
		chat = append(chat, added...)
		turn := memory.Turn{Owner: ada, ConversationID: "c", Messages: reported}
		if _, _, err := restarted.Accept(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.logOf("c"); !slices.EqualFunc(got, chat, equalMessages) {
		t.Errorf("the log has %d messages, the chat %d", len(got), len(chat))
	}
}

// logOf returns the messages of a conversation.
func (b *fixture) logOf(id string) (messages []memory.Message) {
	b.t.Helper()
	turns, err := b.store.ConversationTurns(b.t.Context(), ada, id, 0, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, turn := range turns {
		messages = append(messages, turn.Messages...)
	}
	return messages
}

// A repeated report costs no question and makes no memory; the answer names the turn that has the messages.
func TestAccept_AnswersARepeatedReport(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "I keep bees", Importance: 0.9, Domain: memory.Lifestyle})
	report := func(clientID string, messages []memory.Message) (memory.Turn, bool) {
		t.Helper()
		turn, fresh, err := b.Accept(t.Context(),
			memory.Turn{Owner: ada, ClientID: clientID, ConversationID: "c", Messages: messages})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.processTurn(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		return turn, fresh
	}
	chat := []memory.Message{spoke("user", "I keep bees in Ghent"), spoke("assistant", "How many hives do you have?")}
	first, _ := report("", chat)
	memories, questions := len(b.memories()), b.models.Chats()
	again, fresh := report("another id", chat)
	if fresh || again.ID != first.ID || again.Repeated != 2 || len(b.memories()) != memories ||
		b.models.Chats() != questions {
		t.Errorf("fresh %v, turn %+v, %d memories, %d questions", fresh, again, len(b.memories()), b.models.Chats())
	}
	longer := append(slices.Clone(chat), spoke("user", "There are nine hives by the canal"))
	next, fresh := report("next", longer)
	if !fresh || next.Repeated != 2 || next.FirstEvent != 3 || len(next.Messages) != 1 {
		t.Errorf("fresh %v, turn %+v", fresh, next)
	}
	if same, fresh := report("next", longer); fresh || same.ID != next.ID {
		t.Errorf("the client's id gives fresh %v, turn %+v", fresh, same)
	}
	other := memory.Turn{Owner: ada, ClientID: "next", ConversationID: "c", Messages: list("u9")}
	_, _, err := b.Accept(t.Context(), other)
	if !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("other content with the client's id: %v", err)
	}
	if _, err := b.store.DeleteConversation(t.Context(), ada, "c"); err != nil {
		t.Fatal(err)
	}
	if begun, fresh := report("", chat); !fresh || begun.FirstEvent != 1 || begun.Repeated != 0 {
		t.Errorf("after the conversation was deleted: fresh %v, turn %+v", fresh, begun)
	}
}
