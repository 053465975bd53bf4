package history

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// EndedFact is a value on a timeline that stopped being valid since another memory contradicts the memory that states
// it. It is a part of the event of that memory, so that it is undone when the memory is active again.
type EndedFact struct {
	ID     string  `json:"id"`
	Before factEnd `json:"before"`
	After  factEnd `json:"after"`
}

// factEnd holds the fields of a fact that change when it ends.
type factEnd struct {
	State      memory.FactState `json:"state"`
	Reason     string           `json:"reason"`
	ValidUntil time.Time        `json:"valid_until,omitzero"`
	EndsMemory bool             `json:"ends_memory,omitempty"`
	Due        time.Time        `json:"due,omitzero"`
}

func endOf(f memory.Fact) factEnd {
	return factEnd{
		State: f.State, Reason: f.Reason, ValidUntil: f.ValidUntil, EndsMemory: f.EndsMemory, Due: f.Due,
	}
}

// EndFacts ends the values on timelines that a memory states and for which isOver returns true. They end at the instant
// at which the contradicting memory was said. A value that begins later is removed from its timeline. The caller must
// note the result in an event of the memory, as "ended_facts".
func EndFacts(
	ctx context.Context, tx db.UserTx, memoryID string, at time.Time, reason string, isOver func(f memory.Fact) bool,
) (ended []EndedFact, err error) {
	facts, err := tx.FactsOf(ctx, []string{memoryID})
	if err != nil {
		return nil, err
	}
	at = memory.Instant(at)
	for _, f := range facts {
		if !f.ValidUntil.IsZero() && !f.ValidUntil.After(at) || !isOver(f) {
			continue
		}
		before := endOf(f)
		f.EndsMemory, f.Due = false, time.Time{}
		if f.ValidFrom.Before(at) {
			f.ValidUntil = at
		} else {
			f.State, f.Reason = memory.FactReplaced, reason
		}
		if err := tx.ChangeFact(ctx, f); err != nil {
			return nil, err
		}
		ended = append(ended, EndedFact{ID: f.ID, Before: before, After: endOf(f)})
	}
	return ended, nil
}

// ResumeFacts makes the values valid again that EndFacts ended for a memory by the latest change that undoes accepts,
// unless they have changed since or another value is valid in their time.
func ResumeFacts(ctx context.Context, tx db.UserTx, memoryID string, undoes func(c Change) bool) error {
	events, err := tx.Events(ctx, memoryID)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(events) {
		var detail struct {
			Change
			Ended []EndedFact `json:"ended_facts"`
		}
		if json.Unmarshal(e.Detail, &detail) != nil || len(detail.Ended) == 0 || !undoes(detail.Change) {
			continue
		}
		for _, ended := range detail.Ended {
			if err := ended.resume(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// IsMissing reports whether the value of a fact is a text that a content does not have.
func IsMissing(f memory.Fact, content string) bool {
	var value string
	if json.Unmarshal(f.Value, &value) != nil {
		return false
	}
	lexemes := text.Lexemes(content)
	return slices.ContainsFunc(text.Lexemes(value), func(lexeme string) bool { return !slices.Contains(lexemes, lexeme) })
}

func (e EndedFact) resume(ctx context.Context, tx db.UserTx) error {
	f, ok, err := tx.RecordedFact(ctx, e.ID)
	if err != nil || !ok || f.State != e.After.State || !f.ValidUntil.Equal(e.After.ValidUntil) {
		return err
	}
	if at, isTaken, err := tx.FactAt(ctx, f.Type, f.Key, f.ValidFrom); err != nil || isTaken && at.ID != f.ID {
		return err
	}
	next, err := tx.NextFact(ctx, f.Type, f.Key, f.ValidFrom)
	if err != nil || !next.IsZero() && (e.Before.ValidUntil.IsZero() || next.Before(e.Before.ValidUntil)) {
		return err
	}
	_, isStated, err := tx.FactWithMemory(ctx, f.Type, f.Key)
	if err != nil {
		return err
	}
	f.State, f.Reason = e.Before.State, e.Before.Reason
	f.ValidUntil = e.Before.ValidUntil
	f.EndsMemory, f.Due = e.Before.EndsMemory && !isStated, e.Before.Due
	return tx.ChangeFact(ctx, f)
}
