package evolution

import "testing"

// Requests are the same if they have the same words, but for courtesies, or ask for the same manner.
func TestKeyOf_TellsRequestsApart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"Please keep your answers short.", "Keep your answers brief, please!", true},
		{"No, use metric units.", "Use metric units please", true},
		{"Never call me Ms Lovelace.", "And please never call me Ms Lovelace", true},
		{"以后叫我老王", "以后叫我老王。", true},
		{"Please keep your answers short.", "From now on, give me long answers.", false},
		{"Use metric units.", "Use imperial units.", false},
		{"Never call me Ms Lovelace.", "Never call me captain.", false},
		{"以后叫我老王", "以后叫我老李", false},
	} {
		if same := keyOf(test.a) == keyOf(test.b); same != test.same {
			t.Errorf("%q and %q: %v", test.a, test.b, same)
		}
	}
}
