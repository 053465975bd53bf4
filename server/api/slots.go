package api

import "hippocampus/server/frame"

// slots bound how many requests of each kind run at a time, so that no kind takes the time of the others. Reads by id,
// lists, deletions and requests of operators are not bounded.
type slots struct {
	recalls   *frame.Slots // contexts and searches for related memories also
	turns     *frame.Slots // until the turn is stored; it waits for a worker without one
	writes    *frame.Slots // of memories, without a turn
	exchanges *frame.Slots // whole exports and imports
}

// exchanges is how many exports and imports run at a time. The others wait for their clients often.
const exchanges = 8

// exchangesLimit is the bound of exports and imports, which is no setting.
const exchangesLimit = "exchanges"

// The bounds of slots that are settings.
const (
	recallsLimit = "api.max_inflight"
	turnsLimit   = "api.max_inflight_turns"
	writesLimit  = "api.max_inflight_writes"
)

func newSlots(o Options) slots {
	return slots{
		recalls:   frame.NewSlots(o.MaxInflight, "recalls and contexts", recallsLimit),
		turns:     frame.NewSlots(o.MaxInflightTurns, "turns to store", turnsLimit),
		writes:    frame.NewSlots(o.MaxInflightWrites, "direct writes", writesLimit),
		exchanges: frame.NewSlots(exchanges, "exports and imports", exchangesLimit),
	}
}
