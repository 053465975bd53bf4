package recall

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"hippocampus/internal/memory"
)

// atOnce bounds the members of a group whose memories are searched at the same time.
const atOnce = 4

// recallGroup recalls what the members of a group have said to each other, by what each has in the conversation that
// they share. It counts no access. Members for whom memory is off have nothing in the answer.
func (s *Service) recallGroup(ctx context.Context, q Query) (answer Answer, err error) {
	if len(q.Group) == 0 || !q.Memory.Recalls() {
		return AnswerOff(cmp.Or(q.At, s.now()), q.Memory), nil
	}
	answers := make([]Answer, len(q.Group))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, member := range q.Group {
		of := q
		of.Group, of.Explain = nil, false
		of.Owner, of.ConversationID = member.Owner, member.ConversationID
		of.Types, of.Limit = []memory.Type{memory.TypeMessage}, min(2*q.Limit, memory.MaxLimit)
		of.NoTouch, of.NoRecollection = true, true
		group.Go(func() (err error) {
			if answers[i], err = s.Recall(ctx, of); err == nil {
				answers[i].Memories, err = s.said(ctx, member, answers[i].Memories)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Answer{}, err
	}
	answer = answers[max(0, slices.IndexFunc(q.Group, func(m memory.Participant) bool { return m.Owner == q.Owner }))]
	answer.merge(answers, q.Limit)
	return answer, nil
}

// merge replaces the memories of an answer by the best of several answers, each statement once. Memories of different
// owners are compared by their confidence, since relevance is relative to the best memory of an owner.
func (a *Answer) merge(answers []Answer, limit int) {
	said := map[[2]string]bool{}
	memories := []Recalled{}
	for _, other := range answers {
		a.Skipped = a.Skipped && other.Skipped
		for _, part := range other.Degraded {
			if !slices.Contains(a.Degraded, part) {
				a.Degraded = append(slices.Clip(a.Degraded), part)
			}
		}
		for _, m := range other.Memories {
			if what := [2]string{m.Memory.Speaker, m.Memory.Content}; !said[what] { // each copy has the assistant's words
				said[what] = true
				memories = append(memories, m)
			}
		}
	}
	slices.SortStableFunc(memories, func(a, b Recalled) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Score, a.Score))
	})
	a.Memories = memories[:min(len(memories), limit)]
}

// said returns the memories of turns in which others took part, without what others say in them. The member's own have
// the member's name.
func (s *Service) said(ctx context.Context, member memory.Participant, memories []Recalled) (
	said []Recalled, err error,
) {
	var turns []string
	for _, m := range memories {
		if memory.IsID(m.Memory.SourceTurnID) {
			turns = append(turns, m.Memory.SourceTurnID)
		}
	}
	if len(turns) == 0 {
		return nil, nil
	}
	shared, err := s.records.SharedAmong(ctx, member.Owner, turns)
	for _, m := range memories {
		if !slices.Contains(shared, m.Memory.SourceTurnID) || memory.NameOf(m.Memory.Speaker) != "" {
			continue
		}
		if m.Memory.Speaker == memory.RoleUser && member.Name != "" {
			m.Memory.Speaker = memory.SpeakerOf(memory.RoleUser, member.Name)
		}
		said = append(said, m)
	}
	return said, err
}
