package ingest

import (
	"context"
	"slices"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/scorer"
)

// question is the input of the scorer for a turn.
type question struct {
	memory.Turn                  // without messages if it cannot state a fact
	before      []memory.Message // the last ones of the conversation before it
}

// question returns the input of the scorer for a turn after some messages.
func (s *Service) question(turn memory.Turn, before []memory.Message) question {
	q := question{Turn: turn, before: before[max(0, len(before)-s.set.Before):]}
	q.Messages = scorable(turn)
	isJudged := turn.Policy != nil && turn.Policy.Never.Instructions != ""
	if !s.mayStateFacts(turn, q.Messages, before) && !(isJudged && slices.ContainsFunc(q.Messages, s.isMore)) {
		q.Messages = nil
	}
	return q
}

// isMore reports whether a message is more than small talk, so that something of it is remembered.
func (s *Service) isMore(m memory.Message) bool { return !isEmpty(m) && !s.IsSmallTalk(m.Content) }

// asksModel reports whether a language model is to be asked.
func (s *Service) asksModel(q question) bool {
	return len(q.Messages) > 0 && s.Scorer.Name() != scorer.RulesName
}

// score asks the scorer, and caches its answer until the turn is finished, so that a failure of
// a later stage does not cost another model call. A turn that cannot state a fact costs no call.
func (s *Service) score(ctx context.Context, q question) (facts []scorer.Fact, err error) {
	ctx, scoring := tracing.Start(ctx, "ingest.score")
	defer func() { tracing.End(scoring, err) }()
	if len(q.Messages) == 0 {
		return nil, nil
	}
	asked := answer{withheld: len(q.Withheld), policy: q.Policy}
	if known, ok := s.scored.Get(q.ID); ok && known.withheld == asked.withheld && known.policy == asked.policy {
		return known.facts, nil
	}
	facts, err = s.Scorer.Score(ctx, q.Turn, q.before)
	if err == nil {
		asked.facts = facts
		s.scored.Add(q.ID, asked)
	}
	return facts, err
}

// answer is the scorer's proposal for a turn.
type answer struct {
	facts    []scorer.Fact
	withheld int            // parts of the turn that the scorer was not given
	policy   *memory.Policy // that the scorer was given
}

// scorable returns the messages that a scorer reads: in a conversation the chat messages only,
// since its other events are consolidated with the conversation.
func scorable(turn memory.Turn) (messages []memory.Message) {
	if turn.ConversationID == "" {
		return turn.Messages
	}
	for _, m := range turn.Messages {
		if m.IsChat() {
			messages = append(messages, m)
		}
	}
	return messages
}

// before returns the last chat messages of the conversation before a turn, at most some number and
// oldest first, which the turn's agent may see.
func (s *Service) before(ctx context.Context, turn memory.Turn, most int) (messages []memory.Message, err error) {
	if turn.ConversationID == "" || turn.FirstEvent <= 1 || most == 0 {
		return nil, nil
	}
	events := 2 * most // some are not chat messages, or another agent's
	turns, err := s.Records.ConversationTurns(ctx, turn.Owner, turn.ConversationID,
		turn.FirstEvent-1-int64(events), events)
	for _, earlier := range turns {
		if earlier.FirstEvent < turn.FirstEvent && earlier.Memory.Keeps() &&
			(earlier.AgentID == "" || earlier.AgentID == turn.AgentID) {
			earlier.Messages, _ = s.utterances(earlier)
			earlier.Messages = slices.DeleteFunc(earlier.Messages, isEmpty)
			messages = append(messages, scorable(earlier)...)
		}
	}
	return messages[max(0, len(messages)-most):], err
}

// isEmpty reports whether a message has no words, or only withheld ones.
func isEmpty(m memory.Message) bool { return m.Content == "" }

// mayStateFacts reports whether messages of a turn may state facts about its user: a message that is not the
// assistant's is more than small talk, or it follows a question, so that a mere "yes" may state a fact. Other
// participants state facts where they speak of the user.
func (s *Service) mayStateFacts(turn memory.Turn, messages, before []memory.Message) bool {
	previous := ""
	if len(before) > 0 {
		previous = before[len(before)-1].Content
	}
	return slices.ContainsFunc(messages, func(m memory.Message) bool {
		answers := s.isQuestion(previous)
		previous = m.Content
		if turn.IsOthers(m) && aboutUser(turn, m) == "" {
			return false
		}
		return m.Role != memory.RoleAssistant && (answers || !s.IsSmallTalk(m.Content))
	})
}

// isQuestion reports whether a message holds a question that is more than small talk.
func (s *Service) isQuestion(content string) bool {
	return scorer.Asks(content) && !s.IsSmallTalk(content)
}
