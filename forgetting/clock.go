package forgetting

import (
	"slices"
	"sort"
	"time"

	"hippocampus/db"
)

// Clock is which days count in a rule.
type Clock string

// The clocks. By ActiveClock, the time of a day counts if the user was active on the day, or if the day lies more than
// Rule.MaxAbsence after the end of the last active day before it. By WallClock, all time counts.
const (
	ActiveClock Clock = "active"
	WallClock   Clock = "wall"
)

// Clocks lists every clock.
var Clocks = []Clock{ActiveClock, WallClock}

// aDay is the length of a day.
const aDay = 24 * time.Hour

// During returns the rule with the active days of a user, if it counts them. All time after activeFrom counts, as if
// the user were active every day from then on; if activeFrom is zero, the active days alone decide. Without active
// days, all time counts.
func (r Rule) During(days db.ActiveDays, activeFrom time.Time) Rule {
	r.counted = nil
	if r.Clock != ActiveClock || len(days[""]) == 0 {
		return r
	}
	r.counted = &counted{make(map[string]*calendar, len(days))}
	for agentID, list := range days {
		r.counted.of[agentID] = newCalendar(list, r.MaxAbsence, activeFrom)
	}
	return r
}

// counted is which time counts for the memories of a user.
type counted struct {
	of map[string]*calendar // by agent; "": of memories without an agent, or whose agent has no active day of the user
}

func (c *counted) calendar(agentID string) *calendar {
	if own := c.of[agentID]; own != nil {
		return own
	}
	return c.of[""]
}

// calendar measures the time that counts. Between the beginnings of two successive active days, the first day counts,
// and any time that follows it by more than maxAbsence.
type calendar struct {
	days       []int           // the active ones, ascending
	before     []time.Duration // the time that counts before each of them
	maxAbsence time.Duration
	activeFrom time.Time // all time after it counts; zero: see days
}

func newCalendar(days []int, maxAbsence time.Duration, activeFrom time.Time) *calendar {
	c := &calendar{
		days: days, before: make([]time.Duration, len(days)), maxAbsence: maxAbsence, activeFrom: activeFrom,
	}
	for i := 1; i < len(days); i++ {
		c.before[i] = c.before[i-1] + c.since(time.Duration(days[i]-days[i-1])*aDay)
	}
	return c
}

// since is how much counts of the time that has passed since the beginning of an active day, if no active day followed.
func (c *calendar) since(passed time.Duration) time.Duration {
	return min(passed, aDay) + max(0, passed-aDay-c.maxAbsence)
}

// until is how much time counts from the beginning of the first active day until an instant.
func (c *calendar) until(at time.Time) time.Duration {
	further := time.Duration(0)
	if !c.activeFrom.IsZero() && at.After(c.activeFrom) {
		at, further = c.activeFrom, at.Sub(c.activeFrom)
	}
	next, _ := slices.BinarySearch(c.days, db.DayOf(at)+1)
	if next == 0 {
		return further
	}
	last := next - 1
	return c.before[last] + c.since(at.Sub(db.Midnight(c.days[last]))) + further
}

// at is the first instant for which until returns the amount, which is more than 0.
func (c *calendar) at(amount time.Duration) time.Time {
	if !c.activeFrom.IsZero() {
		if further := amount - c.until(c.activeFrom); further > 0 {
			return c.activeFrom.Add(further)
		}
	}
	last := sort.Search(len(c.before), func(i int) bool { return c.before[i] >= amount }) - 1
	amount -= c.before[last]
	if amount > aDay {
		amount += c.maxAbsence
	}
	return db.Midnight(c.days[last]).Add(amount)
}

// idle is the time that counts since a memory was last accessed or changed.
func (r Rule) idle(a db.Age, at time.Time) time.Duration {
	return r.Passed(a.AgentID, idleSince(a), at)
}

// Passed is the time that counts between two instants for memories of an agent; empty: for the others.
func (r Rule) Passed(agentID string, from, until time.Time) time.Duration {
	if r.counted == nil {
		return max(0, until.Sub(from))
	}
	c := r.counted.calendar(agentID)
	return max(0, c.until(until)-c.until(from))
}

// idleFor is the instant from which a memory has been idle for some time.
func (r Rule) idleFor(a db.Age, idle time.Duration) time.Time {
	since := idleSince(a)
	if r.counted == nil || idle <= 0 {
		return since.Add(idle)
	}
	c := r.counted.calendar(a.AgentID)
	return c.at(c.until(since) + idle)
}
