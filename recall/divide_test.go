package recall

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// pastedCode is much code that no memory matches.
var pastedCode = strings.Repeat("func flush(id string) error {\n\treturn pool.Close(id, 12)\n}\n\n", 40)

func TestRecall_FindsWhatAPromptAsks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Project Zephyr's rollback code is amber-17", nil, true)
	f.add("Project Boreas's staging host is heron-4", nil, true)
	f.add("My sister Elsa studies law in Graz", nil, true)
	const question = "What is Project Zephyr's rollback code?"
	alone := f.recall(Query{Text: question})
	if alone.Asked != nil {
		t.Errorf("a query was divided: %q", alone.Asked)
	}
	for _, prompt := range []string{
		pastedCode + question, question + "\n\n" + pastedCode, pastedCode + question + "\n\n" + pastedCode,
	} {
		a := f.recall(Query{Text: prompt})
		if !slices.Equal(a.Asked, []string{question}) {
			t.Errorf("asked %q", a.Asked)
		}
		if diff := a.Memories[0].Confidence - alone.Memories[0].Confidence; contents(a)[0] != contents(alone)[0] ||
			math.Abs(diff) > 1e-9 || a.Fit != alone.Fit {
			t.Errorf("%.3f %q first, alone %.3f %q", a.Memories[0].Confidence, contents(a), alone.Memories[0].Confidence,
				contents(alone))
		}
	}
}

// A statement before a short question takes no confidence from its answer, though no memory knows its names.
func TestRecall_AnswersAShortQuestionAfterAStatement(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("I am allergic to peanuts", nil, true)
	f.add("My sister Elsa studies law in Graz", nil, true)
	const question = "What am I allergic to?"
	alone, after := f.recall(Query{Text: question}), f.recall(Query{Text: "I moved to Lisbon. " + question})
	if len(alone.Memories) == 0 || len(after.Memories) == 0 || contents(alone)[0] != contents(after)[0] ||
		after.Memories[0].Confidence < alone.Memories[0].Confidence-1e-9 {
		t.Errorf("alone %+v, after a statement %+v", alone, after)
	}
}

// A prompt with two questions finds the answers to both, each with the confidence that its question alone gives.
func TestRecall_AnswersEveryQuestionOfAPrompt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 20 {
		f.add(fmt.Sprintf("The colleague number %d likes origami and darts", i), nil, true)
	}
	f.add("Project Zephyr's rollback code is amber-17", nil, true)
	f.add("My sister Elsa studies law in Graz", nil, true)
	a := f.recall(Query{
		Text: "We are rolling back tonight. What is Project Zephyr's rollback code?\n" + pastedCode +
			"Where does Elsa study law?",
		Limit: 2, Explain: true,
	})
	got := contents(a)
	slices.Sort(got)
	want := []string{"My sister Elsa studies law in Graz", "Project Zephyr's rollback code is amber-17"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	for _, m := range a.Memories {
		if _, sum := m.Parts.byName(); math.Abs(sum-m.Score) > 1e-9 {
			t.Errorf("%s: the parts of its score add up to %v, not %v", m.Memory.Content, sum, m.Score)
		}
	}
	for _, left := range a.Explanation.LeftOut {
		if left.Score > a.Memories[1].Score || left.Confidence > a.Memories[1].Confidence {
			t.Errorf("%q was left out with score %v and confidence %v", left.Memory.Content, left.Score, left.Confidence)
		}
	}
}

// A fact stands for its message although a part of the prompt found the message only.
func TestRecall_FoldsWhatPartsOfAPromptFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := f.addMessage("I moved to Lisbon in May")
	f.addFact("Ana moved to Lisbon", said)
	got := f.recall(Query{Text: pastedCode + "Who moved to Lisbon?\n\n" + pastedCode + "When was it in May?"})
	if len(got.Asked) != 2 || !slices.Equal(contents(got), []string{"Ana moved to Lisbon"}) {
		t.Errorf("asked %q, got %q", got.Asked, contents(got))
	}
}

func TestMergeMatches_WeighsPartsByTheirFit(t *testing.T) {
	t.Parallel()
	fits := Fit{Closeness: 1, Coverage: 1, Memories: 100}
	hardly := Fit{Closeness: 0, Coverage: 0.1, UnknownNames: 1, Memories: 100}
	found := func(doc int, relevance float64) relevant {
		return relevant{candidate: candidate{doc: doc, sources: fromWords}, relevance: relevance, fused: relevance}
	}
	list, fit := mergeMatches([]match{
		{list: []relevant{found(1, 1), found(2, 0.5)}, fit: hardly},
		{list: []relevant{found(2, 0.8), found(3, 1)}, fit: fits},
		{list: []relevant{found(4, 1)}, fit: fits}, // the outline
	}, nil, 3)
	if fit != fits {
		t.Errorf("the fit is that of the part that hardly fits")
	}
	byDoc := map[int]relevant{}
	for _, r := range list {
		byDoc[r.doc] = r
	}
	if len(list) != 4 || byDoc[3].relevance != 1 || byDoc[2].relevance != 0.8 || byDoc[1].relevance > 0.01 ||
		math.Abs(byDoc[4].relevance-outlineShare*outlineShare*outlineShare) > 1e-9 {
		t.Errorf("merged %+v", byDoc)
	}
	if byDoc[1].confidence != hardly.confidence(1) || byDoc[2].confidence != fits.confidence(0.8) {
		t.Errorf("confidences %v and %v", byDoc[1].confidence, byDoc[2].confidence)
	}
}

// The whole text of a prompt that asks for nothing counts as well.
func TestRecall_OfAPromptWithoutAQuestion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Nora collects stamps from Peru", nil, true)
	a := f.recall(Query{Text: "It rained all day.\n\nMy neighbour showed me stamps from Peru.\n\nThen the sun came out."})
	if len(a.Asked) != 2 || len(a.Memories) != 1 {
		t.Errorf("asked %q, got %q", a.Asked, contents(a))
	}
}

func TestRecall_TakesAQueryAsLongAsAMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("My sister Elsa studies law", nil, true)
	text := strings.Repeat("é", memory.MaxQueryRunes-30) + "\nWhat does Elsa study?"
	if got := contents(f.recall(Query{Text: text})); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
