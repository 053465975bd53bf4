// Package loop measures the day of a chat backend: users with few and with many memories
// talk, a tenth of them at once, and each turn is a request for a context and a report.
//
//	log-normal sizes -> load -> ramp: the highest rate -> a share of it for minutes -> percentiles,
//	CPU and memory of each process
package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// Options of a measurement.
type Options struct {
	Size     target.Size
	Users    int
	Least    int           // memories of the smallest user
	Most     int           // memories of the largest user
	Active   float64       // share of the users who are active at once, 0 to 1
	Servers  int           // on the same stores; each active user talks to one of them
	For      time.Duration // how long turns are sent at one rate
	Rate     float64       // turns a second; 0: a share of the highest, which a ramp finds
	Share    float64       // of the highest rate, 0 to 1
	Step     time.Duration // of each rate that the ramp tries
	Rest     time.Duration // longest wait for an idle machine after the load
	Texts    content.Texts // empty: texts of syllables
	Settings []string
	Progress io.Writer
}

// Report is the result of a measurement.
type Report struct {
	Size     string          `json:"size"`
	Machine  measure.Machine `json:"machine"`
	Settings []string        `json:"settings,omitempty"`
	Servers  int             `json:"servers"`
	Users    int             `json:"users"`
	Active   int             `json:"active_users"`
	Memories int             `json:"memories"`
	Least    int             `json:"least_memories"`
	Most     int             `json:"most_memories"`
	Loaded   float64         `json:"loaded_per_second"`
	Highest  float64         `json:"highest_turns_per_second,omitzero"`
	Offered  float64         `json:"offered_turns_per_second"`
	Context  measure.Sample  `json:"context"`
	Turn     measure.Sample  `json:"turn"`
	Late     int             `json:"late_turns"` // that began a second late, since the user's earlier turn had not ended
	Errors   int             `json:"errors"`     // requests and turns that failed
	Behind   float64         `json:"processed_after_seconds"`

	Processes []target.Process `json:"processes"` // CPU is that of a turn
}

// Run fills new stores, finds the highest rate, and sends a share of it.
func Run(ctx context.Context, o Options) (report Report, err error) {
	servers, err := target.StartServers(ctx, target.Options{Size: o.Size, Settings: o.Settings}, o.Servers, nil)
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, servers.Close()) }()
	server := servers[0]
	active := max(1, int(o.Active*float64(o.Users)))
	report = Report{
		Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings, Servers: len(servers),
		Users: o.Users, Active: active, Least: o.Least, Most: o.Most,
	}
	if err := report.load(ctx, o, server); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	t := newTraffic(servers, o.Texts, o.Users, active)
	report.Offered = o.Rate
	if o.Rate == 0 {
		if err := report.ramp(ctx, o, t); err != nil {
			return report, fmt.Errorf("%w\n%s", err, server.Log())
		}
		report.Offered = report.Highest * o.Share
	}
	if err := report.measure(ctx, o, t); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	return report, nil
}

// load fills the stores, and waits until the machine rests.
func (r *Report) load(ctx context.Context, o Options, server *target.Server) error {
	sizes := Sizes(o.Users, o.Least, o.Most)
	for _, n := range sizes {
		r.Memories += n
	}
	fmt.Fprintf(o.Progress, "loading %d memories of %d users\n", r.Memories, o.Users)
	begin := time.Now()
	if err := server.Load(ctx, memories(sizes, o.Texts)); err != nil {
		return err
	}
	r.Loaded = float64(r.Memories) / time.Since(begin).Seconds()
	_, err := measure.Rest(ctx, o.Rest, o.Progress)
	return err
}

// memories returns the memories of users, whose numbers of memories are sizes.
func memories(sizes []int, texts content.Texts) iter.Seq[target.Memory] {
	data := content.Data{Texts: texts}
	return func(yield func(target.Memory) bool) {
		for i, size := range sizes {
			for j := range size {
				if !yield(data.Memory(i, j)) {
					return
				}
			}
		}
	}
}

// ramp finds the highest rate at which no request fails, at most one turn of a hundred
// begins late, and all turns are processed within the tolerance after it. A rate is tried
// twice before it counts as too high.
func (r *Report) ramp(ctx context.Context, o Options, t *traffic) (err error) {
	try := func(rate float64) (bool, error) {
		s, err := t.run(ctx, rate, o.Step)
		if err != nil {
			return false, err
		}
		sustainable := s.failed == 0 && s.late*100 <= s.offered && s.processedAfter <= tolerance
		fmt.Fprintf(o.Progress, "%.1f turns a second: p95 of a context %.0f ms, %d of %d late, %d errors, "+
			"processed after %.1f s: sustainable %t\n", rate, s.context.Sample().P95, s.late, s.offered, s.failed,
			s.processedAfter.Seconds(), sustainable)
		return sustainable, nil
	}
	r.Highest, err = highest(func(rate float64) (bool, error) {
		ok, err := try(rate)
		if ok || err != nil {
			return ok, err
		}
		return try(rate)
	})
	if err == nil && r.Highest == 0 {
		err = errors.New("the server does not sustain the lowest rate: measure fewer or smaller users, or longer steps")
	}
	return err
}

// measure sends the offered rate, and reads what the processes use.
func (r *Report) measure(ctx context.Context, o Options, t *traffic) error {
	fmt.Fprintf(o.Progress, "%.1f turns a second for %s\n", r.Offered, o.For)
	watch, err := target.NewWatch(t.servers)
	if err != nil {
		return err
	}
	s, err := t.run(ctx, r.Offered, o.For)
	if err != nil {
		_, failed := watch.Stop(0)
		return errors.Join(err, failed)
	}
	if r.Processes, err = watch.Stop(s.offered); err != nil {
		return err
	}
	r.Context, r.Turn = s.context.Sample(), s.turn.Sample()
	r.Late, r.Behind = s.late, s.processedAfter.Seconds()
	failed, err := t.turns(ctx, "failed")
	if err != nil {
		return err
	}
	if r.Errors = s.failed + failed; r.Errors > 0 {
		fmt.Fprintf(o.Progress, "%d requests and %d turns failed, the first: %v\n", s.failed, failed, s.firstError)
	}
	return nil
}
