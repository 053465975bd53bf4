package reflection

import (
	"context"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// Tried is the result of Try.
type Tried struct {
	Insights []derivation.Conclusion
	Retire   [][]string // of each insight, the ids of the sources that would retire
	LeftOut  []string   // the refused parts of the answer, with the reasons
}

// Try has a model condense facts as a reflection does, and stores nothing. The facts must have ids.
func Try(ctx context.Context, chat llm.Chat, facts []memory.Memory) (Tried, error) {
	found, err := (&Service{Parts: Parts{Chat: chat}}).askAbout(ctx, facts)
	tried := Tried{LeftOut: found.leftOut}
	for _, in := range found.insights {
		tried.Insights, tried.Retire = append(tried.Insights, in.Conclusion), append(tried.Retire, in.retire)
	}
	return tried, err
}
