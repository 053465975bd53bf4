package statement

import (
	"fmt"
	"testing"

	"hippocampus/internal/memory"
)

// BenchmarkOf finds what states the same as a fact, among 10,000 memories.
func BenchmarkOf(b *testing.B) {
	var l log
	for i := range 4_000 {
		l.say(fmt.Sprint("u", i), "user", i, fmt.Sprintf("My friend %d likes walks in town %d and strong tea.", i, i%50))
		l.say(fmt.Sprint("a", i), "assistant", i, fmt.Sprintf("Town %d has a good path along the river.", i%50))
	}
	for i := range 2_000 {
		fact := fmt.Sprintf("Friend %d likes walks in town %d", i, i%50)
		l.state(fmt.Sprint("f", i), memory.TypeFact, fact, fmt.Sprint("u", i))
	}
	sources := []memory.Memory{l.rows["u7"]}
	for b.Loop() {
		if found, _ := Of(l.rows["f7"], sources, l.docs); len(found) < 2 {
			b.Fatal("nothing was found")
		}
	}
}
