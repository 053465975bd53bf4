package assembly

import "math"

// Room is what a context may take up.
type Room struct {
	Model    string // as the request names it; empty: none
	Known    bool   // models.json has it
	Window   int    // of prompt and answer together, in what the Counter counts
	Response int    // of the window, kept for the answer
	Counter  Counter

	Estimated bool // the model's own tokens are not known
}

// Budget is what the context itself may take up.
func (r Room) Budget() int { return r.Window - r.Response }

// Characters is a room of so many characters, of which a share is kept for the answer.
func Characters(window int, response float64) Room {
	return Room{Window: window, Response: part(window, response)}
}

// Tokens is a room of so many tokens, counted in o200k_base.
func Tokens(window int, response float64) Room {
	return Room{Window: window, Response: part(window, response), Counter: Model{}.counter()}
}

// ModelRoom is the room of a model, of which a share is kept for the answer; 0:
// the model's own reserve. Where most tokens are given (above 0) it is no more
// than these, and the share is of them.
func ModelRoom(name string, most int, response float64) Room {
	m, ok := Find(name)
	r := Room{Model: name, Known: ok, Window: m.Window, Counter: m.counter(), Estimated: m.Estimated()}
	if own := m.Window - m.Reserve(); most > 0 {
		r.Window = min(most, own)
		r.Response = part(r.Window, response)
	} else if r.Response = m.Reserve(); response > 0 {
		r.Response = part(m.Window, response)
	}
	return r
}

// part is a share of a whole, rounded up.
func part(whole int, share float64) int { return int(math.Ceil(float64(whole)*share - 1e-9)) }
