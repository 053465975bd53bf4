package assembly

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/conversation/session"
	"hippocampus/internal/heading"
	"hippocampus/internal/memory"
	"hippocampus/recall"
)

// Preferences take what the other items leave, and at most their share: no other item makes room for them.
func TestFinish_PreferencesTakeWhatIsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		contents, counter := drawContents(t), counters.Draw(t, "counter")
		budget := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 400)).Draw(t, "budget")
		p := choose(contents, budget, presets["default"].Shares, english, counter, rapid.Bool().Draw(t, "as messages"))
		p.fit()
		p.unquote()
		before := slices.Clone(p.chosen)
		var preferences []Item
		for i := range rapid.IntRange(0, MaxPreferences).Draw(t, "preferences") {
			preferences = append(preferences, Item{ID: string(rune('A' + i)), Text: anything.Draw(t, "preference"),
				Group:     rapid.SampledFrom([]Group{heading.Preferences, statedFacts}).Draw(t, "group"),
				Statement: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "states")})
		}
		prompt, messages, size := p.finish(preferences)
		if counted := independently(counter, prompt, messages); counted > budget || counted > size {
			t.Fatalf("%d of %d, counted as %d: %q %q", counted, budget, size, prompt, messages)
		}
		taken := 0
		for i, c := range p.chosen {
			if i < len(before) && c.ID != before[i].ID {
				t.Fatalf("%q took the place of %q", c.ID, before[i].ID)
			}
			if i >= len(before) {
				taken += c.cost
			}
		}
		if float64(taken) > preferencesShare*float64(budget) {
			t.Fatalf("preferences take %d of %d", taken, budget)
		}
	})
}

// What the prompt, a recalled message or the conversation says already is not said again.
func TestPreferenceItems_LeaveOutWhatIsSaid(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	g := gathered{answer: recall.Answer{
		Memories: []recall.Recalled{{Memory: memory.Memory{
			ID: "m", Type: memory.TypeMessage, SourceTurnID: "t1", Content: "Hi! I hate coriander.",
		}}},
		Preferences: []memory.Memory{
			{ID: "recalled", Type: "preference", SourceTurnID: "t1", Content: "I hate coriander."},
			{ID: "present", Type: "preference", SourceTurnID: "t2", Content: "I love jazz."},
			{ID: "event", Type: "preference", SourceTurnID: "t3", Content: "I eat no meat."},
			{ID: "new", Type: "preference", SourceTurnID: "t4", CreatedAt: at, Content: "I prefer trains."},
			{ID: "other", Type: "preference", SourceTurnID: "t5", Speaker: "Tom", Content: "I like tea."},
		},
	}}
	r := &Request{Present: []string{"I love jazz. What is on?"}, Query: recall.Query{Zone: time.UTC}}
	var got []string
	for _, item := range g.preferenceItems(r, []session.Event{{TurnID: "t3", Content: "I eat no meat. I run."}}) {
		got = append(got, item.Text)
	}
	if want := []string{"I prefer trains.", "Tom: I like tea."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
