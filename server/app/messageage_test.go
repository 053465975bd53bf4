package app

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// Messages are condensed before they are forgotten.
func TestCompressionSettings_PrecedeForgetting(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*config.Config)
		least  time.Duration
	}{
		"defaults":      {func(*config.Config) {}, 10 * 24 * time.Hour},
		"messages.keep": {func(c *config.Config) { c.Messages.Keep = 4 * 24 * time.Hour }, 2 * 24 * time.Hour},
		"no forgetting": {func(c *config.Config) { c.Forgetting.Threshold = 0 }, 90 * 24 * time.Hour},
		"exponential":   {func(c *config.Config) { c.Forgetting.Policy = "exponential" }, 5 * 24 * time.Hour},
	} {
		cfg := config.Default()
		test.change(&cfg)
		age := compressionSettings(cfg).MessageAge
		start := time.Unix(0, 0)
		fades, never := forgettingSettings(cfg).FadesAt(db.Age{
			Type: memory.TypeMessage, Importance: 0.2, CreatedAt: start, LastAccessedAt: start,
		})
		if age < test.least || !never && age > fades.Sub(start)-24*time.Hour {
			t.Errorf("%s: condensed after %s, forgotten after %s", name, age, fades.Sub(start))
		}
	}
}
