package dbtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// talked returns a turn of a conversation with some user messages, made and
// accepted at an instant.
func talked(owner memory.Owner, id string, at time.Time, contents ...string) memory.Turn {
	t := newTurn(owner, "")
	t.ConversationID = id
	t.Messages = nil
	t.At = at
	t.AcceptedAt = at
	for _, content := range contents {
		t.Messages = append(t.Messages, memory.Message{Role: "user", Content: content, Tokens: 10})
	}
	return t
}

func say(t *testing.T, s db.Store, turn memory.Turn) memory.Turn {
	t.Helper()
	stored, fresh, err := s.AcceptTurn(t.Context(), turn, after(60), nil)
	must(t, err)
	wantSame(t, "fresh", fresh, true)
	return stored
}

func conversation(t *testing.T, s db.Store, owner memory.Owner, id string) memory.Conversation {
	t.Helper()
	c, err := s.Conversation(t.Context(), owner.AppID, owner.UserID, id)
	must(t, err)
	return c
}

func conversationIDs(list []memory.Conversation) []string {
	all := []string{}
	for _, c := range list {
		all = append(all, c.ID)
	}
	return all
}

// conversationGrows checks counts, event numbers, times and titles.
func conversationGrows(t *testing.T, s db.Store) {
	ctx := t.Context()
	full := talked(alice, "c", after(10), "")
	full.ClientID = "client-1"
	full.Messages = []memory.Message{
		{Role: "assistant", Content: "hello", Tokens: 3},
		{
			Role:    "tool",
			Content: "42",
			Name:    "t",
			Kind:    memory.ToolUse,
			Tags:    []string{"茶", `q"u'ote\`},
			Context: memory.MessageContext{ActionTaken: true, MentionedMe: true},
			Tokens:  4,
		},
	}
	first := say(t, s, full)
	want := full
	want.FirstEvent = 1
	wantSame(t, "the answer", first, want)
	found, err := s.Turn(ctx, "app", full.ID)
	must(t, err)
	wantSame(t, "the row", found, want)
	grown := memory.Conversation{
		Owner: alice, ID: "c", FirstTurnID: full.ID, Turns: 1, Events: 2, Tokens: 7, StartedAt: after(10), LastAt: after(10),
	}
	wantSame(t, "after the first turn", conversation(t, s, alice, "c"), grown)

	again := talked(alice, "c", after(11), "again")
	again.ClientID = "client-1"
	repeated, fresh, err := s.AcceptTurn(ctx, again, after(60), nil)
	must(t, err)
	wantSame(t, "fresh", fresh, false)
	wantSame(t, "the first turn again", repeated, want)
	elsewhere := talked(alice, "other", after(11), "again")
	elsewhere.ClientID = "client-1"
	repeated, fresh, err = s.AcceptTurn(ctx, elsewhere, after(60), nil)
	must(t, err)
	wantSame(t, "fresh", fresh, false)
	wantSame(t, "the first turn again", repeated.ID, full.ID)
	wantSame(t, "unchanged", conversation(t, s, alice, "c"), grown)
	_, err = s.Conversation(ctx, "app", "alice", "other")
	wantKind(t, err, memory.KindNotFound)
	_, _, err = s.AcceptTurn(ctx, talkedAs(full.ID, alice, "c"), after(60), nil)
	wantKind(t, err, memory.KindConflict)
	wantSame(t, "unchanged", conversation(t, s, alice, "c"), grown)

	wantSame(t, "second", say(t, s, talked(alice, "c", after(5), "tea?", "green tea")).FirstEvent, int64(3))
	wantSame(t, "third", say(t, s, talked(alice, "c", after(20), "thanks")).FirstEvent, int64(5))
	wantSame(t, "elsewhere", say(t, s, talked(alice, "d", after(20), "hi")).FirstEvent, int64(1))
	grown.Title = "tea?"
	grown.Turns = 3
	grown.Events = 5
	grown.Tokens = 37
	grown.StartedAt = after(5)
	grown.LastAt = after(20)
	wantSame(t, "after the third turn", conversation(t, s, alice, "c"), grown)

	titled, err := s.SetTitle(ctx, alice, "c", "Tea 茶")
	must(t, err)
	grown.Title = "Tea 茶"
	wantSame(t, "titled", titled, grown)
	say(t, s, talked(alice, "c", after(21), "more"))
	wantSame(t, "title", conversation(t, s, alice, "c").Title, "Tea 茶")
	_, err = s.SetTitle(ctx, alice, "none", "x")
	wantKind(t, err, memory.KindNotFound)
}

// talkedAs returns a turn with the id of another one.
func talkedAs(id string, owner memory.Owner, conversation string) memory.Turn {
	t := talked(owner, conversation, epoch, "x")
	t.ID = id
	return t
}

// conversationTurns reads the log by event numbers.
func conversationTurns(t *testing.T, s db.Store) {
	for i, n := range []int{2, 1, 3} { // events 1-2, 3, 4-6
		// At decreases: turns are ordered by acceptance
		say(t, s, talked(alice, "c", after(-i), strings.Fields(strings.Repeat("x ", n))...))
	}
	say(t, s, newTurn(alice, ""))
	for _, step := range []struct {
		after int64
		limit int
		want  []int64
	}{
		{0, 10, []int64{1, 3, 4}},
		{-5, 10, []int64{1, 3, 4}},
		{0, 2, []int64{1, 3}},
		{1, 10, []int64{1, 3, 4}},
		{2, 10, []int64{3, 4}},
		{3, 10, []int64{4}},
		{5, 10, []int64{4}},
		{6, 10, nil},
		{1 << 60, 10, nil},
	} {
		turns, err := s.ConversationTurns(t.Context(), alice, "c", step.after, step.limit)
		must(t, err)
		var got []int64
		for _, turn := range turns {
			got = append(got, turn.FirstEvent)
			if turn.Tokens() == 0 {
				t.Errorf("turn %d has no messages or tokens", turn.FirstEvent)
			}
		}
		wantSame(t, fmt.Sprintf("after %d, at most %d", step.after, step.limit), got, step.want)
	}
	for _, other := range []memory.Owner{{AppID: "app", UserID: "bob"}, {AppID: "other", UserID: "alice"}} {
		turns, err := s.ConversationTurns(t.Context(), other, "c", 0, 10)
		must(t, err)
		wantSame(t, "turns of another owner", len(turns), 0)
	}
}

// conversationAtOnce checks that concurrent turns number their events without gaps.
func conversationAtOnce(t *testing.T, s db.Store) {
	const n = 12
	var group errgroup.Group
	for i := range n {
		group.Go(func() error {
			for j := range 4 {
				turn := talked(alice, "c", epoch, "one", "two")
				turn.ClientID = fmt.Sprint((i/2)*4 + j) // each client id twice
				if _, _, err := s.AcceptTurn(t.Context(), turn, after(60), nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
	turns, err := s.ConversationTurns(t.Context(), alice, "c", 0, 100)
	must(t, err)
	wantSame(t, "turns", len(turns), n*2)
	for i, turn := range turns {
		wantSame(t, "first event", turn.FirstEvent, int64(2*i+1))
	}
	c := conversation(t, s, alice, "c")
	wantSame(t, "counts", []int64{c.Turns, c.Events, c.Tokens}, []int64{n * 2, n * 4, n * 40})
	wantSame(t, "first turn", c.FirstTurnID, turns[0].ID)
}

func listConversations(t *testing.T, s db.Store) {
	want := []string{}
	for i := range 9 {
		id := fmt.Sprint("c", i)
		say(t, s, talked(alice, id, after(i/2), "hi"))
		want = append([]string{id}, want...)
	}
	say(t, s, talked(memory.Owner{AppID: "app", UserID: "bob"}, "c9", epoch, "hi"))
	say(t, s, talked(memory.Owner{AppID: "other", UserID: "alice"}, "c9", epoch, "hi"))
	for _, limit := range []int{1, 2, 4, 100} {
		f := db.ConversationFilter{Owner: alice, Limit: limit}
		got := []string{}
		for {
			page, err := s.ListConversations(t.Context(), f)
			must(t, err)
			got = append(got, conversationIDs(page)...)
			if len(page) < limit {
				break
			}
			last := page[len(page)-1]
			f.Before = &db.Position{At: last.LastAt, ID: last.ID}
		}
		wantSame(t, fmt.Sprint("pages of ", limit), got, want)
	}
}

// conversationHostile uses ids that are syntax in some language.
func conversationHostile(t *testing.T, s db.Store) {
	names := []string{
		"a/b", "%", "_", `"`, `'; DROP TABLE conversations; --`, `\`, "$1", "?1", "{x}", "🧠", "é", "e\u0301",
		strings.Repeat("中", 85), "c ", " c", "c", "C",
	}
	for i, name := range names {
		turn := say(t, s, talked(memory.Owner{AppID: "app", UserID: names[(i+5)%len(names)]}, name, epoch, name))
		wantSame(t, "first event", turn.FirstEvent, int64(1))
	}
	for i, name := range names {
		c, err := s.Conversation(t.Context(), "app", "", name)
		must(t, err)
		wantSame(t, "conversation", []string{c.ID, c.UserID}, []string{name, names[(i+5)%len(names)]})
		deleted, err := s.DeleteConversation(t.Context(), c.Owner, name)
		must(t, err)
		wantSame(t, "deleted", deleted.Turns, 1)
	}
}
