// Package speed compares a server with a floor, alternately on the same stores and
// data in one run, so that other work of the machine affects both:
//
//	recall   one filtered Milvus search for 50 ids, one SELECT    |  POST /v1/recall
//	write    one INSERT transaction, one Milvus Insert            |  POST /v1/memories
//	turn     one INSERT                                           |  POST /v1/turns
//
// The embedder is the built-in one or an instant endpoint. Each query and each user
// is recalled once before the measurement, so that it includes only the server's own
// work. The report also has the times of these first recalls.
package speed

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// Options of a measurement.
type Options struct {
	Size     target.Size
	Data     []content.Data
	Clients  []int
	Replicas int           // servers on the same stores, called in turn
	Slice    time.Duration // duration of one round of one side
	Rounds   int           // rounds of each side
	Rest     time.Duration // longest wait for an idle machine after a load; 0: 10 minutes
	Pause    time.Duration // of RunAfterTurns, between two turns
	Dim      int           // numbers in an embedding from an instant endpoint; 0: the built-in embedder
	Settings []string
	Progress io.Writer
}

// Report is the result of a measurement.
type Report struct {
	Size     string          `json:"size"`
	Machine  measure.Machine `json:"machine"`
	Settings []string        `json:"settings,omitempty"`
	Replicas int             `json:"replicas"`
	Loads    []Load          `json:"loads"`
	Pairs    []Pair          `json:"pairs"`
}

const queries = 1000 // distinct queries

// bench is one server with its floor.
type bench struct {
	Options
	server *target.Server // the first replica
	all    target.Servers // all replicas
	floor  *floor         // nil on the small size, whose stores have no other client
	report *Report
}

// Run measures every size of data, each on new stores.
func Run(ctx context.Context, o Options) (report Report, err error) {
	report = Report{Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings, Replicas: o.Replicas}
	for _, data := range o.Data {
		if err := measureData(ctx, o, data, &report); err != nil {
			return report, err
		}
	}
	return report, nil
}

func measureData(ctx context.Context, o Options, data content.Data, report *Report) (err error) {
	settings := o.Settings
	if o.Dim > 0 {
		embeddings := target.NewEmbeddings(o.Dim)
		defer embeddings.Close()
		settings = append(embeddings.Settings(), settings...)
	}
	servers, err := target.StartServers(ctx, target.Options{Size: o.Size, Settings: settings}, o.Replicas, nil)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, servers.Close()) }()
	server := servers[0]
	b := &bench{Options: o, server: server, all: servers, report: report}
	if err := b.load(ctx, data); err != nil {
		return fmt.Errorf("%w\n%s", err, server.Log())
	}
	if o.Size == target.Large {
		if b.floor, err = openFloor(ctx, server.Stores); err != nil {
			return err
		}
		defer b.floor.close()
		if err := b.floor.prepareWrites(ctx); err != nil {
			return err
		}
	}
	last := &report.Loads[len(report.Loads)-1]
	if b.floor != nil {
		if last.Floor, err = b.loadFloor(ctx, data); err != nil {
			return fmt.Errorf("floor of loading: %w", err)
		}
		if _, err := measure.Rest(ctx, b.Rest, b.Progress); err != nil {
			return err
		}
	}
	if err := b.pairs(ctx, data); err != nil {
		return fmt.Errorf("%w\n%s", err, server.Log())
	}
	last.Memory, err = server.Memory()
	return err
}

// pick draws the user and the query of the n-th recall.
func pick(data content.Data, n int) (user, query string) {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	return data.User(random.IntN(data.Users)), data.Query(random.IntN(queries))
}

// recall sends recalls to all servers in turn.
func (b *bench) recall(data content.Data) func(ctx context.Context, n int) error {
	return func(ctx context.Context, n int) error {
		user, query := pick(data, n)
		ask := target.Body(map[string]any{"user_id": user, "query": query})
		_, err := b.all[n%len(b.all)].Do(ctx, "POST", "/v1/recall", ask)
		return err
	}
}

func (b *bench) pairs(ctx context.Context, data content.Data) (err error) {
	bare := func(ctx context.Context, n int) error {
		user, query := pick(data, n)
		return b.floor.recall(ctx, user, query)
	}
	if err := b.meet(ctx, data); err != nil {
		return err
	}
	over := &overHTTP{}
	if b.floor != nil {
		if over, err = startFloor(ctx, b.server.Stores); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, over.close()) }()
	}
	for _, clients := range b.Clients {
		if err := b.pair(ctx, "recall", data, clients, bare, func(ctx context.Context, n int) error {
			user, query := pick(data, n)
			return over.recall(ctx, user, query)
		}, b.recall(data)); err != nil {
			return err
		}
	}
	fresh := func(n int) target.Memory { return data.Memory(n%data.Users, 1_000_000+n) }
	if err := b.pair(ctx, "write", data, 1, func(ctx context.Context, n int) error {
		return b.floor.write(ctx, fresh(n))
	}, nil, func(ctx context.Context, n int) error {
		_, err := b.server.Do(ctx, "POST", "/v1/memories", target.Body(fresh(n)))
		return err
	}); err != nil {
		return err
	}
	messages := func(n int) []map[string]string {
		return []map[string]string{{"role": "user", "content": fresh(n).Content}}
	}
	return b.pair(ctx, "turn", data, 1, func(ctx context.Context, n int) error {
		return b.floor.turn(ctx, data.User(n%data.Users), string(target.Body(messages(n))))
	}, func(ctx context.Context, n int) error {
		return over.turn(ctx, data.User(n%data.Users), string(target.Body(messages(n))))
	}, func(ctx context.Context, n int) error {
		turn := map[string]any{"user_id": data.User(n % data.Users), "messages": messages(n)}
		_, err := b.server.Do(ctx, "POST", "/v1/turns", target.Body(turn))
		return err
	})
}

// pair measures the server, its floor, and the floor over HTTP if it is not nil, alternately.
func (b *bench) pair(
	ctx context.Context, name string, data content.Data, clients int, floor, over, server func(context.Context, int) error,
) error {
	fmt.Fprintf(b.Progress, "%s by %d clients, %s\n", name, clients, data)
	// Each request has a unique number, so that each writes a new memory.
	var next atomic.Int64
	var measured, warmUp struct{ bare, handled, server measure.Times }
	for round := range b.Rounds + 1 {
		m, slice := &measured, b.Slice
		if round == 0 {
			m, slice = &warmUp, b.Slice/4
		}
		if b.floor != nil {
			if err := m.bare.Run(ctx, clients, slice, &next, floor); err != nil {
				return fmt.Errorf("floor of %s: %w", name, err)
			}
		}
		if b.floor != nil && over != nil {
			if err := m.handled.Run(ctx, clients, slice, &next, over); err != nil {
				return fmt.Errorf("floor of %s over HTTP: %w", name, err)
			}
		}
		before, err := b.cpu()
		if err != nil {
			return err
		}
		if err := m.server.Run(ctx, clients, slice, &next, server); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		after, err := b.cpu()
		if err != nil {
			return err
		}
		m.server.CPU += after - before
	}
	b.report.Pairs = append(b.report.Pairs, Pair{
		Name: name, Data: data.String(), Clients: clients,
		Floor: measured.bare.Sample(), OverHTTP: measured.handled.Sample(), Server: measured.server.Sample(),
	})
	return nil
}

// cpu is the processor time of all replicas.
func (b *bench) cpu() (sum time.Duration, err error) {
	for _, replica := range b.all {
		used, err := replica.CPU()
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}
