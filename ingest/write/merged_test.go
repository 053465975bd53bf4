package write

import (
	"encoding/json"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

func TestMerge_KeepsTheMetadataOfBoth(t *testing.T) {
	t.Parallel()
	long := `{"b":"` + strings.Repeat("x", memory.MaxMetadataBytes-9) + `"}`
	for _, c := range []struct{ name, metadata, more, want string }{
		{"absent", ``, ``, ``},
		{"of one", `{"a":1}`, ``, `{"a":1}`},
		{"of the other", ``, `{"a":"<1>"}`, `{"a":"<1>"}`},
		{"of both", `{"b": 1,"a":1}`, `{"c":3,"a":2}`, `{"a":1,"b":1,"c":3}`},
		{"equal names", `{"b": 1,"a":1}`, `{"a":2}`, `{"b": 1,"a":1}`},
		{"over the limit", `{"a":1}`, long, `{"a":1}`},
	} {
		if got := string(withEntries(json.RawMessage(c.metadata), json.RawMessage(c.more))); got != c.want {
			t.Errorf("%s: %.80s, want %.80s", c.name, got, c.want)
		}
	}
}
