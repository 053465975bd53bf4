package memory

import "time"

// ThresholdName names a threshold of an app that can learn.
type ThresholdName string

// The thresholds.
const (
	GateThreshold       ThresholdName = "gate"       // importance from which a candidate is kept
	ConfidenceThreshold ThresholdName = "confidence" // from which a context has a memory
)

// ThresholdNames lists the thresholds.
var ThresholdNames = []ThresholdName{GateThreshold, ConfidenceThreshold}

// ForImportance begins the reason of a candidate whose importance is below the gate's threshold.
const ForImportance = "importance "

// Threshold is a threshold that serves.
type Threshold struct {
	Value   float64   // 0..1
	Learned time.Time // of the last step; zero: Value is that of the setting
}

// Source says where the value comes from: "the setting", or "learned on 2026-03-01".
func (t Threshold) Source() string {
	if t.Learned.IsZero() {
		return "the setting"
	}
	return "learned on " + t.Learned.Format(time.DateOnly)
}

// ThresholdStep is a move of an app's threshold.
type ThresholdStep struct {
	AppID  string
	Name   ThresholdName
	Number int // from 1
	Was    float64
	Value  float64
	Reset  bool // the setting serves again
	Lower  int  // how many pieces of evidence argued for a lower value
	Higher int
	At     time.Time
}
