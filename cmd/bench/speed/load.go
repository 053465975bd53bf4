package speed

import (
	"context"
	"fmt"
	"time"

	"hippocampus/cmd/bench/target"
)

// Load is the result of filling a server.
type Load struct {
	Data      string  `json:"data"`
	Memories  int     `json:"memories"`
	PerSecond float64 `json:"per_second"` // into both stores
	Resident  int64   `json:"resident_bytes"`
	CPU       float64 `json:"cpu_ms_per_memory"`
	Rest      float64 `json:"rest_seconds,omitzero"`     // until the stores were idle
	Floor     float64 `json:"floor_per_second,omitzero"` // one COPY and one Insert for each batch
}

// batch is how many memories one request loads.
const batch = 1000

// loadFloor measures how many memories a second the bare clients load.
func (b *bench) loadFloor(ctx context.Context, data Data) (float64, error) {
	const most = 30 // batches, which are made beforehand
	memories := min(data.memories(), most*batch)
	batches := make([][]fresh, 0, most)
	for i := range memories {
		if i%batch == 0 {
			batches = append(batches, nil)
		}
		last := &batches[len(batches)-1]
		*last = append(*last, b.floor.fresh(data.memory(i/data.Each, i%data.Each)))
	}
	begin := time.Now()
	err := b.floor.load(ctx, batches)
	return float64(memories) / time.Since(begin).Seconds(), err
}

// load fills the server through its own API.
func (b *bench) load(ctx context.Context, data Data) error {
	fmt.Fprintf(b.Progress, "loading %s\n", data)
	begin := time.Now()
	before, err := b.server.CPU()
	if err != nil {
		return err
	}
	part := make([]target.Memory, 0, batch)
	for i := range data.Users {
		for j := range data.Each {
			if part = append(part, data.memory(i, j)); len(part) < batch && (i < data.Users-1 || j < data.Each-1) {
				continue
			}
			if _, err := b.server.Write(ctx, part); err != nil {
				return err
			}
			part = part[:0]
		}
	}
	if err := b.server.Settle(ctx); err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := b.server.CPU()
	if err != nil {
		return err
	}
	n := data.memories()
	b.report.Loads = append(b.report.Loads, Load{
		Data: data.String(), Memories: n, PerSecond: float64(n) / took.Seconds(),
		CPU: float64((after - before).Microseconds()) / 1000 / float64(n),
	})
	rested, err := b.rest(ctx)
	b.report.Loads[len(b.report.Loads)-1].Rest = rested.Seconds()
	return err
}
