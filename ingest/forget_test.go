package ingest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// put stores memories unchanged, and the sources that each was derived from. The test chooses the last digit of each
// id.
func (b *fixture) put(derived map[string][]string, memories ...memory.Memory) {
	b.t.Helper()
	for i := range memories {
		m := &memories[i]
		vectors, err := b.Embedder.Embed(b.t.Context(), llm.ForDocument, []string{m.EmbeddedText()})
		if err != nil {
			b.t.Fatal(err)
		}
		id, status := m.ID, m.Status
		m.Owner, m.Domain, m.Importance, m.CreatedAt = ada, memory.GeneralChat, 0.8, begin.Add(time.Duration(i)*time.Minute)
		*m = write.Complete(*m, vectors[0], b.Embedder.Model(), begin)
		m.ID, m.Status = id, status
	}
	err := b.store.InUser(b.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		if err := tx.Insert(ctx, memories, begin); err != nil {
			return err
		}
		var relations []memory.Relation
		for from, sources := range derived {
			for _, to := range sources {
				relations = append(relations, memory.Relation{From: from, Kind: memory.DerivedFrom, To: to, CreatedAt: begin})
			}
		}
		return tx.AddRelations(ctx, relations)
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// states returns the status and content of each of the user's memories by the last digit of its id.
func (b *fixture) states() map[string]string {
	b.t.Helper()
	states := map[string]string{}
	all, err := b.store.ListMemories(b.t.Context(), db.MemoryFilter{Owner: ada, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range all {
		states[m.ID[len(m.ID)-1:]] = fmt.Sprintf("%s: %s", m.Status, m.Content)
	}
	return states
}

func numbered(digit int) string { return fmt.Sprintf("0198c0de-0000-7000-8000-00000000000%d", digit) }

// condensed stores a message, two facts, and the insight that condensed both.
func (b *fixture) condensed() (message, insight string) {
	message, insight = numbered(1), numbered(4)
	b.put(map[string][]string{numbered(2): {message}, insight: {numbered(2), numbered(3)}},
		memory.Memory{ID: message, Status: memory.Active, Type: memory.TypeMessage, Speaker: "user", Content: "I keep bees."},
		memory.Memory{ID: numbered(2), Status: memory.Consolidated, Type: memory.TypeFact, Content: "Keeps bees"},
		memory.Memory{ID: numbered(3), Status: memory.Consolidated, Type: memory.TypeFact, Content: "Owns a meadow"},
		memory.Memory{ID: insight, Status: memory.Active, Type: memory.TypeReflection, Content: "Keeps bees on a meadow"})
	return message, insight
}

// Forgetting a message withdraws an insight that was made of the message's fact. The insight's other sources come back,
// and one restore undoes all of it. A dry run returns the same and changes nothing.
func TestForget_WithdrawsWhatWasDerived(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	message, insight := b.condensed()
	before := b.states()
	done := func(edited []Edited) (effects []string) {
		t.Helper()
		if edited[0].Err != nil {
			t.Fatal(edited[0].Err)
		}
		for _, e := range edited[0].Effects {
			effects = append(effects, fmt.Sprintf("%s %s %s", e.ID[len(e.ID)-1:], e.Done, e.Why))
		}
		slices.Sort(effects)
		return effects
	}
	want := []string{"2 forgotten restates", "3 restored derived", "4 forgotten derived"}
	got := done(b.ForgetAll(t.Context(), ada.AppID, []string{message}, Forgetting{DryRun: true}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, b.states()); diff != "" {
		t.Errorf("after the dry run (-want +got):\n%s", diff)
	}
	got = done(b.ForgetAll(t.Context(), ada.AppID, []string{message}, Forgetting{}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forgetting (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{
		"1": "forgotten: I keep bees.", "2": "forgotten: Keeps bees", "3": "active: Owns a meadow",
		"4": "forgotten: Keeps bees on a meadow",
	}, b.states()); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
	want = []string{"1 restored ", "2 restored ", "3 reverted "}
	if diff := cmp.Diff(want, done(b.RestoreAll(t.Context(), ada.AppID, []string{insight}, OfStatement))); diff != "" {
		t.Errorf("restoring (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, b.states()); diff != "" {
		t.Errorf("after the restore (-want +got):\n%s", diff)
	}
}

// A restore leaves out memories that were changed after the forgetting, and purged ones.
func TestRestore_LeavesWhatHasChangedSince(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	message, fact := numbered(1), numbered(2)
	b.put(map[string][]string{fact: {message}},
		memory.Memory{
			ID: message, Status: memory.Active, Type: memory.TypeMessage, Speaker: "user", Content: "I keep bees. I own a barn.",
		},
		memory.Memory{ID: fact, Status: memory.Active, Type: memory.TypeFact, Content: "Keeps bees"})
	if _, err := b.Forget(t.Context(), ada.AppID, fact, OfStatement); err != nil {
		t.Fatal(err)
	}
	if got, want := b.states()["1"], "active: I own a barn."; got != want {
		t.Fatalf("the shortened message is %q, want %q", got, want)
	}
	if ids := b.searched("I own a barn."); !slices.Contains(ids, message) {
		t.Errorf("the vector store finds %v by what is left", ids)
	}
	changed := "I own two barns."
	if _, err := b.Change(t.Context(), ada.AppID, message, Change{Content: &changed}); err != nil {
		t.Fatal(err)
	}
	restored, err := b.Restore(t.Context(), ada.AppID, fact, OfStatement)
	if err != nil || len(restored.Effects) != 0 {
		t.Errorf("restoring: %+v, %v", restored.Effects, err)
	}
	want := map[string]string{"1": "active: " + changed, "2": "active: Keeps bees"}
	if diff := cmp.Diff(want, b.states()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If several facts of one message are forgotten in one request, the other parts of the message stay.
func TestForgetAll_ShortensAMessageByEachFact(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	message, bees, barn := numbered(1), numbered(2), numbered(3)
	b.put(map[string][]string{bees: {message}, barn: {message}},
		memory.Memory{
			ID: message, Status: memory.Active, Type: memory.TypeMessage, Speaker: "user",
			Content: "I keep bees. I own a red barn. What grows in shade?",
		},
		memory.Memory{ID: bees, Status: memory.Active, Type: memory.TypeFact, Content: "Keeps bees"},
		memory.Memory{ID: barn, Status: memory.Active, Type: memory.TypeFact, Content: "Owns a red barn"})
	before := b.states()
	for _, e := range b.ForgetAll(t.Context(), ada.AppID, []string{bees, barn}, Forgetting{}) {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
	}
	want := map[string]string{
		"1": "active: What grows in shade?", "2": "forgotten: Keeps bees", "3": "forgotten: Owns a red barn",
	}
	if diff := cmp.Diff(want, b.states()); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
	for _, e := range b.RestoreAll(t.Context(), ada.AppID, []string{bees, barn}, OfStatement) {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
	}
	if diff := cmp.Diff(before, b.states()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// The other parts of a message stay, also if an insight was made of the forgotten fact, or if two forgotten facts were
// taken from one sentence.
func TestForget_KeepsWhatAMessageSaysBesides(t *testing.T) {
	t.Parallel()
	message, first, second, insight := numbered(1), numbered(2), numbered(3), numbered(4)
	for name, c := range map[string]struct {
		said, first, second string
		derived, forgotten  []string
	}{
		"an insight": {
			"I keep bees. My dog is called Rex.", "Keeps bees", "Has a dog called Rex", []string{first, second}, []string{first},
		},
		"two facts": {
			"I work as a nurse in Zwolle. My dog is called Rex.", "Is a nurse", "Lives near Zwolle", []string{second},
			[]string{first, second},
		},
	} {
		b := newFixture(t)
		b.put(map[string][]string{first: {message}, second: {message}, insight: c.derived},
			memory.Memory{ID: message, Status: memory.Active, Type: memory.TypeMessage, Speaker: "user", Content: c.said},
			memory.Memory{ID: first, Status: memory.Active, Type: memory.TypeFact, Content: c.first},
			memory.Memory{ID: second, Status: memory.Active, Type: memory.TypeFact, Content: c.second},
			memory.Memory{ID: insight, Status: memory.Active, Type: memory.TypeReflection, Content: "Likes animals and people"})
		b.ForgetAll(t.Context(), ada.AppID, c.forgotten, Forgetting{Scope: OfStatement})
		if got := b.states()["1"]; got != "active: My dog is called Rex." {
			t.Errorf("%s: the message is %s", name, got)
		}
	}
}
