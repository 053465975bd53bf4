package speed

import (
	"context"
	"fmt"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// Load is the result of filling a server.
type Load struct {
	Data      string  `json:"data"`
	Memories  int     `json:"memories"`
	PerSecond float64 `json:"per_second"` // into both stores
	CPU       float64 `json:"cpu_ms_per_memory"`
	Rest      float64 `json:"rest_seconds,omitzero"`     // until the stores were idle
	Floor     float64 `json:"floor_per_second,omitzero"` // one COPY and one Insert for each batch

	Database int64 `json:"database_bytes"` // see target.Stores.DatabaseBytes

	Memory measure.Memory `json:"memory"` // of the server, at the end
}

// loadFloor measures how many memories a second the bare clients load.
func (b *bench) loadFloor(ctx context.Context, data content.Data) (float64, error) {
	const (
		most  = 30 // batches, which are made beforehand
		batch = target.Batch
	)
	memories := min(data.Memories(), most*batch)
	batches := make([][]fresh, 0, most)
	for i := range memories {
		if i%batch == 0 {
			batches = append(batches, nil)
		}
		last := &batches[len(batches)-1]
		*last = append(*last, b.floor.fresh(data.Memory(i/data.Each, i%data.Each)))
	}
	begin := time.Now()
	err := b.floor.load(ctx, batches)
	return float64(memories) / time.Since(begin).Seconds(), err
}

// load fills the server through its own API.
func (b *bench) load(ctx context.Context, data content.Data) error {
	fmt.Fprintf(b.Progress, "loading %s\n", data)
	begin := time.Now()
	before, err := b.server.CPU()
	if err != nil {
		return err
	}
	if err := b.server.Load(ctx, data.All()); err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := b.server.CPU()
	if err != nil {
		return err
	}
	bytes, err := b.server.Stores.DatabaseBytes(ctx)
	if err != nil {
		return err
	}
	n := data.Memories()
	b.report.Loads = append(b.report.Loads, Load{
		Data: data.String(), Memories: n, PerSecond: float64(n) / took.Seconds(),
		CPU: float64((after - before).Microseconds()) / 1000 / float64(n), Database: bytes,
	})
	rested, err := measure.Rest(ctx, b.Rest, b.Progress)
	b.report.Loads[len(b.report.Loads)-1].Rest = rested.Seconds()
	return err
}
