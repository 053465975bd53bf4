// Package years computes how many memories a user has after years, by the rules of
// forgetting that a server applies and an assumption about which memories are recalled:
//
//	turns a day -> messages and facts -> each turn recalls some of its topic -> faded ones are forgotten daily
package years

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"hippocampus/db"
	"hippocampus/forgetting"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// Options of a computation.
type Options struct {
	Years    int
	Turns    int      // a day, each of a message and an answer; every second one leaves a fact
	Recalled int      // memories that each turn recalls, if its topic has as many
	Topics   int      // of the user; turns choose them by Zipf's law
	Settings []string // of a server, KEY=VALUE
}

// Report has the user's state at the end of each year.
type Report struct {
	Turns    int    `json:"turns_a_day"`
	Recalled int    `json:"recalled_by_each_turn"`
	Years    []Year `json:"years"`
}

// Year is the state at the end of a year.
type Year struct {
	Year    int `json:"year"`
	Turns   int `json:"turns"`   // since the beginning
	Written int `json:"written"` // memories since the beginning
	Active  int `json:"active"`
	Facts   int `json:"active_facts"`
	Rows    int `json:"rows"` // active memories, and forgotten ones that are not purged yet
}

// Importances of the parts of a turn: those that the server sets for messages, and a usual one for a fact.
const (
	userMessage      = 0.49
	assistantMessage = 0.28
	statedFact       = 0.8
)

// life is one user.
type life struct {
	Options
	rule   forgetting.Rule
	most   int // active memories
	random *rand.Rand
	topics [][]*remembered
	purges []int // memories that are forgotten on each day
}

type remembered struct {
	db.Age
	fades time.Time
}

// Run computes the years of a user.
func Run(o Options) (report Report, err error) {
	cfg, err := config.Load(config.Sources{Env: o.Settings})
	if err != nil {
		return report, err
	}
	f := cfg.Forgetting
	l := &life{
		Options: o, most: cfg.Memories.MaxPerUser,
		random: rand.New(rand.NewPCG(10, 1)), topics: make([][]*remembered, o.Topics),
		rule: forgetting.Rule{
			Policy: forgetting.Policy(f.Policy), Threshold: f.Threshold, Base: f.Base, Growth: f.Growth, Lambda: f.Lambda,
			MinAge: forgetting.MinAge, MaxShare: f.MaxShare, MessageAge: cfg.Messages.Keep,
			ExcludeTypes: forgetting.Names(f.ExcludeTypes), KeepTypes: forgetting.Names(f.KeepTypes),
			KeepImportance: f.KeepImportance,
		},
	}
	report.Turns, report.Recalled = o.Turns, o.Recalled
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	year := Year{}
	kept := int(f.PurgeAfter.Hours() / 24) // days
	for day := range o.Years * 365 {
		for range o.Turns {
			year.Written += l.turn(now, year.Turns)
			year.Turns++
		}
		now = now.AddDate(0, 0, 1)
		l.purges = append(l.purges, l.forget(now))
		if (day+1)%365 > 0 {
			continue
		}
		year.Year++
		year.Active, year.Facts = l.count()
		year.Rows = year.Active
		for _, n := range l.purges[max(0, len(l.purges)-kept):] {
			year.Rows += n
		}
		report.Years = append(report.Years, year)
	}
	return report, nil
}

// turn recalls memories of a topic, and adds the memories of the turn.
func (l *life) turn(now time.Time, n int) (written int) {
	topic := &l.topics[int(math.Exp(l.random.Float64()*math.Log(float64(l.Topics+1))))-1]
	for i := range min(l.Recalled, len(*topic)) {
		j := i + l.random.IntN(len(*topic)-i)
		(*topic)[i], (*topic)[j] = (*topic)[j], (*topic)[i]
		m := (*topic)[i]
		m.AccessCount++
		m.LastAccessedAt = now
		m.fades = l.fades(m.Age)
	}
	add := func(kind memory.Type, importance float64) {
		m := &remembered{Age: db.Age{CreatedAt: now, LastAccessedAt: now, Importance: importance, Type: kind}}
		m.fades = l.fades(m.Age)
		*topic = append(*topic, m)
		written++
	}
	add(memory.TypeMessage, userMessage)
	add(memory.TypeMessage, assistantMessage)
	if n%2 == 0 {
		add(memory.TypeFact, statedFact)
	}
	return written
}

// fades is when a memory fades; far in the future if it never does.
func (l *life) fades(a db.Age) time.Time {
	at, never := l.rule.FadesAt(a)
	if never {
		return a.LastAccessedAt.AddDate(1000, 0, 0)
	}
	return at
}

// forget forgets faded memories. If too many are left, it also forgets the memories that
// fade first, until a hundredth of the bound is free. It returns the number of forgotten
// memories.
func (l *life) forget(now time.Time) int {
	active, _ := l.count()
	n := l.drop(l.rule.Most(active), func(m *remembered) bool { return m.fades.Before(now) })
	if l.most > 0 && active-n > l.most {
		n += l.drop(active-n-l.most+l.most/100, func(*remembered) bool { return true })
	}
	return n
}

// drop removes up to most of the given memories, those that fade first, and returns their number.
func (l *life) drop(most int, given func(*remembered) bool) int {
	var found []*remembered
	for _, topic := range l.topics {
		for _, m := range topic {
			if given(m) {
				found = append(found, m)
			}
		}
	}
	slices.SortFunc(found, func(a, b *remembered) int { return a.fades.Compare(b.fades) })
	dropped := make(map[*remembered]bool, most)
	for _, m := range found[:min(most, len(found))] {
		dropped[m] = true
	}
	for i := range l.topics {
		l.topics[i] = slices.DeleteFunc(l.topics[i], func(m *remembered) bool { return dropped[m] })
	}
	return len(dropped)
}

func (l *life) count() (active, facts int) {
	for _, topic := range l.topics {
		active += len(topic)
		for _, m := range topic {
			if m.Type == memory.TypeFact {
				facts++
			}
		}
	}
	return active, facts
}

// Print writes the report as a table for people.
func (r Report) Print(out io.Writer) error {
	fmt.Fprintf(out, "%d turns a day, each recalls %d memories\n\n", r.Turns, r.Recalled)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "year\tturns\twritten\tactive\tof these, facts\trows of memories\t")
	for _, y := range r.Years {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t\n", y.Year, y.Turns, y.Written, y.Active, y.Facts, y.Rows)
	}
	return w.Flush()
}
