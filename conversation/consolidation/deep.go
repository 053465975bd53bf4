package consolidation

import (
	"context"
	"strings"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// noModel is the reason why there is no deep reflection without a model.
const noModel = "deep reflection needs a chat model: set chat.api_key (DEEPSEEK_API_KEY)"

// reflected counts what a deep reflection did.
type reflected struct {
	Facts    int `json:"facts"`    // pieces of evidence
	Memories int `json:"memories"` // created
	Merged   int `json:"merged"`   // into existing memories
}

// reflect has the model find lasting statements in the events, for each agent that took part.
func (s *Service) reflect(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	if s.Chat == nil {
		return s.skip(ctx, one, noModel)
	}
	c, err := s.begin(ctx, one)
	if err != nil {
		return "", err
	}
	shares, _, err := s.shares(ctx, one)
	if err != nil {
		return "", err
	}
	if len(shares) == 0 {
		return s.skip(ctx, one, "no event has content")
	}
	c.Similarity = s.set.Similarity
	var evidence []facts.Evidence
	var leftOut []string
	for _, sh := range shares {
		found, err := s.askDeep(ctx, sh)
		if err != nil {
			return "", err
		}
		for _, m := range found.memories {
			c.Made = append(c.Made, sh.draft(one, m.kind, m.text, s.Guess(m.text), m.importance))
		}
		leftOut = append(leftOut, found.leftOut...)
		stated, private := s.evidence(one, sh, found.facts)
		evidence, c.Made = append(evidence, stated...), append(c.Made, private...)
	}
	prepared, err := s.Facts.Prepare(ctx, one.Owner, evidence)
	if memory.IsKind(err, memory.KindInvalid) {
		return "", llm.BadAnswer("its facts are not valid: %w", err)
	}
	if err != nil {
		return "", err
	}
	var applied facts.Applied
	c.Last = func(ctx context.Context, tx db.UserTx, done ingest.Consolidated) error {
		did := reflected{Facts: len(evidence)}
		for _, w := range done.Made {
			if w.Verdict == memory.Kept {
				did.Memories++
			} else {
				did.Merged++
			}
		}
		// End the row first: if another process has ended it, nothing is written.
		if err := s.end(ctx, tx, one, memory.ConsolidationDone, leftOutError(leftOut), did); err != nil {
			return err
		}
		if len(evidence) == 0 {
			return nil
		}
		applied, err = s.Facts.Apply(ctx, tx, prepared, cause(one))
		return err
	}
	if _, err = s.Writer.Consolidate(ctx, c); err != nil {
		return "", err
	}
	if len(evidence) > 0 {
		s.Facts.Push(ctx, applied)
	}
	return memory.ConsolidationDone, nil
}

// leftOutError describes what was left out of an answer; "" if nothing was.
func leftOutError(leftOut []string) string {
	if len(leftOut) == 0 {
		return ""
	}
	return memory.Clip("left out of the answer: "+strings.Join(leftOut, "; "), maxErrorRunes)
}

// evidence turns the facts of a share into evidence. Facts are visible to all
// agents, so the facts of a private share become private memories instead.
func (s *Service) evidence(one memory.Consolidation, sh share, found []fact) (
	evidence []facts.Evidence, private []memory.Memory,
) {
	for _, f := range found {
		domain := s.Guess(f.sentence)
		m := sh.draft(one, memory.TypeFact, f.sentence, domain, f.importanceAs(domain))
		if sh.agentID != "" {
			m.Metadata = facts.Metadata(memory.Fact{
				Type: facts.CanonicalName(f.kind), Key: facts.CanonicalName(f.key), Value: f.value, Confidence: f.confidence,
			})
			private = append(private, m)
			continue
		}
		from := m.CreatedAt
		if now := s.Now(); from.After(now) {
			from = now
		}
		evidence = append(evidence, facts.Evidence{
			Type: f.kind, Key: f.key, Value: f.value, Confidence: f.confidence, ValidFrom: from,
			Source: source(one.ConversationID), Sentence: f.sentence, Importance: f.importance, SaidAt: from,
		})
	}
	return evidence, private
}

// source names a conversation as the source of a fact.
func source(conversationID string) string {
	return memory.Clip("conversation "+conversationID, memory.MaxFactSource)
}

var deepPrompt = prompt.Parse(promptFiles, "deep")

// deepData fills the prompt.
type deepData struct {
	prompt.Quoted         // events, one per line, oldest first
	Time                  string
	Speakers              bool // several users speak
	MaxFacts, MaxInsights int
	MaxLasting            int
	MaxWords, MaxRunes    int // most words (English) and characters (Chinese) of a text, as the model is asked
}

// The lengths that the model is asked for; see maxTextRunes.
const (
	askedWords = 50
	askedRunes = 100
)

func (s *Service) askDeep(ctx context.Context, sh share) (findings, error) {
	events := sh.said()
	quoted, err := prompt.Quote(session.PromptLines("", events, maxEventRunes)...)
	if err != nil {
		return findings{}, err
	}
	about := talkOf(events)
	data := deepData{
		Quoted: quoted, Time: session.PromptTime(events), Speakers: about.speakers != nil,
		MaxFacts: maxFacts, MaxInsights: maxInsights, MaxLasting: maxLasting, MaxWords: askedWords, MaxRunes: askedRunes,
	}
	return prompt.Ask(ctx, deepPrompt, s.Chat, about.sample, data,
		func(answer *llm.Answer) (findings, error) { return parseDeep(answer, about) })
}
