package write

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// factsLimit bounds the facts that are compared by their words, newest first.
const factsLimit = 2000

// mostChanged is the most facts that are read by their ids. Reading all takes less time than
// reading more.
const mostChanged = factsLimit / 8

// newestFacts returns the owner's newest active facts. It reads those that have changed since it
// was called before.
func (w *Writer) newestFacts(ctx context.Context, owner memory.Owner) ([]memory.Memory, error) {
	key := owner.AppID + "\x00" + owner.UserID
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

// sizeOf is about how many bytes facts take.
func sizeOf(facts []memory.Memory) (bytes int) {
	const perFact = 800
	for i := range facts {
		bytes += perFact + len(facts[i].Content) + len(facts[i].Lexemes)
	}
	return bytes
}
