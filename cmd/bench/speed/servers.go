package speed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// ServersOptions of a measurement of several servers on the same Postgres and Milvus.
type ServersOptions struct {
	Data        content.Data
	Servers     int // 1 to this many are measured
	Clients     int
	Slice       time.Duration // duration of one round of each number of servers
	Rounds      int
	ServerCores []int  // the i-th server runs on the i-th of these cores alone; empty: on all
	StoreCores  string // of Postgres and Milvus while this measures, such as "0-1"; empty: all
	Rest        time.Duration
	Settings    []string
	Progress    io.Writer
}

// ServersReport is the rate of recalls by number of servers.
type ServersReport struct {
	Machine     measure.Machine `json:"machine"`
	Data        string          `json:"data"`
	Clients     int             `json:"clients"`
	ServerCores []int           `json:"server_cores,omitempty"`
	StoreCores  string          `json:"store_cores,omitempty"`
	Rows        []ServersRow    `json:"rows"`
}

// ServersRow is the measurement of one number of servers.
type ServersRow struct {
	Servers int                `json:"servers"`
	Recall  measure.Sample     `json:"recall"`
	CPU     map[string]float64 `json:"cpu_ms_per_recall"` // by process; of all servers
}

// RunServers sends recalls to one server, to two, and so on, alternately.
func RunServers(ctx context.Context, o ServersOptions) (report ServersReport, err error) {
	report = ServersReport{
		Machine: measure.ThisMachine(), Data: o.Data.String(), Clients: o.Clients,
		ServerCores: o.ServerCores, StoreCores: o.StoreCores,
	}
	same := target.Options{Size: target.Large, Settings: o.Settings}
	servers, err := target.StartServers(ctx, same, o.Servers, o.ServerCores)
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, servers.Close()) }()
	b := &bench{Options: Options{Rest: o.Rest, Progress: o.Progress}, server: servers[0], all: servers, report: &Report{}}
	if err := b.load(ctx, o.Data); err != nil {
		return report, fmt.Errorf("%w\n%s", err, servers[0].Log())
	}
	if o.StoreCores != "" {
		stores, err := servers[0].Stores.Processes()
		if err != nil {
			return report, err
		}
		for name, process := range stores {
			unpin, e := process.Pin(o.StoreCores)
			if e != nil {
				return report, fmt.Errorf("%s: %w", name, e)
			}
			defer func() { err = errors.Join(err, unpin()) }() //nolint:gocritic // after the measurement
		}
	}
	if err := b.meet(ctx, o.Data); err != nil {
		return report, err
	}
	report.Rows, err = b.byNumber(ctx, o)
	return report, err
}

// byNumber measures each number of servers.
func (b *bench) byNumber(ctx context.Context, o ServersOptions) ([]ServersRow, error) {
	rows := make([]ServersRow, len(b.all))
	sums := make([]measure.Times, len(b.all))
	var next atomic.Int64
	for round := range o.Rounds {
		fmt.Fprintf(o.Progress, "round %d of %d\n", round+1, o.Rounds)
		for i := range rows {
			some := &bench{Options: b.Options, all: b.all[:i+1]}
			before := len(sums[i].Latencies)
			watch, err := target.NewWatch(b.all)
			if err != nil {
				return nil, err
			}
			failed := sums[i].Run(ctx, o.Clients, o.Slice, &next, some.recall(o.Data))
			used, err := watch.Stop(1)
			if err := errors.Join(failed, err); err != nil {
				return nil, err
			}
			if len(sums[i].Latencies) == before {
				return nil, errors.New("no recall ended within a slice: measure longer slices")
			}
			rows[i].add(used)
		}
	}
	for i := range rows {
		rows[i].Servers, rows[i].Recall = i+1, sums[i].Sample()
		for name := range rows[i].CPU {
			rows[i].CPU[name] /= float64(rows[i].Recall.Requests)
		}
	}
	return rows, nil
}

// add adds the CPU times of processes in one round, in milliseconds.
func (r *ServersRow) add(used []target.Process) {
	if r.CPU == nil {
		r.CPU = map[string]float64{}
	}
	for _, p := range used {
		name := p.Name
		if strings.HasPrefix(name, "server") {
			name = "servers"
		}
		r.CPU[name] += p.CPU
	}
}

// Print writes the report as a table for people.
func (r ServersReport) Print(out io.Writer) error {
	fmt.Fprintf(out, "postgres+milvus, %d cores, %s, %d clients", r.Machine.Cores, r.Data, r.Clients)
	if len(r.ServerCores) > 0 {
		fmt.Fprintf(out, ", each server on one core of %v", r.ServerCores)
	}
	if r.StoreCores != "" {
		fmt.Fprintf(out, ", stores on the cores %s", r.StoreCores)
	}
	fmt.Fprint(out, "\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "servers\trecalls a second\tto one server\tp50 ms\tp95 ms\tp99 ms\t"+
		"CPU ms a recall: servers\tPostgres\tMilvus\tbench\tcores used\t")
	for _, row := range r.Rows {
		_, _, rate := r.Rows[0].Recall.Ratios(row.Recall)
		sum := 0.0
		for _, ms := range row.CPU {
			sum += ms
		}
		fmt.Fprintf(w, "%d\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n",
			row.Servers, row.Recall.PerSecond, rate, row.Recall.P50, row.Recall.P95, row.Recall.P99,
			row.CPU["servers"], row.CPU["Postgres"], row.CPU["Milvus"], row.CPU["bench"], sum/1000*row.Recall.PerSecond)
	}
	return w.Flush()
}
