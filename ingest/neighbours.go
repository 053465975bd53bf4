package ingest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// judging bounds the concurrent calls of the judge for one turn or batch.
const judging = 4

// neighbourhood holds the neighbours of a draft, found before the owner lock is taken.
type neighbourhood struct {
	ids    []string    // memories that it may be merged into
	judged []judgement // decisions to apply, without KeepBoth
	note   string      // what the judge answered, or why it was not asked; empty if there is no judge
	asked  bool        // the judge has answered
}

// judgement is the verdict on one memory, which is as it was when it was judged.
type judgement struct {
	judge.Verdict
	id        string
	revision  int64
	content   string
	embedding []float32 // of Merged; nil if it is empty
	model     string    // of embedding
}

// neighbours finds the neighbours of each draft of one owner, by the drafts' indexes, and what
// the drafts mean for them: the judge decides, or without one the rules of single attributes.
// It runs before the owner lock is taken, since it waits for a model. Memories whose ids are in
// except are no neighbours.
func (s *Service) neighbours(
	ctx context.Context, owner memory.Owner, drafts map[int]memory.Memory, except ...string,
) (_ map[int]neighbourhood, err error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	ctx, comparing := tracing.Start(ctx, "ingest.compare")
	defer func() { tracing.End(comparing, err) }()
	var recent []memory.Memory
	if s.Judge != nil { // before the searches, which find what was confirmed by then
		if recent, err = s.Records.Unconfirmed(ctx, owner, s.Now().Add(-s.set.OwnWindow), s.set.OwnLimit); err != nil {
			return nil, err
		}
	}
	search := s.search(owner)
	hoods := make(map[int]neighbourhood, len(drafts))
	for i, draft := range drafts {
		ids, err := search.near(ctx, draft)
		if err != nil {
			return nil, err
		}
		hoods[i] = neighbourhood{ids: without(ids, except)}
	}
	facts, err := s.newestFacts(ctx, owner, drafts, except)
	if err != nil {
		return nil, err
	}
	if s.Judge == nil {
		for i, hood := range hoods {
			hood.judged = s.superseding(drafts[i], slices.Concat(facts, earlierOf(drafts, i)))
			hoods[i] = hood
		}
		return hoods, nil
	}
	known, err := s.known(ctx, owner, recent, hoods)
	if err != nil {
		return nil, err
	}
	known = slices.DeleteFunc(known, func(m memory.Memory) bool { return slices.Contains(except, m.ID) })
	words := s.indexWords(facts)
	ctx, cancel := context.WithTimeout(ctx, s.set.JudgeTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(judging)
	var mu sync.Mutex
	judged := make(map[int]neighbourhood, len(drafts)) // under mu
	for i, draft := range drafts {
		near, note := s.judgeable(draft, known, earlierOf(drafts, i), words)
		group.Go(func() error {
			hood := neighbourhood{ids: hoods[i].ids, note: note}
			if len(near) > 0 {
				hood.judged, hood.note, hood.asked = s.judge(ctx, draft, near)
			}
			mu.Lock()
			defer mu.Unlock()
			judged[i] = hood
			return nil
		})
	}
	return judged, group.Wait()
}

// earlierOf returns the drafts with a lower index, in order.
func earlierOf(drafts map[int]memory.Memory, i int) (earlier []memory.Memory) {
	for _, j := range slices.Sorted(maps.Keys(drafts)) {
		if j < i {
			earlier = append(earlier, drafts[j])
		}
	}
	return earlier
}

// known returns the recent memories, which searches may not find yet, and the active ones that
// searches found, each once.
func (s *Service) known(
	ctx context.Context, owner memory.Owner, recent []memory.Memory, hoods map[int]neighbourhood,
) ([]memory.Memory, error) {
	seen := map[string]bool{}
	for _, m := range recent {
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
		return recent, nil
	}
	found, err := s.Records.Hydrate(ctx, owner, ids, ids)
	return append(recent, found...), err
}

func without(ids, except []string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(except, id) })
}

// alike reports whether two memories of a user may be merged. Messages stay as they were said.
func alike(m, draft memory.Memory) bool {
	return m.Status == memory.Active && m.AgentID == draft.AgentID && m.Type != memory.TypeMessage
}

// mergeable are the types of memories that a draft may be merged into.
var mergeable = slices.DeleteFunc(slices.Clone(memory.Types), func(t memory.Type) bool {
	return t == memory.TypeMessage
})
