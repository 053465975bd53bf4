package compression

import (
	"cmp"
	"slices"

	"hippocampus/internal/memory"
)

const (
	minGroup = 3  // memories that are worth a summary
	maxGroup = 20 // memories in one prompt
)

// groupKey is what the memories of one group share. A private memory stays with
// its agent, and only embeddings of one model can be compared.
type groupKey struct {
	agent, model string
	dim          int
}

// groups finds related memories. Each memory that has no group yet, in the given
// order, collects the later ones whose cosine to it is at least similarity, the
// nearest first, as many as fit into a prompt. If fewer than minGroup memories
// are found, they stay available for other groups. A group keeps the given order.
func groups(memories []memory.Memory, similarity float64) (found [][]memory.Memory) {
	byKey := map[groupKey][]memory.Memory{}
	var order []groupKey
	for _, m := range memories {
		k := groupKey{m.AgentID, m.EmbeddingModel, len(m.Embedding)}
		if byKey[k] == nil {
			order = append(order, k)
		}
		byKey[k] = append(byKey[k], m)
	}
	for _, k := range order {
		found = append(found, groupsOfKey(byKey[k], similarity)...)
	}
	return found
}

// neighbour is a memory by its index, with its cosine to the memory that collects.
type neighbour struct {
	index  int
	cosine float64
}

func groupsOfKey(memories []memory.Memory, similarity float64) (found [][]memory.Memory) {
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
