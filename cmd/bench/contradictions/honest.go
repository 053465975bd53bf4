package contradictions

import (
	"context"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
)

// honest is a judge that knows a pair, and keeps all other memories. It is called by one goroutine at a time.
type honest struct {
	pair  Pair
	asked bool // about the pair

	calls, memories int
}

func (h *honest) Judge(_ context.Context, draft memory.Memory, near []memory.Memory) ([]judge.Verdict, error) {
	h.calls++
	h.memories += len(near)
	verdicts := make([]judge.Verdict, len(near))
	for i, m := range near {
		verdicts[i] = judge.Verdict{Decision: judge.KeepBoth, Why: "each is true"}
		if m.Content != h.pair.Older || draft.Content != h.pair.Newer {
			continue
		}
		h.asked = true
		if h.pair.Contradicts {
			verdicts[i] = judge.Verdict{Decision: judge.Replace, Relation: memory.Contradicts}
		}
	}
	return verdicts, nil
}
