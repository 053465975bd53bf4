package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/server/config"
)

func TestRecallSettings_LeaveOutEachNamedPart(t *testing.T) {
	t.Parallel()
	whole := recallSettings(config.Default())
	for name := range rankingParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Load(config.Sources{Flags: map[string]string{"recall.without": name}})
			if err != nil {
				t.Fatalf("a part of the ranking cannot be left out by its name: %v", err)
			}
			if cmp.Equal(whole, recallSettings(cfg)) {
				t.Errorf("recall.without=%s changes nothing", name)
			}
		})
	}
	cfg := config.Default()
	cfg.Recall.Without = "words,route"
	both := recallSettings(cfg)
	if both.Words != 0 || both.Cues.Route != 0 {
		t.Errorf("two parts are left out as words %v and route %v, not 0 and 0", both.Words, both.Cues.Route)
	}
}
