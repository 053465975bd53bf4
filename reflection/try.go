package reflection

import (
	"context"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// Tried is an insight that a model made for Try.
type Tried struct {
	derivation.Conclusion
	Retire []string // ids of the sources that would retire
}

// Try has a model condense facts as a reflection does, and stores nothing. The facts must have ids.
func Try(ctx context.Context, chat llm.Chat, facts []memory.Memory) ([]Tried, error) {
	s := &Service{Parts: Parts{Chat: chat}}
	insights, err := s.askAbout(ctx, facts)
	tried := make([]Tried, len(insights))
	for i, in := range insights {
		tried[i] = Tried{Conclusion: in.Conclusion, Retire: in.retire}
	}
	return tried, err
}
