package config

import (
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

func TestLoad_NamesEveryWrongSetting(t *testing.T) {
	t.Parallel()
	_, err := Load(Sources{
		Env:   []string{"HIPPOCAMPUS_RECALL_LIMT=3"},
		Flags: map[string]string{"gate.threshold": "abc", "recall.limit": "-4", "gate.tresholt": "1"},
	})
	if !memory.IsKind(err, memory.KindInvalid) || !strings.HasPrefix(err.Error(), "4 settings are wrong: ") {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{
		"HIPPOCAMPUS_RECALL_LIMIT?", `gate.threshold is "abc"`, "recall.limit is -4", "did you mean gate.threshold?",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not contain %q", err, want)
		}
	}
}
