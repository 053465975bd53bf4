package derivation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/grounding"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

// Proposal is a statement as the model writes it.
type Proposal struct {
	Text    string
	Sources Numbers       // of memories, counted from 1
	Domain  memory.Domain // a domain other than memory.Domains is ignored
	Err     error         // why it could not be read, or nil
}

// Conclusion is a statement that is derived from memories.
type Conclusion struct {
	Content    string
	Type       memory.Type
	Domain     memory.Domain
	Importance float64
	Sources    []memory.Memory // at least one, all of the same agent

	Accesses       int             // AccessCount of the memory
	ConversationID string          // empty: it belongs to no conversation
	At             time.Time       // CreatedAt of the memory; zero: now
	Metadata       json.RawMessage // of the memory, or nil
}

// Rules are what proposals must satisfy.
type Rules struct {
	Field    string          // of the answer that lists the proposals, for errors
	Template prompt.Template // whose words no proposal may repeat
	Max      int             // number of proposals
	MaxRunes int             // of one proposal
}

// Check turns proposals about the memories into conclusions with content, sources and domain. It leaves out each
// proposal that is invalid, cites a source wrongly, adds something to its sources or says the opposite of them, repeats
// another one or is over the limit, and returns the reasons. KindBadAnswer: there are proposals, but each is left out.
func (r Rules) Check(proposals []Proposal, memories []memory.Memory) (
	conclusions []Conclusion, leftOut []string, err error,
) {
	wordings := map[string]bool{}
	for i, p := range proposals {
		c, err := r.check(p, memories)
		wording := prompt.Wording(c.Content)
		switch {
		case err == nil && wordings[wording]:
			err = errors.New("repeats another one")
		case err == nil && len(conclusions) == r.Max:
			err = fmt.Errorf("is over the limit of %d", r.Max)
		}
		if err != nil {
			leftOut = append(leftOut, fmt.Sprintf("%s[%d] %v", r.Field, i, err))
			continue
		}
		conclusions = append(conclusions, c)
		wordings[wording] = true
	}
	if len(conclusions) == 0 && len(leftOut) > 0 {
		return nil, nil, llm.BadAnswer("%s", strings.Join(leftOut, "; "))
	}
	return conclusions, leftOut, nil
}

// check returns the conclusion of one proposal, or what is wrong with it.
func (r Rules) check(p Proposal, memories []memory.Memory) (c Conclusion, err error) {
	if p.Err != nil {
		return c, p.Err
	}
	c.Content = strings.TrimSpace(p.Text)
	if c.Content == "" {
		return c, errors.New("has no text")
	}
	if c.Sources, err = p.Sources.Cited(memories); err != nil {
		return c, err
	}
	texts := make([]string, len(c.Sources))
	for i, m := range c.Sources {
		texts[i] = m.Content
	}
	why := r.Template.Check(c.Content, r.MaxRunes, strings.Join(texts, "\n"))
	if why == "" {
		has := grounding.Read(groundsOf(c.Sources)...)
		why = cmp.Or(has.Why(c.Content), accountOf(c.Sources).Opposes(c.Content))
	}
	if why != "" {
		return c, errors.New(why)
	}
	if c.Domain = p.Domain; !slices.Contains(memory.Domains, c.Domain) {
		c.Domain = CommonDomain(c.Sources)
	}
	return c, nil
}

// groundsOf returns the sources from which a conclusion may be drawn: one source for each memory, but one for all
// messages of a day, since messages are not things to count.
func groundsOf(memories []memory.Memory) (sources []grounding.Source) {
	days := map[string]int{} // indexes in sources of messages
	for _, m := range memories {
		if m.Type != memory.TypeMessage {
			sources = append(sources, grounding.Source{Text: m.Content, At: m.CreatedAt})
			continue
		}
		said := m.Speaker + ": " + m.Content
		day := m.CreatedAt.Format(time.DateOnly)
		if i, known := days[day]; known {
			sources[i].Text += "\n" + said
			continue
		}
		days[day] = len(sources)
		sources = append(sources, grounding.Source{Text: said, At: m.CreatedAt})
	}
	return sources
}

// accountOf returns the statements of memories, oldest first. A message of the assistant may ask a question that the
// next message answers.
func accountOf(memories []memory.Memory) grounding.Account {
	memories = slices.SortedStableFunc(slices.Values(memories), func(a, b memory.Memory) int {
		return a.CreatedAt.Compare(b.CreatedAt)
	})
	lines := make([]grounding.Line, len(memories))
	for i, m := range memories {
		lines[i] = grounding.Line{
			Source: grounding.Source{Text: m.Content, At: m.CreatedAt}, Assistant: m.Speaker == memory.RoleAssistant,
		}
	}
	return grounding.ReadAccount(lines...)
}

// CommonDomain returns the most frequent domain of the memories; the first one of a tie.
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
