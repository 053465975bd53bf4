package consolidation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/internal/bilingual"
	"hippocampus/internal/memory"
)

// BenchmarkEnd ends conversations of 50 events, 10 of them stated, and consolidates them with a model that answers at
// once. It measures the time without the model, for a user with a growing number of memories.
func BenchmarkEnd(b *testing.B) {
	s := newFixture(b, bilingual.New(), true)
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		id := fmt.Sprint("c", n)
		s.answers(fmt.Sprintf(`{"summary":"Ada plans trip number %d to Porto, by night train, in May."}`, n), fmt.Sprintf(`{
			"facts":[{"type":"travel","key":"trip %d","value":"Porto","confidence":0.9},
				{"type":"profile","key":"city","value":"town %d","confidence":0.9}],
			"insights":[{"text":"On trip %d the user travels by night.","level":"high"}],
			"preferences":[{"text":"On trip %d the user likes green tea.","importance":0.6}],
			"patterns":[],"projects":[{"text":"The user writes opera number %d.","importance":0.75}],
			"skills":[]}`, n, n, n, n, n))
		for i := range 10 {
			s.say(id, "", event("", "How is the weather?"), event("", "Fine, I think."),
				event("", fmt.Sprintf("Let us talk about item %d.", i)), event("", "Yes."),
				event(memory.Task, fmt.Sprintf("Conversation %d asks for step %d of the plan for town %d.", n, i, n*10+i)))
		}
		s.clock.Advance(time.Hour)
		b.StartTimer()
		started := time.Now()
		s.end(id)
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
