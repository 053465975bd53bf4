package ingest

import (
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// factsLimit bounds the facts that are compared by their words, newest first.
const factsLimit = 2000

// newestFacts returns the owner's newest active facts if a draft is compared with them by words.
func (s *Service) newestFacts(
	ctx context.Context, owner memory.Owner, drafts map[int]memory.Memory, except []string,
) ([]memory.Memory, error) {
	compared := s.Judge != nil && len(drafts) > 0
	for _, draft := range drafts {
		compared = compared || len(s.claimsOf(draft.Content)) > 0
	}
	if !compared {
		return nil, nil
	}
	facts, err := s.readFacts(ctx, owner)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(facts), func(m memory.Memory) bool { return slices.Contains(except, m.ID) }), nil
}

// mostChanged is the most facts that are read by their ids. Reading all takes less time than
// reading more.
const mostChanged = factsLimit / 8

// readFacts returns the owner's newest active facts. It reads those that have changed since it
// was called before.
func (s *Service) readFacts(ctx context.Context, owner memory.Owner) ([]memory.Memory, error) {
	key := owner.AppID + "\x00" + owner.UserID
	cached, _ := s.facts.Get(key)
	if cached == nil {
		return s.readAllFacts(ctx, owner, key)
	}
	times, err := s.Records.FactTimes(ctx, owner, factsLimit)
	if err != nil {
		return nil, err
	}
	known := make(map[string]*memory.Memory, len(cached))
	for i := range cached {
		known[cached[i].ID] = &cached[i]
	}
	var changed []string
	for _, t := range times {
		if m := known[t.ID]; m == nil || !m.UpdatedAt.Equal(t.At) {
			changed = append(changed, t.ID)
		}
	}
	if len(changed) > mostChanged {
		return s.readAllFacts(ctx, owner, key)
	}
	if len(changed) > 0 {
		read, err := s.Records.Hydrate(ctx, owner, changed, nil)
		if err != nil {
			return nil, err
		}
		for _, id := range changed {
			delete(known, id) // it may have been deleted since
		}
		for i := range read {
			known[read[i].ID] = &read[i]
		}
	}
	facts := make([]memory.Memory, 0, len(times))
	for _, t := range times {
		if m := known[t.ID]; m != nil {
			facts = append(facts, *m)
		}
	}
	s.facts.Add(key, facts, sizeOf(facts))
	return facts, nil
}

func (s *Service) readAllFacts(ctx context.Context, owner memory.Owner, key string) ([]memory.Memory, error) {
	facts, err := s.Records.Facts(ctx, owner, time.Time{}, factsLimit)
	if err == nil {
		s.facts.Add(key, facts, sizeOf(facts))
	}
	return facts, err
}

// sizeOf is about how many bytes facts take.
func sizeOf(facts []memory.Memory) (bytes int) {
	const perFact = 800
	for i := range facts {
		bytes += perFact + len(facts[i].Content) + len(facts[i].Lexemes)
	}
	return bytes
}
