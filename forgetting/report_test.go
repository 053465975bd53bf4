package forgetting

import (
	"context"
	"slices"
	"testing"

	"go.uber.org/zap/zaptest"

	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
)

// vanishing is a store whose memories are partly gone when their contents are read.
type vanishing struct {
	*sqlite.Store
	gone []string
}

func (v vanishing) Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error) {
	left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(v.gone, id) })
	return v.Store.Hydrate(ctx, owner, left, embedded)
}

// Memories that vanish between the read of the ages and that of the contents make room for the next ones.
func TestPreview_ListsOthersInsteadOfVanishedMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	var ids []string
	for _, m := range b.add(6, 40, nil) {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids) // all fade at the same time
	s := New(vanishing{b.store, ids[1:3]}, b.pusher, Settings{Rule: strengthening}, b.clock.Now, zaptest.NewLogger(t))
	report, err := s.Preview(t.Context(), ada, begin, s.Rule(), Listing{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, l := range report.Listed {
		listed = append(listed, l.Memory.ID)
	}
	if want := []string{ids[0], ids[3], ids[4]}; !slices.Equal(listed, want) {
		t.Errorf("listed %q, want %q", listed, want)
	}
}
