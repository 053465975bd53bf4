package forgetting

import (
	"time"

	"hippocampus/db"
)

// Outlook is how the retention of a memory goes on from an instant, in two cases.
type Outlook struct {
	At       time.Time
	Exempt   bool   // the memory never fades; the courses show what it would do without its exemption
	Left     Course // nothing accesses it
	Accessed Course // it is accessed at the instant, and never again
}

// Course is the retention of a memory over time.
type Course struct {
	FadesAt time.Time // zero: never
	Points  []Point   // at the same instants in both courses of an Outlook, evenly spaced
}

// Point is the retention, 0..1, at an instant.
type Point struct {
	At        time.Time
	Retention float64
}

// What an Outlook covers: 6/5 of the time until both courses have faded, within bounds.
const (
	outlookPoints    = 61
	shortestHorizon  = 7 * 24 * time.Hour
	longestHorizon   = 5 * 365 * 24 * time.Hour
	horizonOfNoFades = 365 * 24 * time.Hour
)

// Outlook returns how the retention of a memory goes on by the rule.
func (r Rule) Outlook(a db.Age, at time.Time) Outlook {
	accessed := a
	accessed.AccessCount++
	accessed.LastAccessedAt = at
	o := Outlook{At: at, Exempt: r.Keeps(a)}
	o.Left.FadesAt, _ = r.FadesAt(a)
	o.Accessed.FadesAt, _ = r.FadesAt(accessed)
	step := horizon(at, o.Left.FadesAt, o.Accessed.FadesAt) / (outlookPoints - 1)
	for i := range outlookPoints {
		then := at.Add(time.Duration(i) * step)
		o.Left.Points = append(o.Left.Points, Point{then, r.Retention(a, then)})
		o.Accessed.Points = append(o.Accessed.Points, Point{then, r.Retention(accessed, then)})
	}
	return o
}

// horizon returns how much time an Outlook covers.
func horizon(at time.Time, fades ...time.Time) time.Duration {
	longest := time.Duration(0)
	for _, f := range fades {
		if f.IsZero() {
			longest = max(longest, horizonOfNoFades)
			continue
		}
		longest = max(longest, f.Sub(at)/5*6)
	}
	return min(max(longest, shortestHorizon), longestHorizon)
}
