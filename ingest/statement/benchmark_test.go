package statement

import (
	"fmt"
	"testing"

	"hippocampus/internal/memory"
)

// BenchmarkOf finds the memories that state the same as a fact, among 10,000 memories.
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

// BenchmarkIn finds a statement in the ten conversations of 1,000 messages that forgetting reads at most.
func BenchmarkIn(b *testing.B) {
	var l log
	l.say("u1", "user", 1, "I am allergic to peanuts, so no satay for me, please.")
	l.state("allergy", memory.TypeFact, "I am allergic to peanuts, so no satay for me, please.", "u1")
	_, stated := Of(l.rows["allergy"], []memory.Memory{l.rows["u1"]}, l.docs)
	var turns []memory.Turn
	for i := range 5_000 {
		turns = append(turns, memory.Turn{ID: fmt.Sprint(i), Messages: []memory.Message{
			{Role: "user", Content: fmt.Sprintf("I like walks in town %d and strong tea. What shall I see there?", i%50)},
			{Role: "assistant", Content: fmt.Sprintf("Town %d has a good path along the river. Take some tea along.", i%50)},
		}})
	}
	turns = append(turns, memory.Turn{ID: "last", Messages: []memory.Message{
		{Role: "assistant", Content: "You are allergic to peanuts, so no satay for you, please."},
	}})
	for b.Loop() {
		if len(stated.In(Read(turns))) != 1 {
			b.Fatal("not found once")
		}
	}
}
