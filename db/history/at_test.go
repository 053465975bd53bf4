package history_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

func TestAt_UndoesLaterEvents(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	event := func(hour int, kind memory.EventKind, detail string) memory.Event {
		return memory.Event{Kind: kind, At: at(hour), Detail: metadataOf(detail)}
	}
	now := memory.Memory{
		Content:      "third",
		Importance:   0.9,
		Tags:         []string{"x"},
		Metadata:     []byte(`{"a":1}`),
		Pinned:       true,
		Status:       memory.Superseded,
		SupersededBy: "id",
		CreatedAt:    at(1),
		UpdatedAt:    at(4),
	}
	events := []memory.Event{
		event(1, memory.EventCreated, ""),
		event(2, memory.EventMerged, `{"change":{"from":{"content":"first","importance":0.5},
			"to":{"content":"second","importance":0.9}},"similarity":0.97}`),
		event(3, memory.EventUpdated, `{"from":{"content":"second","tags":[],"metadata":null,"pinned":false},
			"to":{"content":"third","tags":["x"],"metadata":{"a":1},"pinned":true}}`),
		event(4, memory.EventSuperseded, `{"change":{"from":{"status":"active","superseded_by":""},
			"to":{"status":"superseded","superseded_by":"id"}},"relation":"refines"}`),
	}
	unknownDetail := []memory.Event{events[0], event(3, memory.EventUpdated, `{"from":"elsewhere"}`)}
	second := memory.Memory{Content: "second", Importance: 0.9, Status: memory.Active, CreatedAt: at(1), UpdatedAt: at(2)}
	first := memory.Memory{Content: "first", Importance: 0.5, Status: memory.Active, CreatedAt: at(1), UpdatedAt: at(1)}
	third := now
	third.Status = memory.Active
	third.SupersededBy = ""
	third.UpdatedAt = at(3)
	untouched := now
	untouched.UpdatedAt = at(1)
	for name, c := range map[string]struct {
		events []memory.Event
		at     time.Time
		want   *memory.Memory // nil: the memory did not exist
	}{
		"after all events":                    {events, at(5), &now},
		"at the last event":                   {events, at(4), &now},
		"one event undone":                    {events, at(4).Add(-1), &third},
		"two events undone":                   {events, at(2), &second},
		"three events undone":                 {events, at(1), &first},
		"before creation":                     {events, at(1).Add(-1), nil},
		"no events":                           {nil, at(1), &now},
		"no events, before CreatedAt":         {nil, at(0), nil},
		"unknown detail":                      {unknownDetail, at(4), &now},
		"event with unknown detail is undone": {unknownDetail, at(2), &untouched},
	} {
		t.Run(name, func(t *testing.T) {
			then, existed := history.At(now, c.events, c.at)
			if existed != (c.want != nil) {
				t.Errorf("existed is %t", existed)
			}
			if !existed || c.want == nil {
				return
			}
			if diff := cmp.Diff(*c.want, then); diff != "" {
				t.Errorf("memory (-want +got):\n%s", diff)
			}
		})
	}
	restored := append(slices.Clone(events), event(6, memory.EventPurged, ""), event(8, memory.EventUpdated, ""))
	for hour, want := range map[int]bool{5: true, 6: false, 7: false, 8: true} {
		if _, existed := history.At(now, restored, at(hour)); existed != want {
			t.Errorf("purged at 6, restored at 8: existed at %d is %t", hour, existed)
		}
	}
}
