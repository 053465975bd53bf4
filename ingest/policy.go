package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hippocampus/db"
	"hippocampus/ingest/policy"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// policyMark stands for the words of a candidate that the app's policy never keeps.
const policyMark = "[policy]"

// byInstructions is the rule of what a model found.
const byInstructions = "never.instructions"

// policyOf returns the rules of an app; nil without a policy.
func (s *Service) policyOf(ctx context.Context, appID string) (*policy.Rules, error) {
	if s.Policies == nil {
		return nil, nil
	}
	return s.Policies(ctx, appID)
}

// asStored returns a turn that is to be stored: what the app's policy never keeps is withheld from its log, and without
// a log its words are dropped.
func (s *Service) asStored(ctx context.Context, turn memory.Turn) (memory.Turn, error) {
	if !turn.Memory.Keeps() {
		return unkept(turn), nil
	}
	rules, err := s.policyOf(ctx, turn.AppID)
	if err != nil {
		return turn, err
	}
	turn = s.cut(rules, turn)
	if turn.ConversationID == "" && len(turn.Withheld) > 0 {
		turn.Messages, turn.Withheld = turn.Readable(), nil
	}
	return turn, nil
}

// cut withholds what the terms and patterns of a policy never keep of a turn, and adds it to what is left out.
func (s *Service) cut(rules *policy.Rules, turn memory.Turn) memory.Turn {
	if rules == nil {
		return turn
	}
	for place, m := range turn.Readable() {
		turn = s.withhold(rules, turn, place, rules.Never(m.Content))
	}
	return turn
}

// cutQuotes withholds what a model found to be never kept of a turn.
func (s *Service) cutQuotes(rules *policy.Rules, turn memory.Turn, quotes []string) memory.Turn {
	for place, m := range turn.Readable() {
		var found []policy.Found
		for _, quote := range quotes {
			for _, sentence := range scorer.Quoted(m.Content, quote) {
				found = append(found, policy.Found{Text: strings.TrimSpace(sentence), Rule: byInstructions})
			}
		}
		turn = s.withhold(rules, turn, place, found)
	}
	return turn
}

// mostParts bounds the parts of a message that are withheld one by one: of more, the whole message is.
const mostParts = 50

// withhold withholds parts of a message of a turn, and adds them to what is left out.
func (s *Service) withhold(rules *policy.Rules, turn memory.Turn, place int, found []policy.Found) memory.Turn {
	left := turn.Readable()[place].Content
	if len(found) > mostParts {
		found = []policy.Found{{Text: turn.Messages[place].Content, Rule: found[0].Rule}}
		left = found[0].Text
	}
	for _, f := range found {
		rest := strings.ReplaceAll(left, f.Text, "")
		characters := visible(left) - visible(rest)
		if f.Text == "" || characters == 0 {
			continue
		}
		left = rest
		turn.Withheld = append(slices.Clip(turn.Withheld), memory.Withheld{
			Message: place, Text: f.Text, Policy: rules.Number, At: memory.Instant(s.Now()),
		})
		turn.LeftOut = leftOutBy(rules, turn.LeftOut, place, f.Rule, characters)
	}
	return turn
}

// leftOutBy adds characters of a message to what a rule leaves out.
func leftOutBy(
	rules *policy.Rules, list []memory.Omission, place int, rule string, characters int,
) []memory.Omission {
	list = slices.Clone(list)
	for i, o := range list {
		if o.Message == place && o.Rule == rule && o.Policy == rules.Number {
			list[i].Characters += characters
			return list
		}
	}
	return append(list, memory.Omission{
		Message: place, Reason: memory.OmittedPolicy, Characters: characters, Policy: rules.Number, Rule: rule,
	})
}

// read returns a turn with the words that are read, and with what the policy and the contexts of clients leave out.
func (s *Service) read(turn memory.Turn) memory.Turn {
	byPolicy := slices.DeleteFunc(slices.Clone(turn.LeftOut), func(o memory.Omission) bool {
		return o.Reason != memory.OmittedPolicy
	})
	said, leftOut := s.utterances(turn)
	turn.Messages, turn.LeftOut = said, inOrder(byPolicy, leftOut)
	return turn
}

// splitNever returns the facts of a scorer without the words that are never kept, and these words.
func splitNever(proposed []scorer.Fact) (facts []scorer.Fact, never []string) {
	for _, f := range proposed {
		if f.IsNever {
			never = append(never, f.Content)
		} else {
			facts = append(facts, f)
		}
	}
	return facts, never
}

// storeCut stores what the policy withholds of a turn, unless it is stored. The log keeps the words, which no reader
// gets. Without a log they are dropped.
func storeCut(ctx context.Context, tx db.UserTx, turn memory.Turn) error {
	byPolicy := slices.DeleteFunc(slices.Clone(turn.Withheld), func(w memory.Withheld) bool { return w.Policy == 0 })
	if len(byPolicy) == 0 {
		return nil
	}
	recorded, ok, err := tx.RecordedTurn(ctx, turn.ID)
	if err != nil || !ok {
		return err
	}
	after := recorded
	for _, w := range byPolicy {
		isThis := func(o memory.Withheld) bool { return o.Message == w.Message && o.Text == w.Text }
		if !slices.ContainsFunc(after.Withheld, isThis) {
			after.Withheld = append(slices.Clip(after.Withheld), w)
		}
	}
	switch {
	case len(after.Withheld) == len(recorded.Withheld):
		return nil
	case turn.ConversationID == "":
		return tx.CutTurn(ctx, turn.ID, after.Readable())
	}
	c, _, err := tx.RecordedConversation(ctx, turn.ConversationID)
	if err != nil {
		return err
	}
	r := db.ConversationRevision{From: turn.FirstEvent, Title: c.Title, Retitled: c.Title}
	if recorded.Title() == c.Title {
		r.Retitled = after.Title()
	}
	if err := tx.ReviseConversation(ctx, turn.ConversationID, r); err != nil {
		return err
	}
	return tx.Withhold(ctx, turn.ID, after.Withheld)
}

// hide makes a candidate one that the policy never keeps, without its words.
func hide(c *memory.Candidate, rules *policy.Rules, rule string) {
	c.Verdict, c.MemoryID = memory.InvalidAnswer, ""
	c.Content, c.Tags = policyMark, nil
	c.Reason = fmt.Sprintf("%s: %s never keeps it, %s", becausePolicy, named(rules), rule)
}

// named names a policy for people.
func named(rules *policy.Rules) string {
	if rules.Number == 0 {
		return "the policy that is tried"
	}
	return fmt.Sprintf("version %d of the app's policy", rules.Number)
}

// hideUnsaid hides the candidates that only the words support that a model found to be never kept.
func hideUnsaid(candidates []memory.Candidate, rules *policy.Rules) {
	for i := range candidates {
		if c := &candidates[i]; c.Verdict == memory.InvalidAnswer && c.Content != policyMark {
			hide(c, rules, byInstructions)
		}
	}
}

// RefuseNever refuses a text that a client writes and the app's policy never keeps (KindConflict). Only terms and
// patterns decide.
func (s *Service) RefuseNever(ctx context.Context, appID, content string) error {
	rules, err := s.policyOf(ctx, appID)
	if err != nil {
		return err
	}
	if rule := rules.NeverKeeps(content); rule != "" {
		return memory.Errorf(memory.KindConflict, "%s never keeps this text: see %s of GET /v1/policy", named(rules), rule)
	}
	return nil
}
