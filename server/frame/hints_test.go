package frame

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

func TestHintAt_NamesWhatWasMeant(t *testing.T) {
	t.Parallel()
	recall := []string{"limit", "query", "user_id", "min_confidence", "since", "until", "conversation_id"}
	write := []string{"at", "content", "conversation_id", "importance", "user_id"}
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"userId", recall, ": did you mean user_id?"},
		{"User-ID", recall, ": did you mean user_id?"},
		{"top_k", recall, ": did you mean limit?"},
		{"text", recall, ": did you mean query?"},
		{"text", write, ": did you mean content?"},
		{"thread_id", write, ": did you mean conversation_id?"},
		{"qurey", recall, ": did you mean query?"},
		{"messages", write, ": a list of messages is a turn, send it to POST /v1/turns"},
		{"messages", recall, ""},
		{"colour", recall, ""},
		{"limit" + strings.Repeat("t", 64), recall, ""},
		{"", recall, ""},
	} {
		if got := hintAt(c.name, c.known); got != c.want {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestUnknownParameters_AreNamedUpToABound(t *testing.T) {
	t.Parallel()
	query := url.Values{"limit": {"1"}, "Limit": {"1"}}
	for i := range 10 * memory.MaxFields {
		query.Set(fmt.Sprintf("z%d", i), "1")
	}
	faults := unknownParameters(query, []string{"cursor", "limit"})
	want := memory.Field{Path: "query.Limit", Message: "is not a known parameter: did you mean limit?"}
	if len(faults) != memory.MaxFields || faults[0] != want {
		t.Errorf("%d faults, first %+v", len(faults), faults[0])
	}
}

func TestOtherNames_AreNoneOfOurs(t *testing.T) {
	t.Parallel()
	for other, ours := range otherNames {
		if other != withoutSeparators(other) {
			t.Errorf("%q is not written without separators", other)
		}
		for _, name := range ours {
			if withoutSeparators(name) == other && name == other {
				t.Errorf("%q is our own name", other)
			}
		}
	}
}
