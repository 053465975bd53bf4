package speed

import (
	"errors"
	"fmt"
	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
)

// limit bounds the ratios of a pair to its floor; 0: no bound.
type limit struct {
	name      string
	clients   int
	p50, p95  float64 // at most
	perSecond float64 // at least
}

// limitsOf returns the targets on Postgres and Milvus, relative to the floor.
func limitsOf(d content.Data) []limit {
	switch {
	case d.Each == 10_000:
		return []limit{{name: "recall", clients: 1, p50: 1.5}}
	case d.Each == 1000, d.Each == 100 && d.Memories() == 100_000:
		return []limit{
			{name: "recall", clients: 1, p50: 1.25, p95: 1.5},
			{name: "recall", clients: 8, perSecond: 0.75},
			{name: "write", clients: 1, p50: 1.3},
			{name: "turn", clients: 1, p50: 1.5},
		}
	}
	return nil
}

// The targets without a floor.
const (
	minLoadRate   = 5000      // memories a second into both stores
	maxMemory     = 150 << 20 // bytes of the server's memory without mapped files; see measure.Memory.Own
	maxGrowth     = 2         // of a recall's p95, from 10,000 memories to 1,000,000
	minSmallWrite = 500       // writes a second on SQLite
)

// smallRecall bounds the p50 of a recall on SQLite, in milliseconds, by the user's number of memories.
var smallRecall = map[int]float64{1000: 4, 10_000: 15}

// largeRecall bounds the same on Postgres and Milvus.
var largeRecall = map[int]float64{100_000: 30}

// The other targets on SQLite.
const (
	smallSpread = 3  // of the p99 of recalls to their p50
	smallFirst  = 60 // p50 in milliseconds of the first recall of a user with 10,000 memories
)

// Check returns an error that lists every missed target.
func (r Report) Check() error {
	var c misses
	p95 := map[int]float64{} // of one client's recalls, by number of memories
	for _, p := range r.Pairs {
		d, err := content.Of(p.Data)
		switch {
		case err != nil:
			return err
		case r.Size == "sqlite":
			c.small(p, d)
		default:
			c.ratios(p, limitsOf(d))
			if most, limited := largeRecall[d.Each]; limited && isRecall(p) && p.Server.P50 >= most {
				c.miss("recall, %s: p50 is %.1f ms, not below %.0f", p.Data, p.Server.P50, most)
			}
		}
		if isRecall(p) {
			p95[d.Memories()] = p.Server.P95
		}
	}
	if few, many := p95[10_000], p95[1_000_000]; few > 0 && many > maxGrowth*few {
		c.miss("recall: p95 at 1,000,000 memories is %.2f times that at 10,000, above %d", many/few, maxGrowth)
	}
	for _, l := range r.Loads {
		c.memory(l.Data, l.Memory)
		if r.Size == "postgres+milvus" && l.Memories >= 10_000 && l.PerSecond < minLoadRate {
			c.miss("%s: %.0f memories a second were loaded, below %d", l.Data, l.PerSecond, minLoadRate)
		}
	}
	return errors.Join(c...)
}

// isRecall reports whether a pair is that of recalls by one client.
func isRecall(p Pair) bool { return p.Name == "recall" && p.Clients == 1 }

type misses []error

// memory checks how much memory the server uses. Pages of mapped files count separately: they are the kernel's copies
// of a SQLite file, which it drops when memory is short.
func (m *misses) memory(data string, held measure.Memory) {
	if own := held.Own(); own > maxMemory {
		m.miss("%s: the server holds %d MiB besides mapped files, above %d", data, own>>20, maxMemory>>20)
	}
}

func (m *misses) miss(format string, args ...any) {
	*m = append(*m, fmt.Errorf("missed: "+format, args...))
}

// ratios checks a pair against the targets relative to its floor.
func (m *misses) ratios(p Pair, limits []limit) {
	if p.Floor.Requests == 0 {
		return
	}
	p50, p95, rate := p.Ratios()
	for _, l := range limits {
		if l.name != p.Name || l.clients != p.Clients {
			continue
		}
		if l.p50 > 0 && p50 > l.p50 {
			m.miss("%s by %d clients, %s: p50 is %.2f of the floor's, above %.2f", p.Name, p.Clients, p.Data, p50, l.p50)
		}
		if l.p95 > 0 && p95 > l.p95 {
			m.miss("%s by %d clients, %s: p95 is %.2f of the floor's, above %.2f", p.Name, p.Clients, p.Data, p95, l.p95)
		}
		if rate < l.perSecond {
			m.miss("%s by %d clients, %s: %.2f of the floor's requests a second, below %.2f",
				p.Name, p.Clients, p.Data, rate, l.perSecond)
		}
	}
}

// small checks the measurements on SQLite against their targets.
func (m *misses) small(p Pair, d content.Data) {
	if isRecall(p) {
		m.smallRecall("recall", p.Data, d.Each, p.Server)
	}
	if p.Name == "first recall" && d.Each == 10_000 && p.Server.P50 >= smallFirst {
		m.miss("first recall on SQLite, %s: p50 is %.0f ms, not below %d", p.Data, p.Server.P50, smallFirst)
	}
	if p.Name == "write" && p.Server.PerSecond < minSmallWrite {
		m.miss("write on SQLite, %s: %.0f a second, below %d", p.Data, p.Server.PerSecond, minSmallWrite)
	}
}

// smallRecall checks recalls of users with a number of memories on SQLite.
func (m *misses) smallRecall(name, data string, memories int, s measure.Sample) {
	if most, limited := smallRecall[memories]; limited && (s.P50 >= most || s.P99 >= smallSpread*s.P50) {
		m.miss("%s on SQLite, %s: p50 and p99 are %.1f and %.1f ms, not below %.0f and %d times p50",
			name, data, s.P50, s.P99, most, smallSpread)
	}
}
