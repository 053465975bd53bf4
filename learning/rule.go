package learning

import (
	"math"
	"time"

	"hippocampus/internal/memory"
)

// Rule bounds how a threshold follows evidence.
type Rule struct {
	Setting  float64 // the configured value, 0..1, around which the threshold stays
	Range    float64 // the most by which it may differ from Setting
	Step     float64 // by which it moves, at most once a day
	Evidence int     // by how many pieces one side has to outweigh the other
}

// Counted is the evidence of an app.
type Counted struct {
	Lower  int // pieces that argue for a lower threshold
	Higher int
}

// Floor is the lowest value.
func (r Rule) Floor() float64 { return rounded(max(0, r.Setting-r.Range)) }

// Ceiling is the highest value.
func (r Rule) Ceiling() float64 { return rounded(min(1, r.Setting+r.Range)) }

// Within is the value if it is between Floor and Ceiling, else the nearest of them.
func (r Rule) Within(value float64) float64 { return min(max(rounded(value), r.Floor()), r.Ceiling()) }

// Next is the value after a step: lower or higher by Step if the evidence for that outweighs the other by at least
// Evidence, else the same.
func (r Rule) Next(value float64, c Counted) float64 {
	switch surplus := c.Lower - c.Higher; {
	case surplus >= r.Evidence:
		value -= r.Step
	case -surplus >= r.Evidence:
		value += r.Step
	}
	return r.Within(value)
}

// isNear reports whether a score is one on which a move of the threshold would decide: below the threshold if it could
// come down to it, above it if it could come up to it.
func (r Rule) isNear(score, threshold float64, below bool) bool {
	if below {
		return score < threshold && score >= r.Floor()
	}
	return score >= threshold && score < threshold+r.Range
}

// rounded keeps sums of steps exact.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// argument is what feedback of a kind argues for.
type argument struct {
	kind  memory.FeedbackKind
	below bool // its score is below the threshold
	lower bool // it argues for a lower threshold
}

// arguments of each threshold. A wrong memory says nothing about confidence, which is whether it fits the question.
var arguments = map[memory.ThresholdName][]argument{
	memory.GateThreshold: {
		{memory.FeedbackPromoted, true, true},    // it was refused, and is wanted
		{memory.FeedbackForgotten, false, false}, // it was just kept, and is not wanted
	},
	memory.ConfidenceThreshold: {
		{memory.FeedbackUsed, false, true},
		{memory.FeedbackIrrelevant, false, false},
	},
}

const (
	evidenceAge  = 30 * 24 * time.Hour // older feedback is no evidence
	mostEvidence = 1000                // pieces of one kind that are read
)

// rules are those of an app whose settings are these.
func rules(set Settings) map[memory.ThresholdName]Rule {
	return map[memory.ThresholdName]Rule{
		memory.GateThreshold:       {Setting: set.Gate, Range: 0.1, Step: 0.02, Evidence: 5},
		memory.ConfidenceThreshold: {Setting: set.Confidence, Range: 0.1, Step: 0.02, Evidence: 10},
	}
}
