package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

// identified is list for texts that may begin with an id: "3 u1" has the id 3.
func identified(texts ...string) (messages []memory.Message) {
	for _, text := range texts {
		id, said, has := strings.Cut(text, " ")
		if !has {
			id, said = "", text
		}
		m := list(said)[0]
		m.ID = id
		messages = append(messages, m)
	}
	return messages
}

func TestNews_AreDecidedByIDsFirst(t *testing.T) {
	t.Parallel()
	chat := identified("1 u1", "2 a1", "3 u2", "4 a2")
	for name, c := range map[string]struct{ log, reported, want []memory.Message }{
		"the whole list":           {chat, append(slices.Clone(chat), identified("5 u3")...), identified("5 u3")},
		"an earlier part":          {chat, identified("1 u1", "2 a1"), nil},
		"with gaps":                {chat, identified("1 u1", "4 a2", "5 u3"), identified("5 u3")},
		"the same words, other id": {chat, identified("5 a2"), identified("5 a2")},
		"an id in the past":        {chat, identified("1 u1", "6 a1b", "3 u2"), identified("6 a1b")},
		"ids of the user alone": {
			identified("1 u1", "a1", "2 u2", "a2", "3 u3", "a3"), identified("1 u1", "a1", "2 u2", "a2"), nil,
		},
		"ids since yesterday": {list("u1", "a1"), identified("1 u1", "2 a1", "3 u2"), identified("3 u2")},
		"no ids any more":     {chat, list("u2", "a2", "u3"), list("u3")},
		"a tool's result": {
			identified("1 u1", "t1", "2 a1"), identified("1 u1", "t1", "2 a1", "3 u2"), identified("3 u2"),
		},
		"a system message": {identified("0 s", "1 u1", "2 a1"), identified("0 s", "3 u2"), identified("3 u2")},
	} {
		before := &said{events: eventsOf(c.log)}
		if got := before.news(memory.Turn{Messages: c.reported}); !slices.EqualFunc(got, c.want, equalMessages) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// A message with an id is one event, also if its words differ in white space, and however long the chat is.
func TestAccept_KnowsAMessageByItsID(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	accept := func(s *Service, turn memory.Turn) (memory.Turn, bool, error) {
		turn.Owner, turn.ConversationID = ada, "c"
		return s.Accept(t.Context(), turn)
	}
	first, _, err := accept(b.Service, memory.Turn{Messages: identified("1 u1", "2 a1")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxSaid {
		_, fresh, err := accept(b.Service, memory.Turn{Messages: identified(fmt.Sprintf("later-%d u%d", i, i))})
		if err != nil || !fresh {
			t.Fatalf("message %d: fresh %v, %v", i, fresh, err)
		}
	}
	restarted := New(b.Parts, b.set)
	for _, s := range []*Service{b.Service, restarted} {
		again, fresh, err := accept(s, memory.Turn{Messages: identified("1 u1", "2 a1 \n")})
		if err != nil || fresh || again.ID != first.ID || again.Repeated != 2 {
			t.Errorf("reported again: fresh %v, turn %s, %d repeated, %v", fresh, again.ID, again.Repeated, err)
		}
		_, _, err = accept(s, memory.Turn{Messages: identified("1 u1 edited")})
		if !memory.IsKind(err, memory.KindConflict) || !strings.Contains(err.Error(), first.ID) {
			t.Errorf("edited: %v, want a conflict that names turn %s", err, first.ID)
		}
	}
	edited, fresh, err := accept(restarted, memory.Turn{Replaces: first.ID, Messages: identified("1 u1 edited", "2 a1")})
	if err != nil || !fresh || len(edited.Messages) != 2 {
		t.Errorf("replaced: fresh %v, turn %+v, %v", fresh, edited, err)
	}
	if again, fresh, err := accept(b.Service, memory.Turn{Messages: identified("1 u1 edited")}); err != nil || fresh ||
		again.ID != edited.ID {
		t.Errorf("the edited message again: fresh %v, turn %s, %v", fresh, again.ID, err)
	}
}

// A late retry of a turn whose message was edited since is answered with the turn.
func TestAccept_AnswersALateRetryOfAReplacedTurn(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	first := memory.Turn{Owner: ada, ConversationID: "c", ClientID: "first", Messages: identified("1 u1")}
	edited := memory.Turn{Owner: ada, ConversationID: "c", Replaces: "first", Messages: identified("1 u2")}
	for _, turn := range []memory.Turn{first, edited} {
		if _, fresh, err := b.Accept(t.Context(), turn); err != nil || !fresh {
			t.Fatalf("fresh %v, %v", fresh, err)
		}
	}
	again, fresh, err := b.Accept(t.Context(), first)
	if err != nil || fresh || again.Status != memory.TurnWithdrawn {
		t.Errorf("fresh %v, turn %+v, %v", fresh, again, err)
	}
}

// Whatever part of the chat is reported, in whatever order and by whichever process, each id is one event.
func TestAccept_KeepsEachIDOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	services := []*Service{b.Service, New(b.Parts, b.set)}
	chats := 0
	rapid.Check(t, func(r *rapid.T) {
		chats++
		conversation := fmt.Sprintf("chat %d", chats)
		var chat []memory.Message
		for i := range rapid.IntRange(1, 2*minSaid).Draw(r, "messages") {
			m := spoke([]string{"user", "assistant"}[i%2], rapid.SampledFrom([]string{"yes", "no"}).Draw(r, "words"))
			m.ID = fmt.Sprint(i)
			chat = append(chat, m)
		}
		reported := map[string]int{}
		for range rapid.IntRange(1, 6).Draw(r, "reports") {
			from := rapid.IntRange(0, len(chat)-1).Draw(r, "from")
			window := chat[from:rapid.IntRange(from+1, len(chat)).Draw(r, "until")]
			s := rapid.SampledFrom(services).Draw(r, "service")
			turn := memory.Turn{Owner: ada, ConversationID: conversation, Messages: window}
			if _, _, err := s.Accept(t.Context(), turn); err != nil {
				r.Fatal(err)
			}
			for _, m := range window {
				reported[m.ID] = 1
			}
		}
		for _, m := range b.logOf(conversation) {
			reported[m.ID]--
		}
		for id, left := range reported {
			if left != 0 {
				r.Errorf("message %s is %d times in the log", id, 1-left)
			}
		}
	})
}
