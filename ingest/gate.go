package ingest

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"hippocampus/ingest/policy"
	"hippocampus/internal/attachment"
	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
	"hippocampus/scorer"
	"hippocampus/scorer/voice"
)

// gate gives each proposed fact its first verdict: kept, below the threshold, echo, or invalid. The policy of the app
// decides first.
func (s *Service) gate(
	rules *policy.Rules, turn memory.Turn, by string, threshold memory.Threshold, facts []scorer.Fact, echoes echoes,
) []memory.Candidate {
	candidates := make([]memory.Candidate, len(facts))
	for i, f := range facts {
		c := memory.Candidate{
			ID: memory.NewID(), TurnID: turn.ID, Content: f.Content, Importance: f.Importance, Domain: f.Domain,
			Type: f.Type, ExpiresAt: cmp.Or(turn.ExpiresAt, f.ExpiresAt), Verdict: memory.Kept, Scorer: by,
			CreatedAt: memory.Instant(s.Now()), Tags: rules.Categories(f.Category, f.Content),
		}
		judged := rules.Judge(f)
		if judged.Never != "" {
			hide(&c, rules, judged.Never)
		} else if f.Invalid != "" {
			c.Verdict = memory.InvalidAnswer
			c.Content = excerpt(f.Content)
			c.Reason = becauseUnusable + f.Invalid
		} else if attachment.IsNote(f.Content) {
			c.Verdict = memory.InvalidAnswer
			c.Reason = becauseUnusable + "names an attachment, and states nothing"
		} else if f.Voice != voice.Own {
			c.Verdict = memory.BelowThreshold
			c.Reason = becauseVoice + ": " + string(f.Voice)
		} else if judged.Unasked != "" {
			c.Verdict = memory.BelowThreshold
			c.Reason = fmt.Sprintf("%s: %s does not ask for it, %s", becausePolicy, named(rules), judged.Unasked)
		} else if f.Importance < threshold.Value && judged.Keeps == "" {
			c.Verdict = memory.BelowThreshold
			c.Reason = fmt.Sprintf(becauseImportance+"%.2f is under the gate of %.2f", f.Importance, threshold.Value) +
				learned(threshold)
			if strings.Contains(f.Content, secret.Mark) {
				c.Reason = becauseSecret + ": " + c.Reason
			}
		} else if echoed, ok := echoes.find(f.Content); ok {
			c.Verdict, c.MemoryID = memory.Echo, echoed.ID
			c.Reason = becauseEcho + "; the user did not say it"
		} else if f.Importance < s.set.Threshold && !threshold.Learned.IsZero() && judged.Keeps == "" {
			c.Reason = fmt.Sprintf("kept by the gate of %.2f", threshold.Value) + learned(threshold)
		}
		candidates[i] = c
	}
	return candidates
}

// gateOf returns the threshold of an app's gate.
func (s *Service) gateOf(ctx context.Context, appID string) (memory.Threshold, error) {
	if s.Gate == nil {
		return memory.Threshold{Value: s.set.Threshold}, nil
	}
	return s.Gate(ctx, appID)
}

// learned says of a threshold that it is not that of the settings; "" if it is.
func learned(t memory.Threshold) string {
	if t.Learned.IsZero() {
		return ""
	}
	return ", " + t.Source()
}

// gateStated gives each stated fact its first verdict, turn by turn.
func (s *Service) gateStated(ctx context.Context, c Consolidation) ([]memory.Candidate, error) {
	candidates := make([]memory.Candidate, 0, len(c.Stated))
	rules, err := s.policyOf(ctx, c.Owner.AppID)
	if err != nil {
		return nil, err
	}
	for rest := c.Stated; len(rest) > 0; {
		turn := rest[0].Turn
		turn.Messages, _ = s.utterances(turn)
		var facts []scorer.Fact
		for len(rest) > 0 && rest[0].Turn.ID == turn.ID {
			facts, rest = append(facts, rest[0].Fact), rest[1:]
		}
		echoes, err := s.echoes(ctx, turn)
		if err != nil {
			return nil, err
		}
		proposed := s.gate(rules, turn, c.Scorer, memory.Threshold{Value: c.Threshold}, facts, echoes)
		for i := range proposed {
			p := &proposed[i]
			if p.Content == policyMark {
				continue
			}
			if why := memory.CheckContent(p.Content, memory.MaxContentRunes); why != "" {
				p.Verdict = memory.InvalidAnswer
				p.Reason = becauseUnusable + why
				p.MemoryID = ""
				p.Content = excerpt(p.Content)
			}
		}
		candidates = append(candidates, proposed...)
	}
	return candidates, nil
}
