package ingest

import (
	"context"
	"testing"

	"golang.org/x/sync/errgroup"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// predate makes all turns look like turns from before messages were kept.
func (b *fixture) predate() {
	b.t.Helper()
	executor := b.store.Driver().GetExecutor()
	if err := executor.Exec(b.t.Context(), `UPDATE turns SET messages_kept = 0`); err != nil {
		b.t.Fatal(err)
	}
}

// Messages of past turns are taken in once, whatever the number of processes that do it, and
// are linked to the facts of their turns.
func TestTakeInPast_KeepsEachMessageOnce(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.set.Messages = false
	b.models.Facts("bees", llmtest.Fact{Fact: "I keep bees", Importance: 0.9, Domain: memory.Lifestyle})
	first := b.turn("I keep bees in the garden", "How many hives?")
	b.turn("thanks")
	if n := len(b.kept()); n != 0 {
		t.Fatalf("%d messages before", n)
	}
	b.predate()
	b.set.Messages = true
	b.turn("The harvest was good")
	var group errgroup.Group
	results := make([]TakenIn, 3)
	for i := range results {
		group.Go(func() (err error) {
			results[i], err = b.TakeInPast(context.WithoutCancel(t.Context()))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	messages := 0
	for _, r := range results {
		messages += r.Messages
		if r.Remaining != 0 {
			t.Errorf("%d turns remain", r.Remaining)
		}
	}
	if kept := b.kept(); messages != 2 || len(kept) != 3 {
		t.Errorf("%d messages were taken in, %d are kept: %+v", messages, len(kept), kept)
	}
	fact := first.Candidates[0].MemoryID
	sources, err := b.store.Sources(t.Context(), ada, []string{fact})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources[fact]) != 1 || sources[fact][0].Content != "I keep bees in the garden" {
		t.Errorf("the fact was derived from %+v", sources[fact])
	}
	if n, err := b.store.CountPastTurns(t.Context()); err != nil || n != 0 {
		t.Errorf("%d turns are left: %v", n, err)
	}
}

// A user is erased while the messages of past turns are embedded: nothing of them is stored.
func TestTakeInPast_KeepsNothingOfAnErasedUser(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.set.Messages = false
	b.turn("I keep bees in the garden")
	b.predate()
	b.set.Messages = true
	b.models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
		b.erase(ada)
		return b.models.Embed(r)
	})
	if done, err := b.TakeInPast(t.Context()); err != nil || done.Messages != 0 || done.Remaining != 0 {
		t.Errorf("taken in %+v, %v", done, err)
	}
	if left := b.memories(); len(left) != 0 {
		t.Errorf("kept %+v", left)
	}
}
