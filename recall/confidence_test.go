package recall

import (
	"math"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// calibrated sets what the similarities of the fixture's embedder mean, so that they count.
func (f *fixture) calibrated(unrelated, related float64) {
	r := memory.SimilarityRange{Unrelated: unrelated, Related: related}
	f.set.Calibration = func(memory.Space) memory.Calibration { return memory.Calibration{English: r, Chinese: r} }
}

// confidences maps the content of each memory to its confidence.
func confidences(a Answer) map[string]float64 {
	all := map[string]float64{}
	for _, r := range a.Memories {
		all[r.Memory.Content] = r.Confidence
	}
	return all
}

func TestRecall_ConfidenceIsAbsolute(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.calibrated(0, 0.5)
	f.add("My sister Nora breeds greyhounds in Cork", nil, true)
	f.add("The greyhounds race on Sundays", nil, true)
	for _, c := range []struct {
		name, query string
		low, high   float64 // bounds of the best confidence
	}{
		{"an answered question", "Where does Nora breed her greyhounds?", 0.8, 1},
		{"the same without names", "who breeds greyhounds?", 0.8, 1},
		{"unknown names", "What did Ibrahim say to Chiara about the sermon?", 0, 0.1},
		{"the user's own name", "Which greyhounds does my Ada breed?", 0.8, 1}, // of the owner ada
		{"other words", "how is quantum chromodynamics taught?", 0, 0.45},
	} {
		answer := f.recall(Query{Text: c.query})
		if len(answer.Memories) == 0 {
			t.Fatalf("%s: no memory", c.name)
		}
		if best := answer.Memories[0]; best.Confidence < c.low || best.Confidence > c.high {
			t.Errorf("%s: confidence %.3f with the fit %+v, want %v to %v", c.name, best.Confidence, answer.Fit, c.low, c.high)
		}
	}
}

func TestRecall_ConfidenceDoesNotDependOnTheLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.calibrated(0, 0.5)
	for _, word := range strings.Fields("a b c d e f g h i j k l m n o p") {
		f.add("Nora visited the museum of "+strings.Repeat(word, 5), nil, true)
	}
	all := confidences(f.recall(Query{Text: "which museum of ccccc?", Limit: 20}))
	for content, confidence := range confidences(f.recall(Query{Text: "which museum of ccccc?", Limit: 1})) {
		if all[content] != confidence {
			t.Errorf("%s: confidence %v alone, %v among %d", content, confidence, all[content], len(all))
		}
	}
}

func TestRecall_DropsMemoriesBelowTheMinimumConfidence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.calibrated(0, 0.5)
	f.add("I play the cello", nil, true)
	f.add("I keep bees", nil, true)
	const query = "who plays the cello?"
	all := confidences(f.recall(Query{Text: query}))
	best, other := all["I play the cello"], all["I keep bees"]
	if best <= other || other <= 0 {
		t.Fatalf("confidences: %v", all)
	}
	expect(t, f.recall(Query{Text: query, MinConfidence: best}), "I play the cello")
	answer := f.recall(Query{Text: query, MinConfidence: 1})
	expect(t, answer)
	if answer.Fit.Memories != 2 || answer.Fit.Coverage != 1 {
		t.Errorf("the answer without memories has the fit %+v", answer.Fit)
	}
}

func TestFit_CountsNeighboursOfTheConversation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := func(conversation string) func(*memory.Memory) {
		return func(m *memory.Memory) { m.ConversationID = conversation }
	}
	f.add("Shall we talk about the regatta?", in("c"), true)
	f.add("Yes, on Saturday", in("c"), true)
	f.add("The winner gets a trophy", in("c"), true)
	f.add("unrelated matters", in("d"), true)
	if fit := f.recall(Query{Text: "regatta trophy"}).Fit; fit.Coverage != 1 {
		t.Errorf("words of one conversation at a distance of two: coverage %v", fit.Coverage)
	}
	if fit := f.recall(Query{Text: "regatta matters"}).Fit; fit.Coverage > 0.6 {
		t.Errorf("words of two conversations: coverage %v", fit.Coverage)
	}
}

// Facts stand between the messages that they were taken from, by their time.
func TestFit_CountsNeighboursBeyondFacts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.inConversation = "c"
	for _, content := range []string{"Shall we talk about the regatta?", "Yes, on Saturday", "The winner gets a trophy"} {
		message := f.addMessage(content)
		f.addFact("a fact about the weather", message)
		f.addFact("another fact about the weather", message)
	}
	if fit := f.recall(Query{Text: "regatta trophy"}).Fit; fit.Coverage != 1 {
		t.Errorf("words of two messages at a distance of two: coverage %v", fit.Coverage)
	}
}

func TestFit_UsesNeutralValuesForMissingSignals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("I keep bees", nil, true)
	if fit := f.recall(Query{Text: "bees"}).Fit; fit.Closeness != neutralCloseness {
		t.Errorf("without a calibration: closeness %v", fit.Closeness)
	}
	f.calibrated(0, 0.5)
	if fit := f.recall(Query{Text: "what is it?"}).Fit; fit.Coverage != neutralCoverage {
		t.Errorf("a query of stop words: coverage %v", fit.Coverage)
	}
	f.embedderDown = true
	f.Purge()
	if fit := f.recall(Query{Text: "bees"}).Fit; fit.Closeness != neutralCloseness {
		t.Errorf("without the embedder: closeness %v", fit.Closeness)
	}
}

func TestFit_ScalesByTheScriptOfTheQuery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.set.Calibration = func(memory.Space) memory.Calibration {
		return memory.Calibration{
			English: memory.SimilarityRange{Unrelated: 0, Related: 1},
			Chinese: memory.SimilarityRange{Unrelated: 0.5, Related: 1},
		}
	}
	f.add("bees 蜜蜂", nil, true)
	for query, unrelated := range map[string]float64{"bees": 0, "蜜蜂": 0.5} {
		answer := f.recall(Query{Text: query})
		want := (answer.Memories[0].Similarity - unrelated) / (1 - unrelated)
		if math.Abs(answer.Fit.Closeness-want) > 1e-9 {
			t.Errorf("%s: closeness %v, want %v", query, answer.Fit.Closeness, want)
		}
	}
}
