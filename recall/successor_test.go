package recall

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// What superseded a statement is found by the message that made the statement, however far it is from the query itself.
func TestRecall_FindsWhatSupersededAStatement(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 60 {
		f.add(fmt.Sprintf("which company do friends work for, number %d", i), nil, true)
	}
	message := f.addMessage("my company that I work for is Maersk")
	former := f.addFact("user works for Maersk", message)
	present := f.add("First week at DHL done", nil, true)
	q := Query{Text: "Which company do I work for? My company?", Limit: 20, Explain: true, NoTouch: true}
	if got := contents(f.recall(q)); slices.Contains(got, present.Content) || !slices.Contains(got, message.Content) {
		t.Fatalf("before the change: %q", got)
	}
	if err := f.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		former.Status, former.SupersededBy, former.Revision = memory.Superseded, present.ID, 2
		if err := tx.Update(ctx, former); err != nil {
			return err
		}
		return tx.AddRelations(ctx, []memory.Relation{
			{From: present.ID, Kind: memory.Contradicts, To: former.ID, CreatedAt: begin},
		})
	}); err != nil {
		t.Fatal(err)
	}
	got := f.recall(q).Memories
	if first := got[0]; first.Memory.ID != present.ID || !slices.Equal(first.Sources, []string{nameSuccessor}) {
		t.Errorf("the first is %q, found by %q", first.Memory.Content, first.Sources)
	}
	if slices.ContainsFunc(got, func(r Recalled) bool { return r.Memory.ID == message.ID }) {
		t.Error("the former message is returned")
	}
}
