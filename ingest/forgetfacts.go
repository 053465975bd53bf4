package ingest

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// FactEffect is the change of a fact on a timeline that the change of a memory caused.
type FactEffect struct {
	ID, Type, Key string
	Done          Done // DoneForgotten or DoneRestored
}

// formerFact is the state of a fact before it was forgotten.
type formerFact struct {
	ID         string           `json:"id"`
	State      memory.FactState `json:"state"`
	Reason     string           `json:"reason"`
	EndsMemory bool             `json:"ends_memory,omitempty"`
	Due        time.Time        `json:"due,omitzero"`
}

// forgetFacts takes the facts that forgotten memories state from their timelines. memories maps the id of each
// forgotten memory to the id of the memory of the batch. Later evidence of the same value counts as new.
func (p *forgetting) forgetFacts(ctx context.Context, tx db.UserTx, memories map[string]string) error {
	ids := make([]string, 0, len(memories))
	for id := range memories {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return nil
	}
	found, err := tx.FactsOf(ctx, ids)
	if err != nil {
		return err
	}
	for _, f := range found {
		root := memories[f.MemoryID]
		of := p.of(root)
		of.facts = append(of.facts, FactEffect{ID: f.ID, Type: f.Type, Key: f.Key, Done: DoneForgotten})
		of.former = append(of.former, formerFact{
			ID: f.ID, State: f.State, Reason: f.Reason, EndsMemory: f.EndsMemory, Due: f.Due,
		})
		f.State, f.Reason = memory.FactReplaced, "it was forgotten with memory "+root
		f.EndsMemory, f.Due = false, time.Time{}
		if p.DryRun {
			continue
		}
		if err := tx.ChangeFact(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// restoreFacts puts facts back onto their timelines, and returns the effects by the id of the memory of the batch.
func (r *restoring) restoreFacts(ctx context.Context, tx db.UserTx) (map[string][]FactEffect, error) {
	effects := map[string][]FactEffect{}
	for _, u := range r.undone {
		for _, former := range u.Facts {
			f, restored, err := restoreFact(ctx, tx, former)
			if err != nil {
				return nil, err
			}
			if restored {
				effects[u.of] = append(effects[u.of], FactEffect{ID: f.ID, Type: f.Type, Key: f.Key, Done: DoneRestored})
			}
		}
	}
	return effects, nil
}

// restoreFact puts a fact back onto its timeline, unless another fact is valid in the same time.
func restoreFact(ctx context.Context, tx db.UserTx, former formerFact) (f memory.Fact, restored bool, err error) {
	f, ok, err := tx.RecordedFact(ctx, former.ID)
	if err != nil || !ok || f.State != memory.FactReplaced {
		return f, false, err
	}
	if _, isTaken, err := tx.FactAt(ctx, f.Type, f.Key, f.ValidFrom); err != nil || isTaken {
		return f, false, err
	}
	next, err := tx.NextFact(ctx, f.Type, f.Key, f.ValidFrom)
	if err != nil || !next.IsZero() && (f.ValidUntil.IsZero() || next.Before(f.ValidUntil)) {
		return f, false, err
	}
	_, isStated, err := tx.FactWithMemory(ctx, f.Type, f.Key)
	if err != nil {
		return f, false, err
	}
	f.State, f.Reason = former.State, former.Reason
	f.Due = former.Due
	f.EndsMemory = former.EndsMemory && !isStated // if it has ended since, the schedule ends its memory
	return f, true, tx.ChangeFact(ctx, f)
}
