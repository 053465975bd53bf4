package quality

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"hippocampus/cmd/bench/target"
)

// Took is how long recalls take that need a recollection, and earlier recalls that do not.
type Took struct {
	Active  int     `json:"active"`
	Faded   int     `json:"faded"`
	Recalls int     `json:"recalls"` // of each kind
	Without float64 `json:"without_ms"`
	With    float64 `json:"with_ms"`
}

const (
	timedMemories = 1_000 // active ones of a user, and as many faded ones
	timedUsers    = 5
	timedRecalls  = 10 // of each kind and user
	warmUps       = 2
	settling      = 12 * time.Second // more than recall.own_window
)

// wordOf returns a word of random syllables.
func wordOf(random *rand.Rand) string {
	const consonants, vowels = "bdfgklmnprst", "aeiou"
	word := []byte{}
	for range 4 {
		word = append(word, consonants[random.IntN(len(consonants))], vowels[random.IntN(len(vowels))])
	}
	return string(word)
}

// timed returns a memory of a dozen words and a question that has four of them, which hardly any other memory has.
func timed(n int) (text, question string) {
	random := rand.New(rand.NewPCG(uint64(n), 0))
	words := make([]string, 12)
	for i := range words {
		words[i] = wordOf(random)
	}
	return strings.Join(words, " "), "Where is " + strings.Join(words[4:8], " ") + "?"
}

// timeRecollections asks users for active memories and for faded ones. A recollected memory is active afterwards, so
// that each question is asked once. Each user is asked few questions, since recalls compare what was written in the
// last seconds.
func timeRecollections(ctx context.Context, client target.Client, progress io.Writer) (Took, error) {
	took := Took{Active: timedMemories, Faded: timedMemories, Recalls: timedUsers * timedRecalls}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for user := range timedUsers {
		var memories []imported
		for i := range 2 * timedMemories {
			text, _ := timed(i)
			_, m := message(fmt.Sprint("timed", user), "words", "user", text, now.Add(time.Duration(i)*time.Second), hasFaded(i))
			memories = append(memories, m)
		}
		if err := importLines(ctx, client, memories); err != nil {
			return took, err
		}
	}
	if err := client.Settle(ctx); err != nil {
		return took, err
	}
	fmt.Fprintln(progress, "timing recalls, when the imported memories are no more the latest")
	select {
	case <-ctx.Done():
		return took, ctx.Err()
	case <-time.After(settling):
	}
	times := map[bool][]time.Duration{}
	for user := range timedUsers {
		for i := range 2 * (timedRecalls + warmUps) {
			_, question := timed(i)
			start := time.Now()
			answer, err := recollect(ctx, client, fmt.Sprint("timed", user), question, now.Add(24*time.Hour), true)
			if err != nil {
				return took, err
			}
			if i >= 2*warmUps {
				times[hasFaded(i)] = append(times[hasFaded(i)], time.Since(start))
			}
			if found := len(answer) > 0 && answer[0].Recollected; found != hasFaded(i) {
				return took, fmt.Errorf("%q: recollected %t, want %t", question, found, hasFaded(i))
			}
		}
	}
	took.Without, took.With = median(times[false]), median(times[true])
	return took, nil
}
