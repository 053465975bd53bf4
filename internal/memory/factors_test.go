package memory

import (
	"maps"
	"testing"
)

func TestFactors_AreChecked(t *testing.T) {
	t.Parallel()
	for factors, ok := range map[Factors]bool{
		"": true, "task=0.5": true, "task=0.5,general_chat=100": true, "decision=0.01": true,
		"task": false, "task=": false, "task=x": false, "task=0": false, "task=-1": false, "task=NaN": false,
		"task=1000": false, "tsk=1": false, "task=1,": false, ",": false, "task=0.5;decision=2": false,
	} {
		if why := factors.Check(); (why == "") != ok {
			t.Errorf("%q: %q", factors, why)
		}
	}
	factors := map[string]float64{"task": 0.5, "general_chat": 3, "decision": 0.015}
	if got := FactorsOf(factors); got != "decision=0.015,general_chat=3,task=0.5" || !maps.Equal(got.ByName(), factors) {
		t.Errorf("%q, %v", got, got.ByName())
	}
}
