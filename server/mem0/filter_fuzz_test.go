package mem0

import (
	"encoding/json"
	"testing"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
)

// Any filter becomes filters of /v1 for the users whom it names, or is refused as invalid.
func FuzzScopeOf(f *testing.F) {
	for _, seed := range []string{
		`{"user_id":"ada"}`, `{"AND":[{"user_id":"ada"},{"OR":[{"agent_id":"x"},{"run_id":"*"}]}]}`,
		`{"NOT":{"user_id":"a"}}`,
		`{"user_id":"ada","created_at":{"gte":"2026-01-31","lt":7e9}}`, `{"user_id":"ada","metadata":{"a":{"nin":[1]}}}`,
		`{"user_id":"ada","categories":["food"],"keywords":{"icontains":"tea"}}`, `{"user_id":"\ud800"}`, `[`, ``,
	} {
		f.Add("", seed)
	}
	for _, unit := range []string{`{"AND":[`, `{"NOT":{`, `{"user_id":"a"},`, `"a",`, `"k":1,`, `[`} {
		f.Add(`{"user_id":"ada","OR":[`, unit)
		f.Add(`{"user_id":["ada",`, unit)
		f.Add(`{"user_id":"ada","metadata":{`, unit)
	}
	read := func(text, tail string, dialect form) (scope, error) {
		return (&call{app: "mine", form: dialect}).scopeOf(fields{"filters": []byte(text + tail)})
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		for _, dialect := range []form{v3, own} {
			s, err := read(head+unit, "", dialect)
			if err != nil && !memory.IsKind(err, memory.KindInvalid) {
				t.Fatalf("%q: %v", head+unit, err)
			}
			if len(s.users) > maxUsers {
				t.Fatalf("%q reads %d users", head+unit, len(s.users))
			}
			for _, p := range s.users {
				if _, err := json.Marshal(p.filter); err != nil || p.user == "" {
					t.Fatalf("%q becomes %v of %q: %v", head+unit, p.filter, p.user, err)
				}
			}
		}
		growthtest.Check(t, head, unit, func(text string) {
			for _, tail := range []string{"", `{}]}`, `"z"]}`, `"z":1}}`} { // may complete the filter
				_, _ = read(text, tail, v3)
			}
		})
	})
}
