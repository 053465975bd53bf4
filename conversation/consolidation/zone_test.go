package consolidation

import (
	"context"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

func TestShares_HaveTheTimesOfTheUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.Zone = func(context.Context, memory.Owner) (*time.Location, error) { return time.FixedZone("", 14*3600), nil }
	b.trip("c")
	list, _, err := b.shares(t.Context(), memory.Consolidation{Owner: ada, ConversationID: "c", From: 1, Through: 3})
	if err != nil || len(list) != 1 || len(list[0].events) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	want := noon.Add(14 * time.Hour).Format(time.DateTime)
	for _, e := range list[0].events {
		if got := e.At.Format(time.DateTime); got != want {
			t.Errorf("%q was said at %s, want %s", e.Content, got, want)
		}
	}
}
