package compression

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/reflection/episodes"
)

const (
	minGroup   = 2                   // memories that are worth a summary
	maxGroup   = 60                  // memories in one prompt
	maxEarlier = 5                   // earlier summaries of a conversation in one prompt
	ofMessages = 3                   // summaries of the messages of a conversation, at most
	minEpisode = 3                   // statements of an episode that are worth core statements
	coreAge    = 30 * 24 * time.Hour // of the latest statement of an episode, in time that counts
	patternAge = 90 * 24 * time.Hour
)

// group is memories that one prompt has, oldest first: messages of a conversation, or what is left of an episode.
type group struct {
	memories []memory.Memory
	most     int            // summaries
	core     *episodes.Core // what the metadata of the summaries say, but for From; nil: the memories are messages
}

// talk is a conversation as an agent sees it.
type talk struct{ agent, conversation string }

// groups returns the messages of each conversation, and the statements of each episode that is old enough. A message
// that is alone in its conversation is a statement.
func (s *Service) groups(ctx context.Context, owner memory.Owner, old []memory.Memory, at time.Time) (
	found []group, err error,
) {
	messages, order := map[talk][]memory.Memory{}, []talk{}
	var statements []memory.Memory
	for _, m := range old {
		if m.Type != memory.TypeMessage || m.ConversationID == "" {
			statements = append(statements, m)
			continue
		}
		t := talk{m.AgentID, m.ConversationID}
		if messages[t] == nil {
			order = append(order, t)
		}
		messages[t] = append(messages[t], m)
	}
	for _, t := range order {
		if len(messages[t]) < minGroup {
			statements = append(statements, messages[t]...)
		}
		for _, part := range parts(messages[t]) {
			if part, err = s.withSummaries(ctx, part); err != nil {
				return nil, err
			}
			found = append(found, group{memories: part, most: ofMessages})
		}
	}
	of, err := s.ofEpisodes(ctx, owner, statements, at)
	return append(found, of...), err
}

// parts splits memories into groups that fit into a prompt.
func parts(memories []memory.Memory) (found [][]memory.Memory) {
	for len(memories) >= minGroup {
		count, room := 1, maxPromptRunes-runes(memories[0].Content)
		for _, m := range memories[1:min(len(memories), maxGroup)] {
			if room -= runes(m.Content); room < 0 {
				break
			}
			count++
		}
		if count >= minGroup {
			found = append(found, memories[:count])
		}
		memories = memories[count:]
	}
	return found
}

// withSummaries adds to a group of messages the summaries of their conversation that are dated within the group, so
// that the summary of the group replaces these too.
func (s *Service) withSummaries(ctx context.Context, messages []memory.Memory) ([]memory.Memory, error) {
	first, last := messages[0], messages[len(messages)-1]
	earlier, err := s.Records.ListMemories(ctx, db.MemoryFilter{
		Owner: first.Owner, ConversationID: first.ConversationID, Types: []memory.Type{memory.TypeSummary},
		Statuses: []memory.Status{memory.Active}, Since: first.CreatedAt, Until: last.CreatedAt.Add(time.Microsecond),
		Limit: maxEarlier,
	})
	if err != nil {
		return nil, err
	}
	messages = slices.Clip(messages)
	for _, m := range earlier {
		if m.AgentID == first.AgentID && !m.Pinned {
			messages = append(messages, m)
		}
	}
	return messages, nil
}
