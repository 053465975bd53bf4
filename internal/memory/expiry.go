package memory

import "time"

// HasExpired reports whether a memory is former at an instant since its shelf life has ended.
func (m *Memory) HasExpired(at time.Time) bool {
	return !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(at)
}

// Renew gives a memory the shelf life of what says the same, unless that was said before the memory was said last. What
// names no end leaves one that is still to come.
func (m *Memory) Renew(said *Memory) {
	if said.CreatedAt.Before(m.Said()) {
		return
	}
	if !said.ExpiresAt.IsZero() || m.HasExpired(said.CreatedAt) {
		m.ExpiresAt = said.ExpiresAt
	}
}

// Expiry is the end of a shelf life as a client gives it: an instant, a day, or, if it is zero, none.
type Expiry struct {
	At  time.Time
	Day string // the last day, such as 2026-05-03, in the zone of the user; see IsDay
}

// IsDay reports whether a text is a day as in 2026-05-03.
func IsDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// In returns the instant at which a shelf life ends; zero: never. A day ends in a zone.
func (e Expiry) In(zone *time.Location) time.Time {
	if e.Day == "" {
		return e.At
	}
	day, _ := time.ParseInLocation(time.DateOnly, e.Day, zone)
	return EndOfDay(day)
}

// lastInstant is the last instant that every store keeps exactly.
var lastInstant = time.Date(2200, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

// EndOfDay returns the end of the day of an instant, in its zone. It is in the year 2200 in UTC at the latest, as all
// times that are accepted and imported are.
func EndOfDay(at time.Time) time.Time {
	end := Instant(time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, at.Location()))
	if end.After(lastInstant) {
		return lastInstant
	}
	return end
}
