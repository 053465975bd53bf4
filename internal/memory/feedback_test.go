package memory

import (
	"testing"
	"time"
)

func TestRecallID_TellsWhoseRecallItIs(t *testing.T) {
	t.Parallel()
	ada, bob := Owner{AppID: "a", UserID: "ada"}, Owner{AppID: "a", UserID: "bob"}
	namesake := Owner{AppID: "b", UserID: "ada"}
	seen := map[string]bool{}
	for range 1000 {
		id := NewRecallID(ada)
		if !IsID(id) || !IsRecallOf(id, ada) || IsRecallOf(id, bob) || IsRecallOf(id, namesake) || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
	for _, id := range []string{"", "x", NewID()} {
		if IsRecallOf(id, ada) {
			t.Error(id)
		}
	}
}

func TestMadeAt_IsTheTimeInTheID(t *testing.T) {
	t.Parallel()
	if got := MadeAt("0198c0de-0000-7000-8000-000000000001"); !got.Equal(time.UnixMilli(0x0198c0de0000)) {
		t.Error(got)
	}
	for _, id := range []string{"", "0198c0de-0000-4000-8000-000000000001"} {
		if !MadeAt(id).IsZero() {
			t.Error(id)
		}
	}
}
