package learning

import (
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest"
)

func drawRule(t *rapid.T) Rule {
	return Rule{
		Setting: rounded(rapid.Float64Range(0, 1).Draw(t, "setting")),
		Range:   rounded(rapid.Float64Range(0, 0.5).Draw(t, "range")),
		Step:    rounded(rapid.Float64Range(0.001, 0.2).Draw(t, "step")), Evidence: rapid.IntRange(1, 20).Draw(t, "evidence"),
	}
}

func drawCounted(t *rapid.T, label string) Counted {
	pieces := rapid.IntRange(0, 50)
	return Counted{Lower: pieces.Draw(t, label+" lower"), Higher: pieces.Draw(t, label+" higher")}
}

const tiny = 1e-9

func TestRule_StaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRule(t)
		value := r.Setting
		for range rapid.IntRange(1, 30).Draw(t, "days") {
			next := r.Next(value, drawCounted(t, "counted"))
			if next < r.Floor() || next > r.Ceiling() || next < 0 || next > 1 {
				t.Fatalf("%v is outside %v..%v", next, r.Floor(), r.Ceiling())
			}
			if next-value > r.Step+tiny || value-next > r.Step+tiny {
				t.Fatalf("from %v to %v is more than a step of %v", value, next, r.Step)
			}
			value = next
		}
	})
}

// One more piece of evidence for a lower threshold never makes the next value higher, and the other way round.
func TestRule_IsMonotoneInEvidence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, c := drawRule(t), drawCounted(t, "counted")
		value := r.Within(rapid.Float64Range(0, 1).Draw(t, "value"))
		next := r.Next(value, c)
		if lower := r.Next(value, Counted{c.Lower + 1, c.Higher}); lower > next {
			t.Fatalf("with more for lower %v, before %v", lower, next)
		}
		if higher := r.Next(value, Counted{c.Lower, c.Higher + 1}); higher < next {
			t.Fatalf("with more for higher %v, before %v", higher, next)
		}
	})
}

func TestRule_StandsWithoutClearEvidence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, c := drawRule(t), drawCounted(t, "counted")
		value := r.Within(rapid.Float64Range(0, 1).Draw(t, "value"))
		surplus := max(c.Lower-c.Higher, c.Higher-c.Lower)
		if next := r.Next(value, c); surplus < r.Evidence && next != value {
			t.Fatalf("from %v to %v by %+v, of which %d are needed", value, next, c, r.Evidence)
		}
	})
}
