package ingest

import (
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// A dated plan of the user is a memory by itself, with its end, whatever else the message says.
func TestMessages_DatedPlansEndByThemselves(t *testing.T) {
	t.Parallel()
	end := begin.Add(1000 * time.Hour)
	const flight, allergy = "My flight to Rome is tomorrow.", "I am allergic to peanuts."
	for name, c := range map[string]struct {
		role    string
		content string
		ends    time.Time // of the turn
		want    []string  // pieces; the one with the flight ends
	}{
		"alone":              {"user", flight, time.Time{}, []string{flight}},
		"before a statement": {"user", flight + " " + allergy, time.Time{}, []string{flight, allergy}},
		"after a statement":  {"user", allergy + "\n" + flight, time.Time{}, []string{allergy, flight}},
		"in the middle": {
			"user", allergy + " " + flight + " It rains.", time.Time{}, []string{allergy, flight, "It rains."},
		},
		"with small talk":      {"user", "thanks " + flight, time.Time{}, []string{"thanks " + flight}},
		"of the assistant":     {"assistant", flight + " Eat.", time.Time{}, []string{flight + " Eat."}},
		"with an end by turn":  {"user", flight + " " + allergy, end, []string{flight + " " + allergy}},
		"a statement and more": {"user", allergy + " It rains.", time.Time{}, []string{allergy + " It rains."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			turn := memory.Turn{
				ID: memory.NewID(), Owner: ada, At: begin, ExpiresAt: c.ends,
				Messages: []memory.Message{{Role: c.role, Content: c.content}},
			}
			drafts, _ := b.messages(turn, memory.Message{}, echoes{})
			var got []string
			for _, m := range drafts {
				got = append(got, m.Content)
				isPlan := c.role == "user" && (len(c.want) > 1 || c.ends.IsZero()) && m.Content != allergy &&
					m.Content != "It rains." && m.Content != allergy+" It rains."
				switch {
				case !c.ends.IsZero() && !m.ExpiresAt.Equal(c.ends), c.ends.IsZero() && m.ExpiresAt.IsZero() == isPlan:
					t.Errorf("%q ends at %v", m.Content, m.ExpiresAt)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
