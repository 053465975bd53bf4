package write

import (
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// The facts of a user with few facts are listed in one order, whether the floor of the embedding model is known yet or
// not, and in whichever order the facts were read.
func TestJudgeable_OrdersFewFactsTheSameWithoutAFloor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fact := func(id, content string, embedding ...float32) memory.Memory {
		m := memory.Memory{
			ID: id, Owner: memory.Owner{AppID: "app", UserID: "ada"}, Content: content, Type: memory.TypeFact,
			Status: memory.Active,
		}
		return Complete(m, embedding, "a model", now)
	}
	facts := []memory.Memory{
		fact("3", "Ada keeps a pet called Ari", 0, 1), fact("2", "Ada lives in Bergen", 0, 1),
		fact("1", "Ada plays chess", 0.6, 0.8),
	}
	draft := fact("4", "Ada has to remember the milk", 1, 0)
	want := []string{"1", "2", "3"}
	for _, floor := range []float64{0, 0.3, 0.7} {
		calibration := memory.Calibration{}
		calibration.English.Floor = floor
		w := New(Parts{Calibration: func(memory.Space) memory.Calibration { return calibration }},
			Settings{JudgeSimilarity: -1, MergeSimilarity: 0.97})
		for range 2 {
			near := nearest{known: facts, facts: facts, words: w.indexWords(facts), few: true}
			judgeable, _ := w.judgeable(draft, near, nil)
			if got := memory.IDs(judgeable); !slices.Equal(got, want) {
				t.Errorf("with a floor of %g: %q, want %q", floor, got, want)
			}
			slices.Reverse(facts)
		}
	}
}
