package compression

import (
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// maxSummaries of one group.
const maxSummaries = 3

// parse reads an answer about a group that was numbered from 1. It refuses the
// whole answer if any part of it is wrong (KindBadAnswer).
func parse(answer string, group []memory.Memory) ([]derivation.Conclusion, error) {
	var reply struct {
		Summaries *[]struct { // a nil field was missing or null
			Summary *string `json:"summary"`
			Sources *[]int  `json:"sources"`
		} `json:"summaries"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Summaries == nil || len(*reply.Summaries) == 0 {
		return nil, llm.BadAnswer("the answer has no summaries")
	}
	proposals := make([]derivation.Proposal, len(*reply.Summaries))
	for i, p := range *reply.Summaries {
		proposals[i] = derivation.Proposal{Text: p.Summary, Sources: p.Sources}
	}
	rules := derivation.Rules{
		Field: "summaries", Template: compressPrompt, Max: maxSummaries, MaxRunes: memory.MaxContentRunes,
	}
	summaries, err := rules.Check(proposals, group)
	if err != nil {
		return nil, err
	}
	return summaries, checkWhole(summaries, group)
}

// checkWhole refuses summaries that leave a memory of the group out, or are
// longer than the group.
func checkWhole(summaries []derivation.Conclusion, group []memory.Memory) error {
	cited, length, groupLength := map[string]bool{}, 0, 0
	for _, s := range summaries {
		length += runes(s.Content)
		for _, m := range s.Sources {
			cited[m.ID] = true
		}
	}
	for i, m := range group {
		groupLength += runes(m.Content)
		if !cited[m.ID] {
			return llm.BadAnswer("no summary cites the memory %d of %d", i+1, len(group))
		}
	}
	if length > groupLength {
		return llm.BadAnswer("the summaries have %d characters, the memories only %d", length, groupLength)
	}
	return nil
}
