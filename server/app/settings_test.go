package app

import (
	"testing"
	"time"

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
			sameZone := cmp.Comparer(func(a, b *time.Location) bool { return a == b })
			if cmp.Equal(whole, recallSettings(cfg), sameZone) {
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

func TestMaxInflight_DependsOnCoresAndModels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   func(*config.Config)
		cores int
		want  int
	}{
		{name: "one core", cores: 1, want: 2},
		{name: "eight cores", cores: 8, want: 8},
		{name: "an embedder at an endpoint", cores: 2, want: 128, set: func(c *config.Config) { c.Embedding.APIKey = "k" }},
		{name: "a router at an endpoint", cores: 2, want: 128, set: func(c *config.Config) { c.Chat.APIKey = "k" }},
		{name: "a setting", cores: 2, want: 7, set: func(c *config.Config) { c.API.MaxInflight = 7 }},
	} {
		cfg := config.Default()
		if c.set != nil {
			c.set(&cfg)
		}
		if got := maxInflight(cfg, c.cores); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
