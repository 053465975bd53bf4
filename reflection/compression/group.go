package compression

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const (
	minGroup = 3  // related memories that are worth a summary
	maxGroup = 20 // related memories in one prompt

	minMessages = 2  // messages of a conversation that are worth a summary
	maxMessages = 60 // messages in one prompt
	maxEarlier  = 5  // earlier summaries of a conversation in one prompt
)

// groupKey holds the values that all memories of one group have in common. A private memory stays with its agent.
// Messages of a conversation form groups of their own. Other memories are grouped by their embedding model, since only
// embeddings of one model can be compared.
type groupKey struct {
	agent, conversation, model string
	dim                        int
}

func keyOf(m memory.Memory) groupKey {
	if m.Type == memory.TypeMessage && m.ConversationID != "" {
		return groupKey{agent: m.AgentID, conversation: m.ConversationID}
	}
	return groupKey{agent: m.AgentID, model: m.EmbeddingModel, dim: len(m.Embedding)}
}

// conversationOf returns the conversation that a group's messages belong to; "" if the
// group is of related memories.
func conversationOf(group []memory.Memory) string { return keyOf(group[0]).conversation }

// groups returns the messages of each conversation, as many as fit into a prompt, and
// finds related memories among the others. A group keeps the given order.
func groups(memories []memory.Memory, similarity float64) (found [][]memory.Memory) {
	byKey := map[groupKey][]memory.Memory{}
	var order []groupKey
	for _, m := range memories {
		k := keyOf(m)
		if byKey[k] == nil {
			order = append(order, k)
		}
		byKey[k] = append(byKey[k], m)
	}
	for _, k := range order {
		if k.conversation != "" {
			found = append(found, groupsOfMessages(byKey[k])...)
		} else {
			found = append(found, groupsOfRelated(byKey[k], similarity)...)
		}
	}
	return found
}

// groupsOfMessages splits the messages of one conversation into groups that fit into a prompt.
func groupsOfMessages(messages []memory.Memory) (found [][]memory.Memory) {
	for len(messages) >= minMessages {
		count, room := 1, maxPromptRunes-runes(messages[0].Content)
		for _, m := range messages[1:min(len(messages), maxMessages)] {
			if room -= runes(m.Content); room < 0 {
				break
			}
			count++
		}
		if count >= minMessages {
			found = append(found, messages[:count])
		}
		messages = messages[count:]
	}
	return found
}

// withSummaries adds to a group of messages the summaries of their conversation that are dated within the group, so
// that the summary of the group replaces these too. It returns a group of related memories unchanged.
func (s *Service) withSummaries(ctx context.Context, group []memory.Memory) ([]memory.Memory, error) {
	if conversationOf(group) == "" {
		return group, nil
	}
	first, last := group[0], group[len(group)-1]
	earlier, err := s.Records.ListMemories(ctx, db.MemoryFilter{
		Owner: first.Owner, ConversationID: first.ConversationID, Types: []memory.Type{memory.TypeSummary},
		Statuses: []memory.Status{memory.Active}, Since: first.CreatedAt, Until: last.CreatedAt.Add(time.Microsecond),
		Limit: maxEarlier,
	})
	if err != nil {
		return nil, err
	}
	group = slices.Clip(group)
	for _, m := range earlier {
		if m.AgentID == first.AgentID && !m.Pinned {
			group = append(group, m)
		}
	}
	return group, nil
}

// neighbour is a memory by its index, with its cosine to the memory that collects a group.
type neighbour struct {
	index  int
	cosine float64
}

// groupsOfRelated finds related memories. Each memory that has no group yet, in the given order, collects the later
// memories whose cosine to it is at least similarity, the nearest first, as many as fit into a prompt. If it finds
// fewer than minGroup memories, these stay available for other groups.
func groupsOfRelated(memories []memory.Memory, similarity float64) (found [][]memory.Memory) {
	taken := make([]bool, len(memories))
	for i, seed := range memories {
		if taken[i] {
			continue
		}
		var related []neighbour
		for j := i + 1; j < len(memories); j++ {
			if taken[j] {
				continue
			}
			if c := float64(memory.Dot(seed.Embedding, memories[j].Embedding)); c >= similarity {
				related = append(related, neighbour{j, c})
			}
		}
		slices.SortFunc(related, func(a, b neighbour) int {
			return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.index, b.index))
		})
		indexes, room := []int{i}, maxPromptRunes-runes(seed.Content)
		for _, n := range related {
			if room -= runes(memories[n.index].Content); room < 0 || len(indexes) == maxGroup {
				break
			}
			indexes = append(indexes, n.index)
		}
		if len(indexes) < minGroup {
			continue
		}
		slices.Sort(indexes)
		group := make([]memory.Memory, len(indexes))
		for at, index := range indexes {
			taken[index], group[at] = true, memories[index]
		}
		found = append(found, group)
	}
	return found
}
