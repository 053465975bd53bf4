package ingest

import (
	"hippocampus/internal/grounding"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// refuseUnsaid gives the verdict invalid to what a model has proposed and the user has not said: neither in the turn
// nor in the messages before it, which the model was given too. The facts of rules are the user's own sentences.
func refuseUnsaid(q question, candidates []memory.Candidate) {
	if len(candidates) == 0 || candidates[0].Scorer == scorer.RulesName {
		return
	}
	talk := grounding.ReadTalk(linesOf(q)...)
	for i := range candidates {
		c := &candidates[i]
		if c.Verdict != memory.Kept && c.Verdict != memory.BelowThreshold {
			continue
		}
		if why := talk.Unsaid(c.Content); why != "" {
			c.Verdict = memory.InvalidAnswer
			c.Reason = "not said: " + why
		}
	}
}

// linesOf returns what a model may draw facts from: the names of the user, of the speakers and of the agent, then what
// was said. Messages of other roles than the assistant's, such as the result of a tool, tell about the user too.
func linesOf(q question) []grounding.Line {
	names := grounding.Line{Source: grounding.Source{Text: q.UserID + "\n" + q.AgentID}}
	lines := []grounding.Line{names}
	for _, messages := range [][]memory.Message{q.before, q.Messages} {
		for _, m := range messages {
			if m.Name != "" {
				lines[0].Text += "\n" + m.Name
			}
			lines = append(lines, grounding.Line{
				Source: grounding.Source{Text: m.Content, At: q.At}, Assistant: m.Role == memory.RoleAssistant,
			})
		}
	}
	return lines
}
