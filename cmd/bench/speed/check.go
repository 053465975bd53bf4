package speed

import (
	"errors"
	"fmt"
	"hippocampus/cmd/bench/content"
)

// limit bounds the ratios of a pair to its floor; 0: no bound.
type limit struct {
	name      string
	clients   int
	p50, p95  float64 // at most
	perSecond float64 // at least
}

// limits are the targets for 100,000 memories on Postgres and Milvus.
var limits = []limit{
	{name: "recall", clients: 1, p50: 1.25, p95: 1.5},
	{name: "recall", clients: 8, perSecond: 0.75},
	{name: "write", clients: 1, p50: 1.3},
	{name: "turn", clients: 1, p50: 1.5},
}

// The targets without a floor.
const (
	minLoadRate   = 5000      // memories a second into both stores
	maxResident   = 150 << 20 // bytes
	maxGrowth     = 2         // of a recall's p95, from 10,000 memories to 1,000,000
	minSmallWrite = 500       // writes a second on SQLite
)

// smallRecall is the greatest p50 of a recall on SQLite, in milliseconds, by the
// user's number of memories.
var smallRecall = map[int]float64{1000: 5, 10_000: 25}

// Check is an error that lists every target that was missed.
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
		case d.Memories() == 100_000:
			c.ratios(p)
		}
		if p.Name == "recall" && p.Clients == 1 {
			p95[d.Memories()] = p.Server.P95
		}
	}
	if few, many := p95[10_000], p95[1_000_000]; few > 0 && many > maxGrowth*few {
		c.miss("recall: p95 at 1,000,000 memories is %.2f times that at 10,000, above %d", many/few, maxGrowth)
	}
	for _, l := range r.Loads {
		if l.Resident > maxResident {
			c.miss("%s: %d MiB resident, above %d", l.Data, l.Resident>>20, maxResident>>20)
		}
		if r.Size == "postgres+milvus" && l.Memories >= 10_000 && l.PerSecond < minLoadRate {
			c.miss("%s: %.0f memories a second were loaded, below %d", l.Data, l.PerSecond, minLoadRate)
		}
	}
	return errors.Join(c...)
}

type misses []error

func (m *misses) miss(format string, args ...any) {
	*m = append(*m, fmt.Errorf("missed: "+format, args...))
}

// ratios checks a pair against the targets relative to its floor.
func (m *misses) ratios(p Pair) {
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
	if most, limited := smallRecall[d.Each]; limited && p.Name == "recall" && p.Clients == 1 && p.Server.P50 >= most {
		m.miss("recall on SQLite, %s: p50 is %.1f ms, not below %.0f", p.Data, p.Server.P50, most)
	}
	if p.Name == "write" && p.Server.PerSecond < minSmallWrite {
		m.miss("write on SQLite, %s: %.0f a second, below %d", p.Data, p.Server.PerSecond, minSmallWrite)
	}
}
