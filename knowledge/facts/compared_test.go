package facts

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Two timelines may share a memory. The memory ends with the fact that its metadata states, and not with the other
// fact.
func TestPut_SharesTheMemoryOfAnotherTimeline(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func() db.Store) {
		b := newFixture(t, open())
		spouse := Evidence{
			Type: "profile", Key: "spouse", Value: []byte(`"Inga"`), Confidence: 0.9, Sentence: "The user married Inga.",
		}
		status := Evidence{
			Type: "profile", Key: "status", Value: []byte(`"married"`), Confidence: 0.9, Sentence: "The user married Inga",
		}
		first, second := b.put(t, spouse, accepted).Fact, b.put(t, status, accepted).Fact
		if first.MemoryID != second.MemoryID || len(b.active(t, ada)) != 1 {
			t.Fatalf("%+v\n%+v", first, second)
		}
		m := b.memory(t, first.MemoryID)
		if want := string(Metadata(first)); string(m.Metadata) != want {
			t.Errorf("metadata %s, want %s", m.Metadata, want)
		}
		b.clock.Advance(time.Hour)
		b.put(t, status, confirmed)
		if m = b.memory(t, m.ID); string(m.Metadata) != string(Metadata(first)) {
			t.Errorf("confirmed: %s", m.Metadata)
		}
		if _, err := b.End(t.Context(), ada, "profile", "status", time.Time{}, "api"); err != nil {
			t.Fatal(err)
		}
		if m = b.memory(t, m.ID); m.Status != memory.Active {
			t.Errorf("it ended with the other fact: %+v", m)
		}
		if _, err := b.End(t.Context(), ada, "profile", "spouse", time.Time{}, "api"); err != nil {
			t.Fatal(err)
		}
		if m = b.memory(t, m.ID); m.Status != memory.Forgotten {
			t.Errorf("it stays without its fact: %+v", m)
		}
	})
}

// If the memory of a value was superseded by a later statement before the value is recorded, the value is not valid
// now.
func TestPut_EndsWithWhatWasSaidLater(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func() db.Store) {
		b := newFixture(t, open())
		b.put(t, Evidence{
			Type: "home", Key: "now", Value: []byte(`"Groningen"`), Confidence: 0.9, Sentence: "I live in Groningen.",
			SaidAt: b.clock.Now().Add(-time.Hour),
		}, accepted)
		late := b.put(t, Evidence{
			Type: "profile", Key: "city", Value: []byte(`"Utrecht"`), Confidence: 0.9, Sentence: "I live in Utrecht.",
			SaidAt: b.clock.Now().Add(-9 * time.Hour), ValidFrom: b.clock.Now().Add(-9 * time.Hour),
		}, accepted).Fact
		if m := b.memory(t, late.MemoryID); m.Status != memory.Superseded {
			t.Fatalf("%+v", m)
		}
		if late.Valid(b.clock.Now()) || late.EndsMemory || !late.ValidUntil.Equal(b.clock.Now().Add(-time.Hour)) {
			t.Errorf("%+v", late)
		}
	})
}

// A value ends when the sentence of a value on another timeline contradicts its memory, also in another language.
// Without a sentence, the words of the keys decide: home and 家 are one attribute.
func TestPut_EndsTheContradictedValueOfAnotherTimeline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, said, otherKey, otherSaid string }{
		"by its sentence":    {"home", "The user lives in Lisbon.", "住址", "用户住在杭州。"},
		"by its key":         {"home", "", "家", ""},
		"by another key":     {"city", "", "城市", ""},
		"in the same tongue": {"home", "I live in Lisbon.", "city", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, open func() db.Store) {
				b := newFixture(t, open())
				first := b.put(t, Evidence{
					Type: "profile", Key: c.key, Value: []byte(`"Lisbon"`), Confidence: 0.9, Sentence: c.said,
				}, accepted).Fact
				b.clock.Advance(time.Hour)
				b.put(t, Evidence{
					Type: "profile", Key: c.otherKey, Value: []byte(`"杭州"`), Confidence: 0.9, Sentence: c.otherSaid,
				}, accepted)
				if m := b.memory(t, first.MemoryID); m.Status != memory.Superseded {
					t.Fatalf("%+v", m)
				}
				home := b.history(t, db.Timeline{Owner: ada, Type: "profile", Key: c.key})
				if len(home) != 1 || !home[0].ValidUntil.Equal(b.clock.Now()) {
					t.Errorf("%+v", home)
				}
			})
		})
	}
}
