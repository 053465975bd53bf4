package grounding_test

import (
	"strings"
	"testing"
	"time"

	"hippocampus/internal/grounding"
	"hippocampus/internal/grounding/claimtest"
)

func TestOpposes_TellsTheOppositeFromWhatWasSaid(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)
	claimtest.CheckOpposites(t, func(sources []string, claim string) string {
		var lines []grounding.Line
		for _, said := range sources {
			by, words, _ := strings.Cut(said, ": ")
			lines = append(lines, grounding.Line{
				Source: grounding.Source{Text: words, At: at}, Assistant: by == "assistant",
			})
		}
		return grounding.ReadAccount(lines...).Opposes(claim)
	})
}
