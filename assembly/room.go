package assembly

import (
	"math"

	"hippocampus/internal/memory"
)

// Room is the space for a context.
type Room struct {
	Model    string // by the name in the request; may be empty
	Known    bool   // models.json has it
	Window   int    // of prompt and answer, in the unit of the Counter
	Response int    // part of the window that is reserved for the answer
	Counter  Counter

	Estimated bool // the model's encoding is not known
}

// Budget is the greatest size of the context.
func (r Room) Budget() int { return r.Window - r.Response }

// The size of a short memory with its line.
const (
	shortTokens     = 16
	shortCharacters = 50
)

// Memories is how many memories to recall for the room: as many as fit if all are
// short, at most memory.MaxLimit.
func (r Room) Memories() int {
	short := shortTokens
	if r.Counter.Encoding == "" {
		short = shortCharacters
	}
	return min(r.Budget()/short, memory.MaxLimit)
}

// Characters is a room in characters; the share response is reserved for the answer.
func Characters(window int, response float64) Room {
	return Room{Window: window, Response: part(window, response)}
}

// Tokens is a room in tokens of o200k_base.
func Tokens(window int, response float64) Room {
	return Room{Window: window, Response: part(window, response), Counter: Model{}.counter()}
}

// ModelRoom is the room of a model; the share response is reserved for the answer,
// or the model's reserve if it is 0. If most is above 0, the window is at most that many tokens, and response is a
// share of that window.
func ModelRoom(name string, most int, response float64) Room {
	m, ok := Find(name)
	r := Room{Model: name, Known: ok, Window: m.Window, Counter: m.counter(), Estimated: m.Estimated()}
	switch {
	case most > 0:
		r.Window = min(most, m.Window-m.Reserve())
		r.Response = part(r.Window, response)
	case response > 0:
		r.Response = part(m.Window, response)
	default:
		r.Response = m.Reserve()
	}
	return r
}

// part is a share of a whole, rounded up.
func part(whole int, share float64) int { return int(math.Ceil(float64(whole)*share - 1e-9)) }
