package recall

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// The days that texts name, and the times that a query names, are days in the user's zone, also after the zone has
// changed.
func TestRecall_ReadsDaysInTheZoneOfTheUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var zone *time.Location
	reads := 0
	f.set.ZoneOf = func(context.Context, memory.Owner) (*time.Location, error) {
		reads++
		return zone, nil
	}
	said := time.Date(2031, 3, 20, 23, 0, 0, 0, time.UTC) // 21 March in the east
	f.add("I swam yesterday.", func(m *memory.Memory) { m.CreatedAt = said }, true)
	for range 2 {
		for _, c := range []struct {
			zone *time.Location
			date float64
		}{{time.UTC, 1}, {time.FixedZone("+08:00", 8*3600), daysAfter}} {
			zone = c.zone
			answer := f.recall(Query{Text: "What did I do on 19 March 2031?", At: said.AddDate(0, 1, 0)})
			from := time.Date(2031, 3, 19, 0, 0, 0, 0, c.zone)
			if len(answer.When) != 1 || !answer.When[0].From.Equal(from) {
				t.Errorf("%v: 19 March is %+v", c.zone, answer.When)
			}
			if len(answer.Memories) != 1 || answer.Memories[0].Date != c.date {
				t.Errorf("%v: the memory fits 19 March otherwise than by %v: %+v", c.zone, c.date, answer.Memories)
			}
		}
	}
	if reads != 4 {
		t.Errorf("the zone was read %d times in 4 recalls", reads)
	}
}

func TestRecall_FailsWithoutTheZone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	broken := errors.New("no zone")
	f.set.ZoneOf = func(context.Context, memory.Owner) (*time.Location, error) { return nil, broken }
	if _, err := f.Recall(t.Context(), Query{Owner: ada, Text: "Where do I swim?"}); !errors.Is(err, broken) {
		t.Errorf("recall: %v", err)
	}
	if _, err := f.Standing(t.Context(), Query{Owner: ada, Limit: 1}); !errors.Is(err, broken) {
		t.Errorf("profile: %v", err)
	}
}
