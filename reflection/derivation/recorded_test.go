package derivation

import (
	"testing"
	"time"

	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// A derived memory is dated by the instant of its events.
func TestCommit_DatesMemoriesByTheirEvents(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	facts := b.add("one", "two")
	d := Derivation{Owner: ada, Cause: "test", Sources: facts, Derived: []Derived{{
		Memory:  b.Draft(ada, "both", memory.TypeReflection, memory.GeneralChat, 0.9, []float32{1}),
		Sources: []string{facts[0].ID, facts[1].ID},
	}}}
	b.clock.Advance(time.Minute)
	if err := b.Commit(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	id := d.Derived[0].Memory.ID
	stored, err := b.store.Memory(t.Context(), ada.AppID, id)
	if err != nil {
		t.Fatal(err)
	}
	events, err := b.store.History(t.Context(), ada.AppID, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, there := history.At(stored, events, stored.UpdatedAt); !there || !stored.UpdatedAt.Equal(events[0].At) {
		t.Errorf("stored %s, recorded %s: there as of the first is %v", stored.UpdatedAt, events[0].At, there)
	}
}
