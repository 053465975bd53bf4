package derivation

import (
	"fmt"
	"slices"

	"hippocampus/internal/memory"
)

// Cited finds the memories that a model cites by their numbers, counted from
// 1. why is empty unless a number is unknown or comes twice; it goes on from
// the name of what cites.
func Cited(numbers []int, memories []memory.Memory) (found []memory.Memory, why string) {
	for i, n := range numbers {
		if n < 1 || n > len(memories) {
			return nil, fmt.Sprintf("cites the number %d of %d", n, len(memories))
		}
		if slices.Contains(numbers[:i], n) {
			return nil, fmt.Sprintf("cites the number %d twice", n)
		}
		found = append(found, memories[n-1])
	}
	return found, ""
}

// CommonDomain is the most frequent domain of some memories, the first of
// those that are.
func CommonDomain(memories []memory.Memory) (best memory.Domain) {
	counts := map[memory.Domain]int{}
	for _, m := range memories {
		counts[m.Domain]++
	}
	for _, m := range memories {
		if counts[m.Domain] > counts[best] {
			best = m.Domain
		}
	}
	return best
}
