package ingest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

// saidTurn is a turn of a random talk.
type saidTurn struct {
	id        string
	content   string
	at        time.Time
	withdrawn bool
}

var (
	homes = []string{"Utrecht", "Lisbon", "Bergen", "Dakar", "Osaka", "Quito", "Turin"}
	names = []string{"Ana", "Berta", "Clara", "Dora", "Emma", "Frida", "Greta"}
)

var sentence = regexp.MustCompile(
	`(?:I live in|I moved to|My name is|My street is in|I like) \w+\.|我(?:住在|搬到了)\p{Han}+。`)

// newTalk returns a fixture without a judge whose scorer takes each sentence for a fact.
func newTalk(t *testing.T) *fixture {
	b := newFixture(t)
	b.Writer.Judge = nil
	b.set.Messages = true
	b.models.OnPrompt(llmtest.ScoreMark, func(r llmtest.ChatRequest) llmtest.Reply {
		var facts []string
		for _, fact := range sentence.FindAllString(r.User, -1) {
			facts = append(facts, fmt.Sprintf(`{"fact":%q,"importance":0.9,"domain":"general_chat"}`, fact))
		}
		return llmtest.Text(`{"facts":[` + strings.Join(facts, ",") + `]}`)
	})
	return b
}

// take reports a turn and processes it.
func (b *fixture) take(s saidTurn) error {
	turn := memory.Turn{
		Owner: ada, ClientID: s.id, At: s.at, Messages: []memory.Message{{Role: memory.RoleUser, Content: s.content}},
	}
	b.clock.Advance(time.Second)
	turn, _, err := b.Accept(b.t.Context(), turn)
	if err == nil {
		err = b.processTurn(b.t.Context(), turn.ID)
	}
	return err
}

// answering returns the contents of the active memories, and the contents of the messages that are former.
func (b *fixture) answering(t *rapid.T) (contents []string) {
	docs, err := b.store.Documents(b.t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		contents = append(contents, string(d.Type)+": "+d.Content)
		for _, former := range d.Supersedes {
			contents = append(contents, "former: "+former.Said)
		}
	}
	slices.Sort(contents)
	return slices.Compact(contents)
}

// After any turns and withdrawals, in any order of time and of withdrawal, the answering memories are those that would
// answer if the withdrawn turns had never been reported.
func TestWithdraw_LeavesWhatWouldBeWithoutTheTurns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := newTalk(t)
		var turns []saidTurn
		for n := range rapid.IntRange(2, 7).Draw(rt, "turns") {
			var parts []string
			for _, part := range []string{
				"I live in " + homes[n] + ".", "My name is " + names[n] + ".", "I like Mozart.", "I like Vermeer.",
			} {
				if rapid.Bool().Draw(rt, part) {
					parts = append(parts, part)
				}
			}
			one := saidTurn{
				id: fmt.Sprint("turn", n), content: strings.Join(append(parts, fmt.Sprintf("Remark %d.", n)), " "),
				at: begin.Add(time.Duration(rapid.IntRange(0, 100).Draw(rt, "at")*10+n) * time.Minute),
			}
			turns = append(turns, one)
			one.report(rt, b)
			if rapid.IntRange(0, 2).Draw(rt, "withdraw") == 0 {
				turns[rapid.IntRange(0, n).Draw(rt, "turn")].withdraw(rt, b)
			}
		}
		for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6}).Draw(rt, "last")[:2] {
			if i < len(turns) {
				turns[i].withdraw(rt, b)
			}
		}
		want := newTalk(t)
		for _, one := range turns {
			if !one.withdrawn {
				one.report(rt, want)
			}
		}
		if diff := cmp.Diff(want.answering(rt), b.answering(rt)); diff != "" {
			rt.Errorf("of %+v answers (-want +got):\n%s", turns, diff)
		}
	})
}

func (s saidTurn) report(t *rapid.T, b *fixture) {
	if err := b.take(s); err != nil {
		t.Fatal(err)
	}
}

func (s *saidTurn) withdraw(t *rapid.T, b *fixture) {
	s.withdrawn = true
	b.clock.Advance(time.Second)
	if _, err := b.Withdraw(b.t.Context(), ada.AppID, s.id); err != nil {
		t.Fatal(err)
	}
}

// If a turn gave its wording to a memory of another turn or of a client, withdrawing the turn removes the wording, in
// whichever order turns are withdrawn. A memory that only withdrawn turns state is forgotten.
func TestWithdraw_ReversesMerges(t *testing.T) {
	t.Parallel()
	const first, second, third = "I like Mozart.", "I like Brahms.", "I like Vermeer."
	for name, c := range map[string]struct {
		written  string   // by a client, before the turns; empty: nothing is
		withdraw []string // in this order
		want     string   // content of the fact; empty: it is forgotten
	}{
		"the later turn":             {withdraw: []string{"3"}, want: second},
		"the turn between":           {withdraw: []string{"2"}, want: third},
		"both later ones":            {withdraw: []string{"2", "3"}, want: first},
		"both later ones, backwards": {withdraw: []string{"3", "2"}, want: first},
		"the first turn":             {withdraw: []string{"1"}, want: third},
		"all":                        {withdraw: []string{"1", "2", "3"}},
		"all, of a client's memory":  {written: "I like Rodin.", withdraw: []string{"2", "1", "3"}, want: "I like Rodin."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTalk(t)
			vector := make([]float32, llmtest.Dim)
			vector[0] = 1
			for _, content := range []string{first, second, third, "I like Rodin."} { // one statement in other words
				b.models.Embedding(content, vector)
			}
			if c.written != "" {
				b.write(c.written, 0.9, begin)
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, content := range []string{first, second, third} {
				id, at := fmt.Sprint(i+1), begin.Add(time.Duration(i+1)*time.Hour)
				must(b.take(saidTurn{id: id, content: content, at: at}))
			}
			for _, id := range c.withdraw {
				b.clock.Advance(time.Second)
				_, err := b.Withdraw(t.Context(), ada.AppID, id)
				must(err)
			}
			got := ""
			for _, m := range b.memories() {
				if m.Type != memory.TypeMessage {
					got += m.Content
				}
			}
			if got != c.want {
				t.Errorf("the facts are %q, want %q", got, c.want)
			}
		})
	}
}
