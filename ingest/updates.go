package ingest

import (
	"context"
	"strings"

	"hippocampus/internal/memory"
)

// keepUpdates gives the verdict kept to facts under the gate that replace what an active fact of the user says, by
// rules: "The user lives in Groningen" after "The user lives in Utrecht", whatever importance a model gives it. The
// former fact would stay active else.
func (s *Service) keepUpdates(ctx context.Context, r reading, candidates []memory.Candidate) error {
	for i := range candidates {
		c := &candidates[i]
		if c.Verdict != memory.BelowThreshold || !strings.HasPrefix(c.Reason, becauseImportance) {
			continue
		}
		if _, isEcho := r.echoes.find(c.Content); isEcho {
			continue
		}
		why, err := s.Writer.Replaces(ctx, factOf(*c, r.turn))
		if err != nil {
			return err
		}
		if why != "" {
			c.Verdict, c.Reason = memory.Kept, "kept under the gate: "+why
		}
	}
	return nil
}
