package scorer

import (
	"os"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// The gate keeps statements that end or reverse an earlier one, and most statements that may end one.
func TestRules_KeepWhatChanges(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("attribute/testdata/changes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	kept, all := map[string]float64{}, map[string]float64{}
	for line := range strings.Lines(string(file)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if f[1] != "changes" {
			continue
		}
		for i, when := range []string{"older", "newer"} {
			facts, err := NewRules().Score(t.Context(), memory.Turn{
				Messages: []memory.Message{{Role: memory.RoleUser, Content: f[2+i]}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			all[when]++
			if len(facts) > 0 && facts[0].Importance >= weakest {
				kept[when]++
			} else {
				t.Logf("%s is not kept: %s", when, f[2+i])
			}
		}
	}
	for when, least := range map[string]float64{"older": 0.9, "newer": 0.95} {
		t.Logf("%s: %.0f of %.0f kept", when, kept[when], all[when])
		if kept[when] < least*all[when] {
			t.Errorf("%s: %.0f of %.0f kept", when, kept[when], all[when])
		}
	}
}

const weakest = 0.7 // the default threshold of the gate
