package assembly

// Shares are how a prompt's budget is divided among the parts; they need not
// add up to 1.
type Shares map[Part]float64

// Budget is how a window is divided.
type Budget struct {
	Shares   Shares
	Response float64 // share of the window for the answer, 0..0.9; 0: the model's reserve, if any
}

// The presets, by name.
var presets = map[string]Budget{
	"default": {Shares: Shares{Instructions: 0.10, Facts: 0.20, Memories: 0.30, Conversation: 0.40}},
	"reserve": {Shares: Shares{Instructions: 0.15, Facts: 0.15, Memories: 0.50, Conversation: 0.20}, Response: 0.25},
}

// Preset returns a preset; the empty name is "default".
func Preset(name string) (Budget, bool) {
	if name == "" {
		name = "default"
	}
	b, ok := presets[name]
	return b, ok
}

// Split divides tokens or characters by the shares. The budget of each part is rounded down, and the last part with a
// share gets the rest; if no part has a share, the conversation gets everything.
func (s Shares) Split(budget int) map[Part]int {
	total, last := 0.0, Conversation
	for _, p := range Parts {
		if s[p] > 0 {
			total, last = total+s[p], p
		}
	}
	split, left := map[Part]int{}, budget
	for _, p := range Parts {
		switch {
		case p == last:
			split[p] = left
		case s[p] > 0:
			// The small addend keeps 0.3/1 of 10 at 3.
			split[p] = min(left, int(float64(budget)*s[p]/total+1e-9))
		}
		left -= split[p]
	}
	return split
}
