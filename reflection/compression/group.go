package compression

import (
	"cmp"
	"slices"

	"hippocampus/internal/memory"
)

const (
	leastGroup = 3  // memories that are worth a summary
	maxGroup   = 20 // memories in one prompt
)

// kin are the memories that may stand in one group: what is private to an
// agent stays private to it, and only embeddings of one model compare.
type kin struct {
	agent, model string
	dim          int
}

// groups finds related memories. Each memory in turn, in the given order, that
// is in no group yet gathers those after it whose cosine to it is at least
// similarity, the nearest first, as many as a prompt has room for. Groups of
// fewer than three are none, and leave their members to others. A group keeps
// the given order.
func groups(memories []memory.Memory, similarity float64) (found [][]memory.Memory) {
	byKin := map[kin][]memory.Memory{}
	var order []kin
	for _, m := range memories {
		k := kin{m.AgentID, m.EmbeddingModel, len(m.Embedding)}
		if byKin[k] == nil {
			order = append(order, k)
		}
		byKin[k] = append(byKin[k], m)
	}
	for _, k := range order {
		found = append(found, gather(byKin[k], similarity)...)
	}
	return found
}

// near is a memory by its place, and how near it is to the one that gathers.
type near struct {
	place  int
	cosine float64
}

func gather(memories []memory.Memory, similarity float64) (found [][]memory.Memory) {
	taken := make([]bool, len(memories))
	for i, seed := range memories {
		if taken[i] {
			continue
		}
		var related []near
		for j := i + 1; j < len(memories); j++ {
			if taken[j] {
				continue
			}
			if c := float64(memory.Dot(seed.Embedding, memories[j].Embedding)); c >= similarity {
				related = append(related, near{j, c})
			}
		}
		slices.SortFunc(related, func(a, b near) int {
			return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.place, b.place))
		})
		places, room := []int{i}, maxPromptRunes-runes(seed.Content)
		for _, n := range related {
			if room -= runes(memories[n.place].Content); room < 0 || len(places) == maxGroup {
				break
			}
			places = append(places, n.place)
		}
		if len(places) < leastGroup {
			continue
		}
		slices.Sort(places)
		group := make([]memory.Memory, len(places))
		for at, place := range places {
			taken[place], group[at] = true, memories[place]
		}
		found = append(found, group)
	}
	return found
}
