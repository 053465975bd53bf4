package recall

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/router"
)

// byName returns the parts, and total their sum.
func (p *Parts) byName() (parts map[string]float64, total float64) {
	parts = map[string]float64{
		"similarity": p.Similarity, "lexical": p.Lexical, "neighbour": p.Neighbour, "speaker": p.Speaker,
		"date": p.Date, "when": p.When, "routed": p.Routed, "question": p.Question, "message": p.Message,
		"skill": p.Skill, "rerank": p.Rerank, "decay": p.Decay, "importance": p.Importance,
	}
	for _, part := range parts {
		total += part
	}
	return parts, total
}

// everySignal adds memories and returns a query for them. Each signal lifts or lowers at least one of them.
func everySignal(f *fixture) Query {
	f.routed = router.Route{Domains: []memory.Domain{memory.Tasks}, Source: "test"}
	f.inConversation = "c"
	f.add("Nora: we saw herons at the lake yesterday", func(m *memory.Memory) {
		m.CreatedAt = time.Date(2026, 2, 3, 9, 0, 0, 0, time.UTC)
	}, true)
	f.add("it rained all afternoon", func(m *memory.Memory) { m.Domain = memory.Tasks }, true)
	f.inConversation = ""
	f.add("When did Nora see the herons? What about the lake?", nil, true)
	message := f.addMessage("See, the herons at the lake built a nest in February")
	f.addFact("the herons at the lake built a nest in February", message)
	for _, workflow := range []string{"count herons at the lake", "photograph swans in their nests"} {
		f.add(workflow, func(m *memory.Memory) {
			m.Type = memory.TypeSkill
			m.Tags = []string{memory.SkillTag("birds")}
			m.Importance = 0.3 + float64(len(workflow))/100
		}, true)
	}
	f.add("snails are slow", nil, true)
	f.now = begin.Add(5 * time.Hour)
	return Query{Text: "When did Nora see herons at the lake in February?", Explain: true, NoTouch: true, Limit: 3}
}

func TestRecall_PartsAddUpToTheScore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fixture, *Query){
		"modulated": func(*fixture, *Query) {},
		"additive":  func(_ *fixture, q *Query) { q.Mode = Additive },
		"weights":   func(_ *fixture, q *Query) { q.Weights = &Weights{Relevance: 2, Decay: 0.7, Importance: 0.1} },
		"reranked": func(f *fixture, _ *Query) {
			f.set.Rerank = Rerank{
				Model: &fakeReranker{order: []string{"nest", "yesterday"}}, Candidates: 6, Share: 0.5, Timeout: time.Minute,
			}
		},
		"without the embedder": func(f *fixture, _ *Query) { f.embedderDown = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			q := everySignal(f)
			change(f, &q)
			answer := f.recall(q)
			all := slices.Clone(answer.Memories)
			for _, l := range answer.Explanation.LeftOut {
				all = append(all, l.Recalled)
			}
			if len(all) < 7 {
				t.Errorf("only %d memories are explained", len(all))
			}
			contributed := map[string]bool{}
			for _, r := range all {
				parts, total := r.Parts.byName()
				if r.Score <= 0 || math.Abs(total-r.Score) > 1e-12 {
					t.Errorf("%s: the parts %v add up to %g, and the score is %g", r.Memory.Content, parts, total, r.Score)
				}
				for name, part := range parts {
					if part < 0 != (name == "question") && part != 0 {
						t.Errorf("%s: %s contributes %g", r.Memory.Content, name, part)
					}
					contributed[name] = contributed[name] || part != 0
				}
			}
			for name, some := range contributed {
				absent := name == "similarity" && f.embedderDown || name == "rerank" && f.set.Rerank.Model == nil
				if some == absent {
					t.Errorf("%s contributes to a score: %t", name, some)
				}
			}
		})
	}
}

func TestRecall_ExplainsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	q := everySignal(f)
	f.add("another user's herons", func(m *memory.Memory) { m.Owner = bob }, true)
	reasons := func(change func(*Query)) (map[Reason]int, *Explanation) {
		t.Helper()
		asked := q
		change(&asked)
		answer := f.recall(asked)
		counts := map[Reason]int{}
		for i, l := range answer.Explanation.LeftOut {
			counts[l.Reason]++
			if i > 0 && l.Score > answer.Explanation.LeftOut[i-1].Score {
				t.Errorf("%s is after a worse one", l.Memory.Content)
			}
			if (l.By != "") != (l.Reason == Represented) {
				t.Errorf("%s is left out as %s, by %q", l.Memory.Content, l.Reason, l.By)
			}
		}
		if e := answer.Explanation; len(answer.Memories)+len(e.LeftOut) != e.Candidates {
			t.Errorf("%d memories and %d left out of %d candidates", len(answer.Memories), len(e.LeftOut), e.Candidates)
		}
		return counts, answer.Explanation
	}

	counts, e := reasons(func(*Query) {})
	if counts[Represented] != 1 || counts[BeyondLimit] != 4 || e.Memories != 8 || e.Matching != 8 || e.Candidates != 8 {
		t.Errorf("%v, %+v", counts, e)
	}
	if e.Mode != Modulated || e.Weights != defaults || e.DecayRate != 0.99 || e.Limit != 50 {
		t.Errorf("%+v", e)
	}
	counts, _ = reasons(func(q *Query) { q.Limit = 10; q.MinSimilarity = 0.1 })
	if counts[TooDissimilar] == 0 || counts[BeyondLimit] != 0 {
		t.Errorf("with a least similarity: %v", counts)
	}
	counts, _ = reasons(func(q *Query) { q.MinConfidence = 1 })
	if counts[TooUnsure] != 7 || counts[Represented] != 1 {
		t.Errorf("with a least confidence: %v", counts)
	}
	_, e = reasons(func(q *Query) { q.Types = []memory.Type{memory.TypeSkill} })
	if e.Memories != 8 || e.Matching != 2 || e.Candidates != 2 {
		t.Errorf("with a filter: %+v", e)
	}
}

func TestRecall_ExplainsItsStages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ticks atomic.Int64
	f.Service.now = func() time.Time { return begin.Add(time.Duration(ticks.Add(1)) * time.Millisecond) }
	q := everySignal(f)
	stages := map[string]Stage{}
	for i, s := range f.recall(q).Explanation.Stages {
		stages[s.Name] = s
		if s.Took <= 0 || s.Start < 0 {
			t.Errorf("stage %d: %+v", i, s)
		}
	}
	order := []string{stageSearch, stageCandidates, stageFuse, stageRerank, stageRank, stageHydrate}
	for i, name := range order[1:] {
		if before := stages[order[i]]; stages[name].Start < before.Start+before.Took {
			t.Errorf("%s %+v begins before the end of %+v", name, stages[name], before)
		}
	}
	if len(stages) != len(order)+3 || stages[stageRoute].Took == 0 || stages[stageEmbed].Took == 0 ||
		stages[stageLoad].Took == 0 {
		t.Errorf("%+v", stages)
	}

	f.routed = router.Route{Domains: []memory.Domain{memory.GeneralChat}, Source: "test"}
	if a := f.recall(q); !a.Skipped || len(a.Explanation.Stages) == 0 || len(a.Explanation.LeftOut) != 0 {
		t.Errorf("small talk: %+v", a.Explanation)
	}
	q.Explain = false
	f.routed = router.Route{}
	if a := f.recall(q); a.Explanation != nil || a.Memories[0].Parts != nil {
		t.Errorf("without explain: %+v", a)
	}
}
