package recall

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// fakeReranker scores documents by the place of their last word in a list.
type fakeReranker struct {
	order []string // best first
	fails bool
	hangs bool
	asked []string // documents of the last call
}

func (f *fakeReranker) Model() string { return "fake" }

func (f *fakeReranker) Rerank(ctx context.Context, _ string, documents []string) ([]float64, error) {
	f.asked = documents
	if f.fails {
		return nil, errDown
	}
	if f.hangs {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	scores := make([]float64, len(documents))
	for i, document := range documents {
		words := strings.Fields(document)
		place := slices.Index(f.order, words[len(words)-1])
		scores[i] = 1 / float64(2+place) // 1 for a word that is not in the list
	}
	return scores, nil
}

// animals adds five memories, which words and vectors rank in the order of their names in the query.
func animals(f *fixture, model *fakeReranker) Query {
	f.set.Rerank = Rerank{Model: model, Candidates: 3, Share: 0.75, Timeout: time.Minute}
	for _, content := range []string{
		"bees wasps hornets ants one", "bees wasps hornets two", "bees wasps three", "bees four", "snails five",
	} {
		f.add(content, nil, true)
	}
	f.now = begin.Add(time.Hour)
	return Query{Text: "bees wasps hornets ants", NoTouch: true, NoRoute: true}
}

func TestRecall_Reranks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	model := &fakeReranker{order: []string{"three", "one", "two"}}
	q := animals(f, model)
	f.set.Rerank.Model = nil
	fused := f.recall(q)
	f.set.Rerank.Model = model
	reranked := f.recall(q)
	if got := contents(reranked)[0]; got != "bees wasps three" {
		t.Errorf("first: %s", got)
	}
	if len(model.asked) != 3 || len(reranked.Memories) != len(fused.Memories) || len(reranked.Degraded) != 0 {
		t.Errorf("asked for %q, then %+v", model.asked, reranked)
	}
	parts := map[string]float64{"bees wasps three": 0.75, "bees wasps hornets two": 0}
	for _, r := range reranked.Memories {
		place := slices.IndexFunc(fused.Memories, func(o Recalled) bool { return o.Memory.ID == r.Memory.ID })
		want := 0.25*fused.Memories[place].Relevance + r.Rerank
		if math.Abs(r.Relevance-want) > 1e-12 {
			t.Errorf("%q has the relevance %v instead of %v", r.Memory.Content, r.Relevance, want)
		}
		if part, known := parts[r.Memory.Content]; known && math.Abs(part-r.Rerank) > 1e-12 {
			t.Errorf("%q: the model's part is %v instead of %v", r.Memory.Content, r.Rerank, part)
		}
		if !slices.Contains(model.asked, r.Memory.Content) && r.Rerank != 0 {
			t.Errorf("%q has a part of %v, although the model was not asked", r.Memory.Content, r.Rerank)
		}
	}
}

func TestRecall_DoesWithoutTheReranker(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	model := &fakeReranker{order: []string{"four"}}
	q := animals(f, model)
	f.set.Rerank.Model = nil
	fused := f.recall(q)
	f.set.Rerank.Model = model
	for name, fault := range map[string]func(){
		"unavailable": func() { model.fails = true },
		"late":        func() { model.fails, model.hangs, f.set.Rerank.Timeout = false, true, time.Millisecond },
	} {
		fault()
		answer := f.recall(q)
		if !slices.Equal(contents(answer), contents(fused)) || !slices.Equal(answer.Degraded, []string{partReranker}) {
			t.Errorf("%s: %q, degraded %q", name, contents(answer), answer.Degraded)
		}
	}
}

// The model reads only what the database has of the owner.
func TestRecall_ShowsTheRerankerNoDeletedMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	model := &fakeReranker{}
	q := animals(f, model)
	f.add("bees wasps hornets ants bob", func(m *memory.Memory) { m.Owner = bob }, true)
	f.add("bees wasps hornets ants gone", func(m *memory.Memory) { m.Status = memory.Forgotten }, true)
	f.recall(q)
	for _, document := range model.asked {
		if strings.HasSuffix(document, "bob") || strings.HasSuffix(document, "gone") {
			t.Errorf("the model was shown %q", document)
		}
	}
	if len(model.asked) == 0 {
		t.Error("the model was not asked")
	}
}
