package ingest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// judging bounds the concurrent calls of the judge for one turn or batch.
const judging = 4

// neighbourhood holds the neighbours of a draft, found before the owner lock is taken.
type neighbourhood struct {
	ids    []string    // memories that it may be merged into
	judged []judgement // decisions to apply, without KeepBoth
}

// judgement is the verdict on one memory, which is as it was when it was judged.
type judgement struct {
	judge.Verdict
	id        string
	revision  int64
	embedding []float32 // of Merged; nil if it is empty
	model     string    // of embedding
}

// neighbours finds the neighbours of each draft of one owner, by the drafts' indexes, and
// asks the judge about those between JudgeSimilarity and MergeSimilarity. It runs before the
// owner lock is taken, since it waits for a model.
func (s *Service) neighbours(
	ctx context.Context, owner memory.Owner, drafts map[int]memory.Memory,
) (map[int]neighbourhood, error) {
	search := s.search(owner)
	hoods := make(map[int]neighbourhood, len(drafts))
	for i, draft := range drafts {
		ids, err := search.near(ctx, draft)
		if err != nil {
			return nil, err
		}
		hoods[i] = neighbourhood{ids: ids}
	}
	if s.Judge == nil || len(drafts) == 0 {
		return hoods, nil
	}
	known, err := s.known(ctx, owner, hoods)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.set.JudgeTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(judging)
	var mu sync.Mutex
	for i, draft := range drafts {
		band := s.band(draft, known)
		if len(band) == 0 {
			continue
		}
		group.Go(func() error {
			judged := s.judge(ctx, draft, band)
			mu.Lock()
			defer mu.Unlock()
			hoods[i] = neighbourhood{hoods[i].ids, judged}
			return nil
		})
	}
	return hoods, group.Wait()
}

// known reads the active memories that searches found, and those so recent that searches may
// not find them yet, each once.
func (s *Service) known(ctx context.Context, owner memory.Owner, hoods map[int]neighbourhood) ([]memory.Memory, error) {
	known, err := s.Records.Unconfirmed(ctx, owner, s.Now().Add(-s.set.OwnWindow), s.set.OwnLimit)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, m := range known {
		seen[m.ID] = true
	}
	var ids []string
	for _, hood := range hoods {
		for _, id := range hood.ids {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return known, nil
	}
	found, err := s.Records.Hydrate(ctx, owner, ids, ids)
	return append(known, found...), err
}

// band returns the memories to be judged, nearest first. It returns nil if the draft is so
// near to a memory that they will be merged. Derived memories are never judged.
func (s *Service) band(draft memory.Memory, known []memory.Memory) []memory.Memory {
	similarity := map[string]float64{}
	var band []memory.Memory
	for _, m := range known {
		if !alike(m, draft) {
			continue
		}
		c := likeness(&m, &draft)
		if c >= s.set.MergeSimilarity || m.Content == draft.Content {
			return nil
		}
		if c >= s.set.JudgeSimilarity && m.Type != memory.TypeReflection && m.Type != memory.TypeSummary {
			band, similarity[m.ID] = append(band, m), c
		}
	}
	slices.SortFunc(band, func(a, b memory.Memory) int {
		return cmp.Or(cmp.Compare(similarity[b.ID], similarity[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	return band[:min(len(band), judge.MaxNear)]
}

// judge asks about one draft. On any error both are kept.
func (s *Service) judge(ctx context.Context, draft memory.Memory, near []memory.Memory) []judgement {
	verdicts, err := s.Judge.Judge(ctx, draft, near)
	if err != nil {
		return s.undecided(draft, err)
	}
	var judged []judgement
	for i, v := range verdicts {
		older := draft.CreatedAt.Before(near[i].CreatedAt)
		if v.Decision == judge.KeepBoth || older && v.Merged == "" {
			continue // an earlier statement never replaces a later one
		}
		j := judgement{Verdict: v, id: near[i].ID, revision: near[i].Revision}
		if v.Merged != "" {
			by := llm.Serving(s.Embedder)
			vectors, err := by.Embed(ctx, llm.ForDocument, []string{v.Merged})
			if err != nil {
				return s.undecided(draft, err)
			}
			j.embedding, j.model = vectors[0], by.Model()
		}
		judged = append(judged, j)
	}
	return judged
}

func (s *Service) undecided(draft memory.Memory, err error) []judgement {
	s.undecidedCount.Add(1)
	s.Log.Warn("similar memories and a new one are kept: the judge gave no verdict",
		zap.String("turn", draft.SourceTurnID), zap.Error(err))
	return nil
}

// Undecided counts the judgements that failed.
func (s *Service) Undecided() int64 { return s.undecidedCount.Load() }

// worded returns the draft in the judge's wording, which merges it with a memory.
func (j judgement) worded(draft memory.Memory, other time.Time) memory.Memory {
	if j.Merged != "" {
		draft.Content, draft.Lexemes = j.Merged, text.Join(text.Lexemes(j.Merged))
		draft.Embedding, draft.EmbeddingModel = j.embedding, j.model
		if draft.CreatedAt.Before(other) {
			draft.CreatedAt = other // of the later statement
		}
	}
	return draft
}

// alike reports whether two memories of a user may be merged. Messages stay as they were said.
func alike(m, draft memory.Memory) bool {
	return m.Status == memory.Active && m.AgentID == draft.AgentID && m.Type != memory.TypeMessage
}

// mergeable are the types of memories that a draft may be merged into.
var mergeable = slices.DeleteFunc(slices.Clone(memory.Types), func(t memory.Type) bool {
	return t == memory.TypeMessage
})
