package api

import (
	"slices"
	"testing"

	"hippocampus/internal/memory"
)

// openapi.yaml lists the kinds of events and relations that exports have, and no others.
func TestContract_ListsTheKindsOfExports(t *testing.T) {
	t.Parallel()
	line := exportLine(t)
	for field, want := range map[string][]string{
		"events":    kindTexts(memory.EventKinds),
		"relations": kindTexts(memory.RelationKinds),
	} {
		kind := line.Properties[field].Value.Items.Value.Properties["kind"].Value
		var got []string
		for _, one := range kind.Enum {
			got = append(got, one.(string))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s have the kinds %q, want %q", field, got, want)
		}
		for _, one := range want {
			if err := kind.VisitJSON(one); err != nil {
				t.Errorf("%s: %v", field, err)
			}
		}
		if kind.VisitJSON("invented") == nil {
			t.Errorf("%s allow an invented kind", field)
		}
	}
}

func kindTexts[T ~string](kinds []T) (texts []string) {
	for _, kind := range kinds {
		texts = append(texts, string(kind))
	}
	return texts
}
