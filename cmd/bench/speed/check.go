package speed

import (
	"errors"
	"fmt"
)

// limit is what a pair's ratios to the floor may be at most, or at least; 0: anything.
type limit struct {
	name      string
	clients   int
	p50, p95  float64 // at most
	perSecond float64 // at least
}

// limits are the targets, for 100,000 memories on Postgres and Milvus.
var limits = []limit{
	{name: "recall", clients: 1, p50: 1.25, p95: 1.5},
	{name: "recall", clients: 8, perSecond: 0.75},
	{name: "write", clients: 1, p50: 1.3},
	{name: "turn", clients: 1, p50: 1.5},
}

// The targets that need no floor.
const (
	minLoadRate = 5000      // memories a second into both stores
	maxResident = 150 << 20 // bytes
)

// Check is an error that lists every target that was missed.
func (r Report) Check() error {
	var missed []error
	miss := func(format string, args ...any) { missed = append(missed, fmt.Errorf("missed: "+format, args...)) }
	for _, p := range r.Pairs {
		if p.Floor.Requests == 0 {
			continue
		}
		p50, p95, rate := p.Ratios()
		for _, l := range limits {
			if l.name != p.Name || l.clients != p.Clients {
				continue
			}
			if l.p50 > 0 && p50 > l.p50 {
				miss("%s by %d clients, %s: p50 is %.2f of the floor's, above %.2f", p.Name, p.Clients, p.Data, p50, l.p50)
			}
			if l.p95 > 0 && p95 > l.p95 {
				miss("%s by %d clients, %s: p95 is %.2f of the floor's, above %.2f", p.Name, p.Clients, p.Data, p95, l.p95)
			}
			if rate < l.perSecond {
				miss("%s by %d clients, %s: %.2f of the floor's requests a second, below %.2f", p.Name, p.Clients, p.Data, rate, l.perSecond)
			}
		}
	}
	for _, l := range r.Loads {
		if l.Resident > maxResident {
			miss("%s: %d MiB resident, above %d", l.Data, l.Resident>>20, maxResident>>20)
		}
		if r.Size == "postgres+milvus" && l.Memories >= 10_000 && l.PerSecond < minLoadRate {
			miss("%s: %.0f memories a second were loaded, below %d", l.Data, l.PerSecond, minLoadRate)
		}
	}
	return errors.Join(missed...)
}
