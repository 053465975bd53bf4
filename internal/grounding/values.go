package grounding

import (
	"slices"
	"time"
)

// HasNumber reports whether a source has exactly this number, in digits or in words.
func (has Evidence) HasNumber(value float64) bool { return has.numbers[value] }

// HasDay reports whether a source has this day with its year, month and day of the month.
func (has Evidence) HasDay(day time.Time) bool {
	return slices.ContainsFunc(has.dates, func(d date) bool {
		return d.year == day.Year() && d.month == day.Month() && d.day == day.Day()
	})
}

// IsPlain reports whether a text states what it says: no clause of it denies, asks, wishes, plans, or has a condition.
func IsPlain(s string) bool {
	return !slices.ContainsFunc(clausesOf(s, ofAccounts), func(c clause) bool { return c.denied || c.modal || c.unclear })
}
