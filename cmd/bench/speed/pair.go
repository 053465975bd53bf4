package speed

import "hippocampus/cmd/bench/measure"

// Pair is the server and its floor, measured alternately in one run.
type Pair struct {
	Name     string         `json:"name"`
	Data     string         `json:"data"`
	Clients  int            `json:"clients"`
	Floor    measure.Sample `json:"floor"`
	OverHTTP measure.Sample `json:"floor_over_http,omitzero"` // as a handler of net/http without checks and answers
	Server   measure.Sample `json:"server"`
}

// Ratios of the server to its floor: a time above 1 is slower, and so is a rate below 1.
func (p Pair) Ratios() (p50, p95, rate float64) { return p.Floor.Ratios(p.Server) }
