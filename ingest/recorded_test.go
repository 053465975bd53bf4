package ingest

import (
	"testing"
	"time"

	"hippocampus/db/history"
)

// A memory exists as of its UpdatedAt, however long it waited for the transaction.
func TestWrite_IsVisibleAsOfItsRecording(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Now = func() time.Time {
		b.clock.Advance(time.Second)
		return b.clock.Now()
	}
	w, err := b.Write(t.Context(), Write{Owner: ada, Content: "Ada drinks tea"})
	if err != nil {
		t.Fatal(err)
	}
	stored := b.memories()[0]
	events, err := b.store.History(t.Context(), ada.AppID, stored.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, there := history.At(stored, events, stored.UpdatedAt); !there || !stored.UpdatedAt.Equal(w.Memory.UpdatedAt) ||
		!stored.UpdatedAt.Equal(events[0].At) {
		t.Errorf("answered %s, stored %s, recorded %s: there as of the second is %v", w.Memory.UpdatedAt, stored.UpdatedAt,
			events[0].At, there)
	}
}
