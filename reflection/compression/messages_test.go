package compression

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// messages writes n messages of a conversation of 20 days ago, a minute apart.
func (b *fixture) messages(conversation string, n int, change func(i int, m *memory.Memory)) []memory.Memory {
	b.t.Helper()
	return b.add(ada, 0, n, func(i int, m *memory.Memory) {
		m.Type = memory.TypeMessage
		m.ConversationID = conversation
		m.Speaker = "Ada"
		m.Importance = 0.4
		m.Content = fmt.Sprintf("In %s I swam %d lengths.", conversation, 10+i)
		m.CreatedAt = begin.Add(-20*day + time.Duration(i)*time.Minute)
		m.UpdatedAt, m.LastAccessedAt = m.CreatedAt, m.CreatedAt
		if change != nil {
			change(i, m)
		}
	})
}

// summaryOf writes a summary of a conversation, dated i minutes after its first message.
func (b *fixture) summaryOf(conversation string, i int, change func(*memory.Memory)) memory.Memory {
	b.t.Helper()
	return b.messages(conversation, 1, func(_ int, m *memory.Memory) {
		m.Type, m.Content = memory.TypeSummary, "Ada talked about swimming in "+conversation+"."
		m.CreatedAt = m.CreatedAt.Add(time.Duration(i) * time.Minute)
		if change != nil {
			change(m)
		}
	})[0]
}

func TestCompress_CondensesTheMessagesOfAConversation(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	messages := b.messages("c1", 4, nil)
	earlier := b.summaryOf("c1", 3, nil)
	kept := []memory.Memory{
		b.summaryOf("c1", 4, nil), // of later messages
		b.summaryOf("c1", 2, func(m *memory.Memory) { m.AgentID = "coach" }),
		b.summaryOf("c1", 2, func(m *memory.Memory) { m.Pinned = true }),
		b.summaryOf("c9", 2, nil),
	}
	b.chat.Answers(`{"summaries":[{"summary":"In c1 Ada swam 10 to 13 lengths.","sources":[1,2,3,4,5]}]}`)
	r := b.compress()
	if len(r.Groups) != 1 || r.Groups[0].Refused != "" || len(r.Groups[0].Summaries) != 1 ||
		!slices.Equal(r.Groups[0].Memories, append(memory.IDs(messages), earlier.ID)) {
		t.Fatalf("%+v", r)
	}
	summary := b.memory(r.Groups[0].Summaries[0].ID)
	if summary.ConversationID != "c1" || summary.Type != memory.TypeSummary || summary.Importance != 0.7 ||
		!summary.CreatedAt.Equal(messages[3].CreatedAt) || !summary.LastAccessedAt.Equal(begin) {
		t.Errorf("%+v", summary)
	}
	for _, m := range append(messages, earlier) {
		if is := b.memory(m.ID).Status; is != memory.Consolidated {
			t.Errorf("%q is %s", m.Content, is)
		}
	}
	for _, m := range kept {
		if is := b.memory(m.ID).Status; is != memory.Active {
			t.Errorf("%q is %s", m.Content, is)
		}
	}
	p := b.chat.Prompts()[0]
	if !strings.Contains(p.System, "messages of one conversation") ||
		!strings.Contains(p.User, `{"number":2,"said":"2026-02-09, Monday","by":"Ada","memory":"In c1 I swam 11 lengths."}`) {
		t.Errorf("prompt %s", p.User)
	}
}

// Each conversation is condensed alone, and its messages join no episode.
func TestCompress_SeparatesConversations(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.messages("c1", 2, nil)
	b.messages("c2", 3, nil)
	b.messages("c2", 2, func(_ int, m *memory.Memory) { m.AgentID = "coach" })
	b.messages("c3", 1, nil)                                                                            // alone
	b.messages("", 3, func(_ int, m *memory.Memory) { m.CreatedAt = begin.Add(-40 * day) })             // an episode
	b.messages("c4", 2, func(_ int, m *memory.Memory) { m.LastAccessedAt = begin.Add(-10 * day) })      // recalled
	b.messages("c5", 2, func(_ int, m *memory.Memory) { m.CreatedAt, m.LastAccessedAt = begin, begin }) // fresh
	b.messages("c6", 2, func(_ int, m *memory.Memory) { m.AccessCount = 5 })                            // used
	b.add(ada, 0, 2, func(_ int, m *memory.Memory) { m.CreatedAt = m.CreatedAt.Add(-day) })             // two
	b.add(ada, 0, 3, func(_ int, m *memory.Memory) { m.CreatedAt = begin.Add(-20 * day) })              // young
	r, err := b.Compress(t.Context(), ada, true)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, g := range r.Groups {
		sizes = append(sizes, len(g.Memories))
	}
	slices.Sort(sizes)
	if !slices.Equal(sizes, []int{2, 2, 3, 3}) {
		t.Errorf("groups of %v memories", sizes)
	}
}

func TestParts_FitIntoPrompts(t *testing.T) {
	t.Parallel()
	message := func(i, length int) memory.Memory {
		return memory.Memory{ID: fmt.Sprint(i), Type: memory.TypeMessage, ConversationID: "c",
			Content: strings.Repeat("a", length)}
	}
	var many, long []memory.Memory
	for i := range maxGroup + 3 {
		many = append(many, message(i, 10))
	}
	for i := range 5 {
		long = append(long, message(i, 10_000))
	}
	for name, test := range map[string]struct {
		messages []memory.Memory
		want     []int
	}{
		"many":        {many, []int{maxGroup, 3}},
		"one is left": {many[:maxGroup+1], []int{maxGroup}},
		"long":        {long, []int{2, 2}},
		"too long for a pair": {[]memory.Memory{message(0, 20_000), message(1, 20_000), message(2, 9), message(3, 9)},
			[]int{3}},
	} {
		var sizes []int
		for _, part := range parts(test.messages) {
			sizes = append(sizes, len(part))
		}
		if !slices.Equal(sizes, test.want) {
			t.Errorf("%s: groups of %v messages, want %v", name, sizes, test.want)
		}
	}
}

// An undo restores the messages and the earlier summary, and they are not condensed again.
func TestCompress_UndoRestoresMessages(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.messages("c1", 3, nil)
	b.summaryOf("c1", 1, nil)
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) { return citing(p, "In c1 Ada swam."), nil })
	id := b.compress().Groups[0].Summaries[0].ID
	if _, restored, err := b.derive.Undo(t.Context(), ada.AppID, id); err != nil || len(restored) != 4 {
		t.Fatalf("%d restored, %v", len(restored), err)
	}
	b.tx(ada, func(ctx context.Context, tx db.UserTx) error {
		state, err := tx.State(ctx)
		if err == nil && state.CompressedAt.IsZero() {
			t.Error("the undo left no time of compression")
		}
		return err
	})
	b.clock.Set(begin.Add(60 * day))
	if r := b.compress(); r.Considered != 0 {
		t.Errorf("again: %+v", r)
	}
}
