package exchange

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/knowledge/facts"
)

// factLine is a timeline fact. The facts of a timeline follow in the order in
// which they were recorded.
type factLine struct {
	wire.Fact
	RecordedAt time.Time `json:"recorded_at"`
	MemoryID   string    `json:"memory_id,omitempty"`
	EndsMemory bool      `json:"told,omitempty"`
	Due        time.Time `json:"due_at,omitzero"`
}

func factLineOf(f memory.Fact) factLine {
	return factLine{
		Fact: wire.FactOf(f), RecordedAt: f.RecordedAt, MemoryID: f.MemoryID, EndsMemory: f.EndsMemory, Due: f.Due,
	}
}

func (l *factLine) fact(appID string) memory.Fact {
	f := memory.Fact{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, Type: l.Type, Key: l.Key,
		Confidence: l.Confidence, ValidFrom: memory.Instant(l.ValidFrom), ValidUntil: orInstant(l.ValidUntil),
		Source: l.Source, State: l.State, Reason: l.Reason, RecordedAt: memory.Instant(l.RecordedAt),
		MemoryID: l.MemoryID, EndsMemory: l.EndsMemory, Due: orInstant(l.Due),
	}
	if l.Value != nil {
		f.Value, _ = facts.CanonicalValue(l.Value) // cannot fail: check has tried it
	}
	return f
}

func (l *factLine) kind() Kind   { return Facts }
func (l *factLine) user() string { return l.UserID }

func (l *factLine) check(f *faults) {
	f.id("fact.id", l.ID)
	f.note("fact.user_id", memory.CheckID(l.UserID, false))
	for path, name := range map[string]string{"fact.type": l.Type, "fact.key": l.Key} {
		complaint := facts.CheckName(name)
		if canonical := facts.CanonicalName(name); complaint == "" && canonical != name {
			complaint = fmt.Sprintf("is not in its plain form, %q", canonical)
		}
		f.note(path, complaint)
	}
	if l.State == memory.FactEnded {
		if l.Value != nil {
			f.note("fact.value", "is given, though the state is ended")
		}
	} else if _, err := facts.CanonicalValue(l.Value); err != nil {
		f.note("fact.value", err.Error())
	}
	f.fraction("fact.confidence", l.Confidence)
	f.time("fact.valid_from", l.ValidFrom)
	f.time("fact.recorded_at", l.RecordedAt)
	f.optionalTime("fact.due_at", l.Due)
	f.optionalTime("fact.valid_until", l.ValidUntil)
	if !l.ValidUntil.IsZero() && l.State != memory.FactReplaced &&
		!memory.Instant(l.ValidUntil).After(memory.Instant(l.ValidFrom)) {
		f.note("fact.valid_until", "is not after valid_from")
	}
	f.optionalText("fact.source", l.Source, memory.MaxFactSource)
	f.optionalText("fact.reason", l.Reason, maxCause)
	oneOf(f, "fact.state", memory.FactStates, l.State)
	f.optionalID("fact.memory_id", l.MemoryID)
	if l.EndsMemory && l.MemoryID == "" {
		f.note("fact.memory_id", "is missing, though told is true")
	}
}

// restore does not compare the memory of a fact, which the schedule maintains.
func (l *factLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	f := l.fact(i.appID)
	stored, found, err := tx.RecordedFact(ctx, f.ID)
	if err != nil || found {
		return false, orDifference(err, "fact "+f.ID, factLineOf(f), factLineOf(stored), "memory_id", "told", "due_at")
	}
	if err := requireRoom(ctx, tx, f); err != nil {
		return false, err
	}
	return true, idTaken(tx.AddFact(ctx, f), "a fact")
}

// requireRoom returns an error of KindConflict if the timeline would get two
// facts that are valid at one instant, or two facts whose memory is active.
func requireRoom(ctx context.Context, tx db.UserTx, f memory.Fact) error {
	const conflict = "the timeline has another fact %s already: nothing was overwritten"
	if f.EndsMemory {
		if _, found, err := tx.FactWithMemory(ctx, f.Type, f.Key); err != nil || found {
			return orConflict(err, conflict, "that has a memory")
		}
	}
	if f.State != memory.FactAccepted {
		return nil
	}
	if _, found, err := tx.FactAt(ctx, f.Type, f.Key, f.ValidFrom); err != nil || found {
		return orConflict(err, conflict, "at its valid_from")
	}
	next, err := tx.NextFact(ctx, f.Type, f.Key, f.ValidFrom)
	if err != nil || !next.IsZero() && (f.ValidUntil.IsZero() || next.Before(f.ValidUntil)) {
		return orConflict(err, conflict, "before its valid_until")
	}
	return nil
}
