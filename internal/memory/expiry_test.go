package memory

import (
	"testing"
	"time"
)

// The end of the last day that is accepted is in the last year that is imported, in every zone.
func TestExpiry_EndsInTheLastYear(t *testing.T) {
	t.Parallel()
	for hours := -12; hours <= 14; hours++ {
		zone := time.FixedZone("", hours*3600)
		for day, want := range map[string]time.Time{
			"2200-12-31": time.Date(2201, 1, 1, 0, 0, 0, 0, zone),
			"2200-12-29": time.Date(2200, 12, 30, 0, 0, 0, 0, zone),
		} {
			if want.UTC().Year() > 2200 {
				want = time.Date(2200, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
			}
			if got := (Expiry{Day: day}).In(zone); !got.Equal(want) {
				t.Errorf("%s ends at %v in %v, want %v", day, got, zone, want)
			}
		}
	}
}
