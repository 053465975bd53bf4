package recall

import (
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// What has expired does not answer about the present, nor does the message that states it, and it answers about the
// past with the end of its shelf life. Before that end it is current.
func TestLapsed_IsFormerFromItsEnd(t *testing.T) {
	t.Parallel()
	const query = "flight to Rome"
	f := newFixture(t)
	end := begin.Add(24 * time.Hour)
	message := f.addMessage("I fly to Rome on Tuesday")
	other := f.addMessage("I fly to Rome on Tuesday, and I like flights to Rome")
	fact := f.add("The user's flight to Rome is on Tuesday", func(m *memory.Memory) { m.ExpiresAt = end }, true)
	f.relate(fact.ID, message.ID)
	f.relate(fact.ID, other.ID)
	f.add("The user knows Rome", nil, true)
	now := func(at time.Time, q Query) Answer {
		q.Text, q.NoTouch, q.NoRoute, q.At = query, true, true, at
		return f.recall(q)
	}
	expect(t, now(end.Add(-time.Second), Query{}), fact.Content, "The user knows Rome")
	for range 2 { // the second is answered by the view that the index keeps
		expect(t, now(end, Query{}), other.Content, "The user knows Rome")
	}
	expect(t, now(end, Query{AsOf: begin.Add(time.Hour)}), fact.Content, "The user knows Rome")
	for name, q := range map[string]Query{
		"include former": {IncludeFormer: true}, "as of later": {IncludeFormer: true, AsOf: end.Add(time.Hour)},
	} {
		for _, r := range now(end.Add(2*time.Hour), q).Memories {
			if isFormer := r.Memory.ID == fact.ID || r.Memory.ID == message.ID; isFormer != r.FormerUntil.Equal(end) {
				t.Errorf("%s: %q is former until %v", name, r.Memory.Content, r.FormerUntil)
			}
		}
	}
	past := f.recall(Query{Text: "When was the flight to Rome?", NoTouch: true, NoRoute: true, At: end})
	if len(past.Memories) == 0 || past.Memories[0].Memory.ID != fact.ID || !past.Memories[0].FormerUntil.Equal(end) {
		t.Errorf("about what is over: %q", contents(past))
	}
}

// What has expired takes no place among the candidates of a query about the present.
func TestLapsed_IsNoCandidate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 2 * f.set.Candidates {
		f.add("dentist appointment", func(m *memory.Memory) { m.ExpiresAt = begin.Add(-time.Minute) }, true)
	}
	f.add("the next appointment is at the dentist on Friday", nil, true)
	answer := f.recall(Query{Text: "dentist appointment", NoRoute: true})
	expect(t, answer, "the next appointment is at the dentist on Friday")
}

// A stored index has what expires.
func TestLapsed_SurvivesInAStoredIndex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("dentist appointment", func(m *memory.Memory) { m.ExpiresAt = begin.Add(time.Hour) }, true)
	f.addMessage("One clause")
	changes, err := f.store.Changes(t.Context(), ada, 0, time.Time{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	x := indexOf(changes, nil)
	data, err := x.encode()
	if err != nil {
		t.Fatal(err)
	}
	y, err := decode(x.revision, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, index := range map[string]*index{"built": x, "stored": y} {
		if len(index.lapsedAt(begin.Add(2*time.Hour)).lapsed) != 1 || index.lapsedAt(begin) != index {
			t.Errorf("%s: %v have expired", name, index.lapsedAt(begin.Add(2*time.Hour)).lapsed)
		}
	}
}
