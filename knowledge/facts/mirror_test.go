package facts

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (b *fixture) kinds(t tester, memoryID string) (kinds []memory.EventKind, last memory.Event) {
	t.Helper()
	events, err := b.store.History(background, ada.AppID, memoryID)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		kinds, last = append(kinds, e.Kind), e
	}
	return kinds, last
}

// metadataOf is the metadata of the memory of "The user's home city is Lisbon.".
func metadataOf(confidence string) string {
	return `{"fact":{"type":"profile","key":"home_city","value":"Lisbon","confidence":` + confidence + `}}`
}

func TestPut_KeepsTheValidFactAsAMemory(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func() db.Store) {
		b := newFixture(t, open())
		lisbon := b.put(t, says("Lisbon", .5, time.Time{}, time.Time{}), accepted).Fact
		m := b.memory(t, lisbon.MemoryID)
		if m.Content != "The user's home city is Lisbon." || m.Type != memory.TypeFact || m.Importance != 0.775 ||
			m.Domain != memory.Lifestyle ||
			string(m.Metadata) != metadataOf("0.5") || m.Status != memory.Active ||
			!m.CreatedAt.Equal(day(100)) || m.Lexemes == "" {
			t.Errorf("%+v", m)
		}
		if _, e := b.kinds(t, m.ID); e.Kind != memory.EventCreated || e.Cause != "api" ||
			!strings.Contains(string(e.Detail), lisbon.ID) {
			t.Errorf("%+v", e)
		}

		b.clock.Set(day(101))
		b.put(t, says("Lisbon", 1, time.Time{}, time.Time{}), confirmed)
		if m = b.memory(t, m.ID); m.Importance != 0.85 || m.Revision != 1 ||
			string(m.Metadata) != metadataOf("1") {
			t.Errorf("confirmed: %+v", m)
		}
		if _, e := b.kinds(t, m.ID); e.Kind != memory.EventUpdated {
			t.Errorf("%+v", e)
		}
		b.put(t, says("Porto", .4, time.Time{}, time.Time{}), refused)
		b.put(t, says("Coimbra", .9, day(50), day(60)), accepted) // of the past
		if list := b.active(t, ada); len(list) != 1 || list[0].ID != m.ID {
			t.Errorf("active: %+v", list)
		}

		b.clock.Set(day(102))
		porto := b.put(t, says("Porto", .9, time.Time{}, time.Time{}), accepted)
		if m = b.memory(t, m.ID); m.Status != memory.Superseded || m.SupersededBy != porto.Fact.MemoryID || m.Revision != 2 {
			t.Errorf("superseded: %+v", m)
		}
		if porto.Previous.EndsMemory || !porto.Previous.ValidUntil.Equal(day(102)) {
			t.Errorf("%+v", porto.Previous)
		}
		if _, e := b.kinds(t, m.ID); e.Kind != memory.EventSuperseded || !strings.Contains(string(e.Detail), `"superseded"`) {
			t.Errorf("%+v", e)
		}

		b.clock.Set(day(103))
		ended, err := b.End(t.Context(), ada, "Profile", "Home City", time.Time{}, "api")
		if err != nil || ended.ID != porto.Fact.ID || !ended.ValidUntil.Equal(day(103)) || ended.EndsMemory {
			t.Errorf("%+v, %v", ended, err)
		}
		if m = b.memory(t, porto.Fact.MemoryID); m.Status != memory.Forgotten {
			t.Errorf("ended: %+v", m)
		}
		if kinds, e := b.kinds(t, m.ID); len(kinds) != 2 || e.Kind != memory.EventForgotten || e.Cause != "api" {
			t.Errorf("%v, %+v", kinds, e)
		}
		b.inStep(t, city)
		at, err := b.store.ListFacts(t.Context(), db.FactFilter{Owner: ada, At: day(102), Limit: 5})
		if err != nil || len(at) != 1 || at[0].ID != porto.Fact.ID {
			t.Errorf("at day 102: %+v, %v", at, err)
		}
		wantPushed := []string{lisbon.MemoryID, porto.Fact.MemoryID, lisbon.MemoryID, porto.Fact.MemoryID}
		if strings.Join(b.pusher.Pushed(), " ") != strings.Join(wantPushed, " ") {
			t.Errorf("pushed %v, want %v", b.pusher.Pushed(), wantPushed)
		}
	})
}

// The schedule creates and ends the memories of facts that begin or end later.
func TestRunDue_FollowsTime(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func() db.Store) {
		b := newFixture(t, open())
		run := func(at time.Time, want Totals) {
			t.Helper()
			b.clock.Set(at)
			got, err := b.RunDue(t.Context(), "schedule")
			if err != nil || got != want {
				t.Errorf("day %v: %+v, %v; want %+v", at.Sub(begin).Hours()/24, got, err, want)
			}
			b.inStep(t, city)
		}
		lisbon := b.put(t, says("Lisbon", .9, day(90), day(110)), accepted).Fact
		porto := b.put(t, says("Porto", .9, day(120), time.Time{}), accepted).Fact
		b.put(t, says("Faro", .9, day(112), day(113)), accepted)
		if porto.MemoryID != "" || !porto.Due.Equal(day(120)) || !lisbon.Due.Equal(day(110)) {
			t.Errorf("%+v %+v", lisbon, porto)
		}
		run(day(109), Totals{})
		run(day(110), Totals{Due: 1, Ended: 1})
		if m := b.memory(t, lisbon.MemoryID); m.Status != memory.Forgotten {
			t.Errorf("%+v", m)
		}
		run(day(115), Totals{Due: 1}) // Faro has begun and ended
		run(day(115), Totals{})
		b.embedder.FailWith(away)
		b.clock.Set(day(121))
		if got, err := b.RunDue(t.Context(), "schedule"); !errors.Is(err, away) {
			t.Errorf("%+v, %v", got, err)
		}
		b.embedder.FailWith(nil)
		run(day(121), Totals{Due: 1, Begun: 1})
		f := b.accepted(t, city)[2]
		if _, e := b.kinds(t, f.MemoryID); e.Cause != "schedule" || e.Kind != memory.EventCreated {
			t.Errorf("%+v", e)
		}
		run(day(121), Totals{})

		// An end in the future, and a value that follows at the same instant.
		if _, err := b.End(t.Context(), ada, city.Type, city.Key, day(130), "api"); err != nil {
			t.Fatal(err)
		}
		b.put(t, says("Braga", .9, day(130), time.Time{}), accepted)
		run(day(131), Totals{Due: 2, Begun: 1, Ended: 1})
		if m := b.memory(t, f.MemoryID); m.Status != memory.Superseded {
			t.Errorf("%+v", m)
		}
	})
}

// A memory is created once the embedder is available; memories of all users end without it.
func TestRunDue_EndsMemoriesWithoutAnEmbedder(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	b.put(t, says("Porto", .9, day(105), time.Time{}), accepted)
	o, err := b.Put(t.Context(), bob, says("Faro", .9, day(0), day(106)), "api")
	if err != nil {
		t.Fatal(err)
	}
	b.clock.Set(day(107))
	b.embedder.FailWith(away)
	if got, err := b.RunDue(t.Context(), "schedule"); !errors.Is(err, away) ||
		!memory.IsKind(err, memory.KindUnavailable) || got != (Totals{Due: 2, Ended: 1, Failed: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if m := b.memory(t, o.Fact.MemoryID); m.Status != memory.Forgotten {
		t.Errorf("%+v", m)
	}
	b.embedder.FailWith(nil)
	if got, err := b.RunDue(t.Context(), "schedule"); err != nil || got != (Totals{Due: 1, Begun: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A fact whose time has begun since the last run keeps waiting for the schedule when other evidence arrives.
func TestPut_BeforeTheScheduleRuns(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	lisbon := b.put(t, says("Lisbon", .9, day(0), time.Time{}), accepted).Fact
	b.put(t, says("Porto", .9, day(105), time.Time{}), accepted)
	b.clock.Set(day(106))
	b.put(t, says("Faro", .9, day(50), day(60)), accepted) // embeds what Faro's memory would say, not Porto's
	if m := b.memory(t, lisbon.MemoryID); m.Status != memory.Active {
		t.Errorf("%+v", m)
	}
	if totals, err := b.RunDue(t.Context(), "schedule"); err != nil || totals.Begun != 1 {
		t.Errorf("%+v, %v", totals, err)
	}
	b.inStep(t, city)
	if got := b.active(t, ada)[0].Content; got != "The user's home city is Porto." {
		t.Error(got)
	}
}

// Changes of the memory by others leave the fact as it is.
func TestPut_LeavesAMemoryThatTheUserChanged(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	lisbon := b.put(t, says("Lisbon", .9, day(0), time.Time{}), accepted).Fact
	b.change(t, lisbon.MemoryID, func(m *memory.Memory) { m.Status = memory.Forgotten })
	b.put(t, says("Lisbon", 1, day(10), time.Time{}), confirmed)
	if m := b.memory(t, lisbon.MemoryID); m.Status != memory.Forgotten || m.Importance != 0.835 {
		t.Errorf("a forgotten memory came back: %+v", m)
	}
	if got := b.timeline(t); got != "Lisbon[0,)" {
		t.Error(got)
	}
	porto := b.put(t, says("Porto", .9, day(20), time.Time{}), accepted).Fact
	if m := b.memory(t, lisbon.MemoryID); m.Status != memory.Forgotten {
		t.Errorf("a forgotten memory was superseded: %+v", m)
	}
	b.change(t, porto.MemoryID, func(m *memory.Memory) { m.Content, m.Importance = "lives in Porto, by the river", 1 })
	b.put(t, says("Porto", .95, day(21), time.Time{}), confirmed)
	if m := b.memory(t, porto.MemoryID); m.Importance != 1 || m.Content != "lives in Porto, by the river" {
		t.Errorf("%+v", m)
	}
	faro := b.put(t, says("Faro", .9, day(30), time.Time{}), accepted).Fact
	if m := b.memory(t, porto.MemoryID); m.Status != memory.Superseded || m.SupersededBy != faro.MemoryID {
		t.Errorf("%+v", m)
	}
}

func TestPut_ChecksEvidence(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	fine := says("x", 1, time.Time{}, time.Time{})
	for path, spoil := range map[string]func(*Evidence){
		"type":        func(e *Evidence) { e.Type = "" },
		"key":         func(e *Evidence) { e.Key = " -_ " },
		"value":       func(e *Evidence) { e.Value = json.RawMessage(`{"a":"\u0000"}`) },
		"confidence":  func(e *Evidence) { e.Confidence = 1.5 },
		"source":      func(e *Evidence) { e.Source = strings.Repeat("x", memory.MaxFactSource+1) },
		"valid_until": func(e *Evidence) { e.ValidFrom, e.ValidUntil = day(2), day(2) },
	} {
		e := fine
		spoil(&e)
		var wrong *memory.Error
		if _, err := b.Put(t.Context(), ada, e, "api"); !errors.As(err, &wrong) || len(wrong.Fields) != 1 ||
			wrong.Fields[0].Path != path {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := b.Prepare(t.Context(), ada, []Evidence{fine, e}); !errors.As(err, &wrong) ||
			wrong.Fields[0].Path != "[1]."+path {
			t.Errorf("%s in a batch: %v", path, err)
		}
	}
	b.embedder.FailWith(away)
	if _, err := b.Put(t.Context(), ada, fine, "api"); !errors.Is(err, away) {
		t.Error(err)
	}
	if n := len(b.history(t, city)); n != 0 {
		t.Errorf("%d pieces of evidence were kept", n)
	}
}
