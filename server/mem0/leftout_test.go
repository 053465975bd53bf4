package mem0_test

import (
	"fmt"
	"testing"
)

// An addition names what is not kept of its messages, in the answer and in its event.
func TestAdd_NamesWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	messages := []any{
		map[string]any{"role": "system", "content": "Be brief."},
		map[string]any{"role": "user", "content": "I live in Lisbon."},
	}
	want := "[map[characters:8 message:0 reason:role]]"
	for _, infer := range []bool{true, false} {
		a := f.want("POST", "/mem0/v3/memories/add/", map[string]any{
			"messages": messages, "user_id": "ada", "infer": infer, "async_mode": false,
		})
		if got := fmt.Sprint(a.object["left_out"]); got != want {
			t.Errorf("infer %t: %s", infer, a.raw)
		}
		if infer {
			event := f.want("GET", fmt.Sprintf("/mem0/v1/event/%s/", a.object["event_id"]), nil)
			same(t, "left out of the event", fmt.Sprint(event.object["left_out"]), want)
		}
	}
	a := f.want("POST", "/mem0/v1/memories/", map[string]any{
		"messages": messages, "user_id": "bob", "output_format": "v1.1",
	})
	same(t, "left out of results", fmt.Sprint(a.object["left_out"]), want)
}
