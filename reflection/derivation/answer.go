package derivation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

// Proposal is a statement as the model writes it. A nil field was missing or null.
type Proposal struct {
	Text    *string
	Sources *[]int // numbers of memories, counted from 1
}

// Conclusion is a statement that is derived from memories.
type Conclusion struct {
	Content    string
	Type       memory.Type
	Domain     memory.Domain
	Importance float64
	Sources    []memory.Memory // at least one, all of the same agent

	ConversationID string    // empty: it belongs to no conversation
	At             time.Time // CreatedAt of the memory; zero: now
}

// Rules are what proposals must satisfy.
type Rules struct {
	Field    string          // of the answer that lists the proposals, for errors
	Template prompt.Template // whose words no proposal may repeat
	Max      int             // number of proposals
	MaxRunes int             // of one proposal
}

// Check turns proposals about the memories into conclusions with content,
// sources and their most frequent domain. KindBadAnswer: a proposal is invalid,
// cites a source wrongly or repeats another one.
func (r Rules) Check(proposals []Proposal, memories []memory.Memory) ([]Conclusion, error) {
	if n := len(proposals); n > r.Max {
		return nil, llm.BadAnswer("the answer has %d %s: at most %d are allowed", n, r.Field, r.Max)
	}
	conclusions := make([]Conclusion, len(proposals))
	wordings := map[string]bool{}
	for i, p := range proposals {
		c, why := r.check(p, memories)
		wording := prompt.Wording(c.Content)
		if why == "" && wordings[wording] {
			why = "repeats another one"
		}
		if why != "" {
			return nil, llm.BadAnswer("%s[%d] %s", r.Field, i, why)
		}
		conclusions[i], wordings[wording] = c, true
	}
	return conclusions, nil
}

// check returns the conclusion of one proposal, or what is wrong with it.
func (r Rules) check(p Proposal, memories []memory.Memory) (c Conclusion, why string) {
	switch {
	case p.Text == nil:
		return c, "has no text"
	case p.Sources == nil || len(*p.Sources) == 0:
		return c, "cites no source"
	}
	c.Content = strings.TrimSpace(*p.Text)
	if why := r.Template.Check(c.Content, r.MaxRunes, ""); why != "" {
		return c, why
	}
	c.Sources, why = Cited(*p.Sources, memories)
	c.Domain = CommonDomain(c.Sources)
	return c, why
}

// Cited returns the memories that a model cites by their numbers, counted from
// 1. why is not empty if a number is unknown or occurs twice.
func Cited(numbers []int, memories []memory.Memory) (found []memory.Memory, why string) {
	for i, n := range numbers {
		if n < 1 || n > len(memories) {
			return nil, fmt.Sprintf("cites the number %d of %d", n, len(memories))
		}
		if slices.Contains(numbers[:i], n) {
			return nil, fmt.Sprintf("cites the number %d twice", n)
		}
		found = append(found, memories[n-1])
	}
	return found, ""
}

// CommonDomain is the most frequent domain of the memories; the first one of a tie.
func CommonDomain(memories []memory.Memory) (best memory.Domain) {
	counts := map[memory.Domain]int{}
	for _, m := range memories {
		counts[m.Domain]++
	}
	for _, m := range memories {
		if counts[m.Domain] > counts[best] {
			best = m.Domain
		}
	}
	return best
}
