package compression

import (
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// maxSummaries of one group.
const maxSummaries = 3

// summary is one that passed every check.
type summary struct {
	content string
	sources []memory.Memory // at least one
}

// proposal is a summary as the model writes it; nil: left out, or null.
type proposal struct {
	Summary *string `json:"summary"`
	Sources *[]int  `json:"sources"`
}

// parse reads an answer about a group that was numbered from 1, and refuses it
// whole where anything in it is wrong (KindBadAnswer).
func parse(answer string, group []memory.Memory) ([]summary, error) {
	var reply struct {
		Summaries *[]proposal `json:"summaries"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Summaries == nil || len(*reply.Summaries) == 0 {
		return nil, refuse("the answer has no summaries")
	}
	if n := len(*reply.Summaries); n > maxSummaries {
		return nil, refuse("the answer has %d summaries: at most %d are allowed", n, maxSummaries)
	}
	summaries := make([]summary, len(*reply.Summaries))
	said := map[string]bool{}
	for i, p := range *reply.Summaries {
		s, why := p.check(group)
		if form := prompt.Wording(s.content); why == "" && said[form] {
			why = "says what another one says"
		} else {
			said[form] = true
		}
		if why != "" {
			return nil, refuse("summaries[%d] %s", i, why)
		}
		summaries[i] = s
	}
	return summaries, whole(summaries, group)
}

// check says what is wrong with a proposal, "" for nothing.
func (p proposal) check(group []memory.Memory) (s summary, why string) {
	switch {
	case p.Summary == nil:
		return s, "has no summary"
	case p.Sources == nil || len(*p.Sources) == 0:
		return s, "cites no source"
	}
	s.content = strings.TrimSpace(*p.Summary)
	if why := memory.CheckContent(s.content, memory.MaxContentRunes); why != "" {
		return s, why
	}
	if compressPrompt.Echoes(s.content) {
		return s, "repeats the prompt's own words"
	}
	s.sources, why = derivation.Cited(*p.Sources, group)
	return s, why
}

// whole refuses summaries that leave a memory out, or save no room.
func whole(summaries []summary, group []memory.Memory) error {
	cited, length, was := map[string]bool{}, 0, 0
	for _, s := range summaries {
		length += runes(s.content)
		for _, m := range s.sources {
			cited[m.ID] = true
		}
	}
	for i, m := range group {
		was += runes(m.Content)
		if !cited[m.ID] {
			return refuse("no summary cites the memory %d of %d", i+1, len(group))
		}
	}
	if length > was {
		return refuse("the summaries have %d characters: the memories have %d together", length, was)
	}
	return nil
}
