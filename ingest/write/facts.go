package write

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// factsLimit bounds the facts that are compared by their words, newest first.
const factsLimit = 2000

// mostChanged is the most facts that are read by their ids. If more have changed, reading all facts takes less time.
const mostChanged = factsLimit / 8

// newestFacts returns the owner's newest active facts, and the newest condensed ones.
func (w *Writer) newestFacts(ctx context.Context, owner memory.Owner) (active, condensed []memory.Memory, err error) {
	if active, err = w.activeFacts(ctx, owner); err != nil {
		return nil, nil, err
	}
	condensed, err = w.condensedFacts(ctx, owner)
	return active, condensed, err
}

// comparedFacts returns the facts of newestFacts in one list.
func (w *Writer) comparedFacts(ctx context.Context, owner memory.Owner) ([]memory.Memory, error) {
	active, condensed, err := w.newestFacts(ctx, owner)
	return slices.Concat(active, condensed), err
}

// activeFacts returns the owner's newest active facts. It reads only those that have changed since the last call.
func (w *Writer) activeFacts(ctx context.Context, owner memory.Owner) ([]memory.Memory, error) {
	key := keyOf(owner)
	cached, _ := w.facts.Get(key)
	if cached == nil {
		return w.readAllFacts(ctx, owner, key)
	}
	times, err := w.Records.FactTimes(ctx, owner, factsLimit)
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
		return w.readAllFacts(ctx, owner, key)
	}
	if len(changed) > 0 {
		read, err := w.Records.Hydrate(ctx, owner, changed, nil)
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
	w.facts.Add(key, facts, sizeOf(facts))
	return facts, nil
}

func (w *Writer) readAllFacts(ctx context.Context, owner memory.Owner, key string) ([]memory.Memory, error) {
	facts, err := w.Records.Facts(ctx, owner, time.Time{}, factsLimit)
	if err == nil {
		w.facts.Add(key, facts, sizeOf(facts))
	}
	return facts, err
}

// condensedFacts returns the owner's newest condensed facts. It reads all of them again if one has changed, since only
// a reflection, or a change of the insights that stand for them, changes them.
func (w *Writer) condensedFacts(ctx context.Context, owner memory.Owner) ([]memory.Memory, error) {
	key := keyOf(owner)
	times, err := w.Records.CondensedTimes(ctx, owner, factsLimit)
	if err != nil || len(times) == 0 {
		return nil, err
	}
	cached, _ := w.condensed.Get(key)
	isSame := func(m memory.Memory, t db.Position) bool { return m.ID == t.ID && m.UpdatedAt.Equal(t.At) }
	if slices.EqualFunc(cached, times, isSame) {
		return cached, nil
	}
	facts, err := w.Records.CondensedFacts(ctx, owner, factsLimit)
	if err == nil {
		w.condensed.Add(key, facts, sizeOf(facts))
	}
	return facts, err
}

func keyOf(owner memory.Owner) string { return owner.AppID + "\x00" + owner.UserID }

// sizeOf returns about how many bytes facts take.
func sizeOf(facts []memory.Memory) (bytes int) {
	const perFact = 800
	for i := range facts {
		bytes += perFact + len(facts[i].Content) + len(facts[i].Lexemes)
	}
	return bytes
}
