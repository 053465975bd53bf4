package ingest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// condense stores an insight of the user's active facts with the contents. The facts become consolidated.
func (b *fixture) condense(insight string, contents ...string) (id string) {
	b.t.Helper()
	id = memory.NewID()
	vectors, err := b.Embedder.Embed(b.t.Context(), 0, []string{insight})
	if err != nil {
		b.t.Fatal(err)
	}
	m := write.Complete(memory.Memory{
		ID: id, Owner: ada, Type: memory.TypeReflection, Content: insight, Domain: memory.GeneralChat, Importance: 0.8,
	}, vectors[0], b.Embedder.Model(), b.clock.Now())
	err = b.store.InUser(b.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		changes := history.NewRecorder(tx, "reflection", b.clock.Now())
		changes.Created(&m, nil)
		if err := tx.Insert(ctx, []memory.Memory{m}, time.Time{}); err != nil {
			return err
		}
		for _, content := range contents {
			found, err := tx.Memories(ctx, []string{b.named(memory.Active, "fact: "+content).ID})
			if err != nil {
				return err
			}
			fact := found[0]
			if err := tx.AddRelations(ctx, []memory.Relation{
				{From: id, Kind: memory.DerivedFrom, To: fact.ID, CreatedAt: begin},
			}); err != nil {
				return err
			}
			before := fact
			fact.Status = memory.Consolidated
			changes.Note(fact.ID, memory.EventConsolidated, struct {
				*history.Change
				Into []string `json:"into"`
			}{history.Diff(before, fact), []string{id}})
			if err := changes.Update(ctx, before, &fact); err != nil {
				return err
			}
		}
		return changes.Flush(ctx)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// factStates returns the statuses of the user's facts by content, and "former" for each insight with a superseded
// source. If several facts have the same content, it returns the status of the active or latest one.
func (b *fixture) factStates() map[string]string {
	b.t.Helper()
	states := map[string]string{}
	for _, m := range b.all() {
		if _, isKnown := states[m.Content]; m.Type != memory.TypeMessage && (!isKnown || m.Status == memory.Active) {
			states[m.Content] = string(m.Status)
		}
	}
	docs, err := b.store.Documents(b.t.Context(), ada)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range docs {
		if d.Type == memory.TypeReflection && len(d.Supersedes) > 0 {
			states[d.Content] = "former"
		}
	}
	return states
}

func (b *fixture) wantFacts(when string, want map[string]string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.factStates()); diff != "" {
		b.t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

const (
	atUtrecht    = "I live in Utrecht."
	atGroningen  = "I live in Groningen."
	likesMozart  = "I like Mozart."
	aboutUtrecht = "Listens to Mozart in Utrecht"
)

// condensedTalk returns a fixture with a talk whose facts an insight condensed.
func condensedTalk(t *testing.T) *fixture {
	t.Helper()
	b := newTalk(t)
	b.tell(atUtrecht, likesMozart)
	b.condense(aboutUtrecht, atUtrecht, likesMozart)
	return b
}

var (
	wereCondensed = map[string]string{atUtrecht: "consolidated", likesMozart: "consolidated", aboutUtrecht: "active"}
	wereReleased  = map[string]string{
		atUtrecht: "superseded", likesMozart: "active", aboutUtrecht: "former", atGroningen: "active",
	}
)

// A later statement supersedes a fact that an insight stands for, whichever way it is written. The insight is then
// former, and its other source is active again.
func TestCondensed_IsSuperseded(t *testing.T) {
	t.Parallel()
	doors := map[string]func(b *fixture){
		"turn":  func(b *fixture) { b.tell(atGroningen) },
		"write": func(b *fixture) { b.write(atGroningen, 0.8, begin.Add(9*time.Hour)) },
		"edit": func(b *fixture) {
			b.write("I live in a house.", 0.8, begin.Add(9*time.Hour))
			b.reword("fact: I live in a house", atGroningen)
		},
	}
	for door, say := range doors {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			b := condensedTalk(t)
			b.wantFacts("before", wereCondensed)
			say(b)
			b.wantFacts("after", wereReleased)
			released := b.named(memory.Active, "fact: "+likesMozart)
			if ids := b.searched(likesMozart); !slices.Contains(ids, released.ID) {
				t.Errorf("the vector store lacks the released fact: %v", ids)
			}
		})
	}
}

// A statement that is reported late and was said earlier is superseded by a condensed fact. The fact stays condensed.
func TestCondensed_SupersedesWhatWasSaidEarlier(t *testing.T) {
	t.Parallel()
	b := condensedTalk(t)
	if err := b.take(saidTurn{id: "late", content: atGroningen, at: begin.Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{atGroningen: "superseded"}
	for content, status := range wereCondensed {
		want[content] = status
	}
	b.wantFacts("after a late turn", want)
	by := b.named(memory.Superseded, "fact: ").SupersededBy
	if by != b.named(memory.Consolidated, "fact: "+atUtrecht).ID {
		t.Errorf("superseded by %s", by)
	}
}

// A later statement supersedes an insight by the insight's own words. The facts of the insight are active again unless
// the statement contradicts them too, and are condensed again when the statement is withdrawn.
func TestCondensed_IsReleasedByAContradictedInsight(t *testing.T) {
	t.Parallel()
	for name, home := range map[string]string{"unknown to the fact": "My street is in Utrecht.", "of a fact": atUtrecht} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const insight = "The user lives in Utrecht, and likes Mozart."
			b := newTalk(t)
			b.tell(home, likesMozart)
			b.condense(insight, home, likesMozart)
			b.tell(atGroningen)
			want := map[string]string{
				home: "active", likesMozart: "active", insight: "superseded", atGroningen: "active",
			}
			if home == atUtrecht {
				want[home] = "superseded"
			}
			b.wantFacts("said", want)
			if _, err := b.Withdraw(t.Context(), ada.AppID, string(rune('0'+b.told))); err != nil {
				t.Fatal(err)
			}
			b.wantFacts("withdrawn", map[string]string{
				home: "consolidated", likesMozart: "consolidated", insight: "active", atGroningen: "forgotten",
			})
		})
	}
}

// When the later statement is withdrawn, both facts are condensed again, each time. When a request restores the
// superseded fact instead, only the other fact is condensed again.
func TestCondensed_IsUndone(t *testing.T) {
	t.Parallel()
	b := condensedTalk(t)
	mozart := b.named(memory.Consolidated, "fact: "+likesMozart).ID
	undone := map[string]string{atGroningen: "forgotten"}
	for content, status := range wereCondensed {
		undone[content] = status
	}
	for range 2 {
		b.tell(atGroningen)
		b.wantFacts("said", wereReleased)
		done, err := b.Withdraw(t.Context(), ada.AppID, string(rune('0'+b.told)))
		if err != nil {
			t.Fatal(err)
		}
		b.wantFacts("withdrawn", undone)
		isCondensed := func(e Effect) bool { return e.ID == mozart && e.Done == DoneReverted }
		if !slices.ContainsFunc(done.Effects, isCondensed) {
			t.Errorf("the answer does not name the fact that is condensed again: %+v", done.Effects)
		}
	}
	var kinds []memory.EventKind
	events, err := b.store.History(t.Context(), ada.AppID, mozart)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	want := []memory.EventKind{
		memory.EventCreated, memory.EventConsolidated, memory.EventRestored, memory.EventConsolidated,
		memory.EventRestored, memory.EventConsolidated,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("its history (-want +got):\n%s", diff)
	}
	b.tell(atGroningen)
	restored := b.restores(b.named(memory.Superseded, "fact: "+atUtrecht).ID)
	b.wantFacts("restored", map[string]string{
		atUtrecht: "active", atGroningen: "active", likesMozart: "consolidated", aboutUtrecht: "active",
	})
	if want := []Effect{{ID: mozart, Type: memory.TypeFact, Done: DoneReverted, Why: "derived"}}; !slices.Equal(
		restored.Effects, want) {
		t.Errorf("effects: %+v", restored.Effects)
	}
}

// A released fact that was changed since stays active, since the insight does not state the changed fact. For that
// reason alone the insight is former, so that no other fact is condensed into it again.
func TestCondensed_KeepsWhatWasChangedSince(t *testing.T) {
	t.Parallel()
	b := condensedTalk(t)
	b.tell(atGroningen)
	turn := string(rune('0' + b.told))
	b.reword("fact: "+likesMozart, "I like Mozart and Vermeer.")
	if _, err := b.Withdraw(t.Context(), ada.AppID, turn); err != nil {
		t.Fatal(err)
	}
	b.wantFacts("withdrawn", map[string]string{
		"I like Mozart and Vermeer.": "active", likesMozart: "superseded", atUtrecht: "active", aboutUtrecht: "former",
		atGroningen: "forgotten",
	})
}

// Facts are released only if no other insight stands for them.
func TestCondensed_HasSeveralInsights(t *testing.T) {
	t.Parallel()
	b := condensedTalk(t)
	mozart := b.named(memory.Consolidated, "fact: "+likesMozart)
	other := b.condense("Is musical")
	err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: other, Kind: memory.DerivedFrom, To: mozart.ID, CreatedAt: begin},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.tell(atGroningen)
	if states := b.factStates(); states[likesMozart] != "consolidated" || states[aboutUtrecht] != "former" {
		t.Errorf("%v", states)
	}
}

// The judge is asked about condensed facts too, and only a contradiction changes such a fact.
func TestCondensed_IsJudged(t *testing.T) {
	t.Parallel()
	for relation, want := range map[string]string{"contradicts": "superseded", "refines": "consolidated"} {
		t.Run(relation, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			b.write(beijing, 0.8, time.Time{})
			b.write("The user likes tea", 0.8, time.Time{})
			b.condense("Drinks tea in Beijing", beijing, "The user likes tea")
			b.clock.Advance(time.Hour)
			b.models.OnPrompt(judgeMark, func(r llmtest.ChatRequest) llmtest.Reply {
				return llmtest.Text(replacingIn(t, r.User, beijing, relation))
			})
			b.write("The user lives in Shanghai", 0.8, time.Time{})
			if got := b.factStates()[beijing]; got != want {
				t.Errorf("the fact is %s, want %s", got, want)
			}
		})
	}
}

// replacingIn returns a judge's answer to a prompt: it replaces the memory with the text, and keeps the others.
func replacingIn(t *testing.T, prompt, text, relation string) string {
	t.Helper()
	type decision struct {
		Memory   int    `json:"memory"`
		Decision string `json:"decision"`
		Relation string `json:"relation,omitempty"`
	}
	var answer struct {
		Decisions []decision `json:"decisions"`
	}
	for line := range strings.Lines(prompt) {
		var near struct {
			Memory int
			Text   string
		}
		switch err := json.Unmarshal([]byte(line), &near); {
		case err != nil || near.Memory == 0:
		case near.Text == text:
			answer.Decisions = append(answer.Decisions, decision{near.Memory, "replace", relation})
		default:
			answer.Decisions = append(answer.Decisions, decision{Memory: near.Memory, Decision: "keep_both"})
		}
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// A restore does not bring back an insight that states something forgotten after the insight, and condenses no fact
// into such an insight.
func TestRestore_LeavesOutInsightsOfWhatWasForgottenSince(t *testing.T) {
	t.Parallel()
	b := condensedTalk(t)
	home := b.named(memory.Active, "message: "+atUtrecht).ID
	if _, err := b.Forget(t.Context(), ada.AppID, home, OfStatement); err != nil {
		t.Fatal(err)
	}
	b.wantFacts("forgotten", map[string]string{
		atUtrecht: "forgotten", likesMozart: "active", aboutUtrecht: "forgotten",
	})
	b.clock.Advance(time.Minute)
	b.forgets("fact: " + likesMozart)
	b.clock.Advance(time.Minute)
	b.restores(home)
	b.wantFacts("restored", map[string]string{
		atUtrecht: "active", likesMozart: "forgotten", aboutUtrecht: "forgotten",
	})
}
