package scorer

import (
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// The time of a turn, and of a message with its own time, is stated in the user's zone.
func TestPrompt_StatesTimesInTheZoneOfTheTurn(t *testing.T) {
	t.Parallel()
	turn := said("Tomorrow I fly to Lisbon.", "Have a good flight!")
	turn.At = time.Date(2026, 2, 1, 6, 30, 0, 0, time.UTC)
	turn.Messages[0].At = turn.At.Add(-time.Hour)
	turn.Messages[1].At = turn.At
	for name, c := range map[string]struct {
		zone   *time.Location
		of, at string
	}{
		"UTC":  {of: "2026-02-01 06:30 UTC, Sunday", at: "2026-02-01 05:30 UTC, Sunday"},
		"west": {time.FixedZone("-08:00", -8*3600), "2026-01-31 22:30 -08:00, Saturday", "2026-01-31 21:30 -08:00, Saturday"},
	} {
		turn.Zone = c.zone
		p, err := render(turn, []memory.Message{{Role: "user", Content: "Hello."}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.User, "Time of the turn: "+c.of+"\n") || strings.Count(p.User, `"at":`) != 1 ||
			!strings.Contains(p.User, `"at":"`+c.at+`","content":"Tomorrow`) {
			t.Errorf("%s: %s", name, p.User)
		}
	}
}
