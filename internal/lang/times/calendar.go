package times

import "time"

// interval is the time from an instant until another one, which does not belong to it.
type interval struct{ from, until time.Time }

// midnight is the beginning of the day of an instant, in its zone.
func midnight(at time.Time) time.Time { return date(at.Year(), at.Month(), at.Day(), at.Location()) }

func date(year int, month time.Month, day int, zone *time.Location) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// daysBetween is the number of midnights from one instant to a later one, which is in the same zone.
func daysBetween(from, until time.Time) int {
	const hours = 24
	days := func(t time.Time) int64 {
		return date(t.Year(), t.Month(), t.Day(), time.UTC).Unix() / int64(hours*time.Hour/time.Second)
	}
	return int(days(until) - days(from))
}

func dayAt(day time.Time) interval { return interval{day, day.AddDate(0, 0, 1)} }

// weekdayOf is 1 on Monday to 7 on Sunday.
func weekdayOf(day time.Time) int { return (int(day.Weekday())+6)%7 + 1 }

func mondayOf(day time.Time) time.Time { return day.AddDate(0, 0, 1-weekdayOf(day)) }

// The units of time, by the values of the class unit.
const (
	days = iota + 1
	weeks
	months
	years
	weekends
)

// period returns the day, week, month, year or weekend that comes `after` units after the one of a day.
func period(unit int, day time.Time, after int) interval {
	switch unit {
	case days:
		return dayAt(day.AddDate(0, 0, after))
	case weeks:
		monday := mondayOf(day).AddDate(0, 0, 7*after)
		return interval{monday, monday.AddDate(0, 0, 7)}
	case months:
		return monthAt(day.Year(), day.Month()+time.Month(after), day.Location())
	case weekends:
		monday := mondayOf(day).AddDate(0, 0, 7*(after+1))
		return interval{monday.AddDate(0, 0, -2), monday}
	}
	return interval{
		date(day.Year()+after, 1, 1, day.Location()), date(day.Year()+after+1, 1, 1, day.Location()),
	}
}

func monthAt(year int, month time.Month, zone *time.Location) interval {
	return interval{date(year, month, 1, zone), date(year, month+1, 1, zone)}
}

// move returns the day that comes n units after a day. A month or a year later is the same day of the month, or the
// last day of a shorter month.
func move(day time.Time, unit, n int) time.Time {
	switch unit {
	case weeks, weekends:
		return day.AddDate(0, 0, 7*n)
	case months, years:
		if unit == years {
			n *= 12
		}
		first := date(day.Year(), day.Month()+time.Month(n), 1, day.Location())
		last := first.AddDate(0, 1, -1).Day()
		return first.AddDate(0, 0, min(day.Day(), last)-1)
	}
	return day.AddDate(0, 0, n)
}

// around returns the time that "so many units ago" means: that day, the week around it, or 15 days to both sides; for
// years and weekends the year and the weekend.
func around(day time.Time, unit int) interval {
	switch unit {
	case weeks:
		return interval{day.AddDate(0, 0, -3), day.AddDate(0, 0, 4)}
	case months:
		return interval{day.AddDate(0, 0, -15), day.AddDate(0, 0, 16)}
	}
	return period(unit, day, 0)
}

// cutTo returns the part k of n parts of a period, for the code 100*k + n. A third of a month has ten days. If n is 7,
// each part is a week, and the fifth part is the last seven days. If it is 6, the part is the beginning or the end of
// the period: a sixth of a year, and a third of a shorter period.
func (i interval) cutTo(code int) interval {
	k, n := code/100, code%100
	total := daysBetween(i.from, i.until)
	if n == 6 && total < 365 {
		k, n = (k+1)/2, 3
	}
	begin, end := total*(k-1)/n, total*k/n
	switch {
	case n == 7 && k == 5:
		begin, end = total-7, total
	case n == 7:
		begin, end = 7*(k-1), 7*k
	case n == 3 && total >= 28 && total <= 31:
		begin, end = 10*(k-1), 10*k
		if k == n {
			end = total
		}
	}
	return interval{i.from.AddDate(0, 0, begin), i.from.AddDate(0, 0, end)}
}

// partOf returns the hours from a to b of a day, for the code 100*a + b.
func partOf(day time.Time, code int) interval {
	at := func(hour int) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day(), hour, 0, 0, 0, day.Location())
	}
	return interval{at(code / 100), at(code % 100)}
}
