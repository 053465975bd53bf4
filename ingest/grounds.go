package ingest

import (
	"cmp"

	"hippocampus/internal/grounding"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/scorer/voice"
)

// refuseUnsaid gives the verdict invalid to facts that a model has proposed and the user has not said: neither in the
// turn nor in the messages before it, which the model was given too. Facts of rules are the user's own sentences, and
// pass.
func refuseUnsaid(q question, candidates []memory.Candidate) {
	if len(candidates) == 0 || candidates[0].Scorer == scorer.RulesName {
		return
	}
	talk := TalkOf(q.Turn, q.before)
	for i := range candidates {
		c := &candidates[i]
		if c.Verdict != memory.Kept && c.Verdict != memory.BelowThreshold {
			continue
		}
		if why := talk.Unsaid(c.Content); why != "" {
			c.Verdict = memory.InvalidAnswer
			c.Reason = becauseUnsaid + ": " + why
		}
	}
}

// TalkOf returns the lines from which a model may draw facts of a turn: the names of the user, of the speakers and of
// the agent, then the messages. Messages of roles other than the assistant's, such as the result of a tool, are sources
// too.
func TalkOf(turn memory.Turn, before []memory.Message) *grounding.Talk {
	lines := []grounding.Line{{Source: grounding.Source{Text: turn.UserID + "\n" + turn.AgentID}, Names: true}}
	for _, messages := range [][]memory.Message{before, turn.Messages} {
		for _, m := range messages {
			if m.Name != "" {
				lines[0].Text += "\n" + m.Name
			}
			lines = append(lines, voice.Lines(m.Role, m.Content, turn.Local(cmp.Or(m.At, turn.At)))...)
		}
	}
	return grounding.ReadTalk(lines...)
}
