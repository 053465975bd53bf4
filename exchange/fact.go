package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// factLine is a piece of evidence on a timeline. A timeline has a line for each,
// in the order in which they were recorded.
type factLine struct {
	ID         string           `json:"id"`
	UserID     string           `json:"user_id"`
	Type       string           `json:"type"`
	Key        string           `json:"key"`
	Value      json.RawMessage  `json:"value,omitempty"` // of all but ended ones
	Confidence float64          `json:"confidence"`
	ValidFrom  time.Time        `json:"valid_from"`
	ValidUntil time.Time        `json:"valid_until,omitzero"`
	Source     string           `json:"source,omitempty"`
	State      memory.FactState `json:"state"`
	Reason     string           `json:"reason"`
	RecordedAt time.Time        `json:"recorded_at"`
	MemoryID   string           `json:"memory_id,omitempty"`
	Told       bool             `json:"told,omitempty"` // that memory ends with it
	Due        time.Time        `json:"due_at,omitzero"`
}

func factLineOf(f memory.Fact) factLine {
	return factLine{
		ID: f.ID, UserID: f.UserID, Type: f.Type, Key: f.Key, Value: f.Value, Confidence: f.Confidence, ValidFrom: f.ValidFrom,
		ValidUntil: f.ValidUntil, Source: f.Source, State: f.State, Reason: f.Reason, RecordedAt: f.RecordedAt,
		MemoryID: f.MemoryID, Told: f.EndsMemory, Due: f.Due,
	}
}

func (l *factLine) fact(appID string) memory.Fact {
	f := memory.Fact{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, Type: l.Type, Key: l.Key, Confidence: l.Confidence,
		ValidFrom: memory.Instant(l.ValidFrom), ValidUntil: orInstant(l.ValidUntil), Source: l.Source, State: l.State, Reason: l.Reason,
		RecordedAt: memory.Instant(l.RecordedAt), MemoryID: l.MemoryID, EndsMemory: l.Told, Due: orInstant(l.Due),
	}
	if l.Value != nil {
		f.Value, _ = facts.CanonicalValue(l.Value) // checked
	}
	return f
}

// orInstant is memory.Instant, of which zero is none.
func orInstant(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return memory.Instant(t)
}

func (l *factLine) kind() Kind { return Facts }

func (l *factLine) check(c *complaints) {
	c.id("fact.id", l.ID)
	c.note("fact.user_id", memory.CheckID(l.UserID, false))
	for path, name := range map[string]string{"fact.type": l.Type, "fact.key": l.Key} {
		why := facts.CheckName(name)
		if why == "" && facts.CanonicalName(name) != name {
			why = fmt.Sprintf("is not in its plain form, %q", facts.CanonicalName(name))
		}
		c.note(path, why)
	}
	if l.State == memory.FactEnded {
		if l.Value != nil {
			c.note("fact.value", "is given, though the state is ended")
		}
	} else if _, err := facts.CanonicalValue(l.Value); err != nil {
		c.note("fact.value", err.Error())
	}
	if !(l.Confidence >= 0 && l.Confidence <= 1) {
		c.note("fact.confidence", "is not in 0 to 1")
	}
	c.time("fact.valid_from", l.ValidFrom)
	c.time("fact.recorded_at", l.RecordedAt)
	c.timeOrNone("fact.due_at", l.Due)
	c.timeOrNone("fact.valid_until", l.ValidUntil)
	if !l.ValidUntil.IsZero() && l.State != memory.FactReplaced && !memory.Instant(l.ValidUntil).After(memory.Instant(l.ValidFrom)) {
		c.note("fact.valid_until", "is not after valid_from")
	}
	c.textOrNone("fact.source", l.Source, memory.MaxFactSource)
	c.textOrNone("fact.reason", l.Reason, maxCause)
	known(c, "fact.state", memory.FactStates, l.State)
	if l.MemoryID != "" {
		c.id("fact.memory_id", l.MemoryID)
	} else if l.Told {
		c.note("fact.memory_id", "is missing, though it is told")
	}
}

func (l *factLine) wait(ctx context.Context, i *importing, number, size int) error {
	f := l.fact(i.appID)
	return i.waitForUser(ctx, f.UserID, number, size, Facts, func(ctx context.Context, tx db.UserTx) (bool, error) { return putFact(ctx, tx, f) })
}

// putFact stores evidence. Which memory tells it is not compared: the schedule
// sees to that on its own.
func putFact(ctx context.Context, tx db.UserTx, f memory.Fact) (fresh bool, err error) {
	is, ok, err := tx.RecordedFact(ctx, f.ID)
	if err != nil {
		return false, err
	}
	if ok {
		return false, same("fact "+f.ID, factLineOf(f), factLineOf(is), "memory_id", "told", "due_at")
	}
	if err := hasRoom(ctx, tx, f); err != nil {
		return false, err
	}
	return true, taken(tx.AddFact(ctx, f), "a fact")
}

// hasRoom makes sure that the timeline has at most one valid fact at any instant,
// and at most one that is told. KindConflict: it would have two.
func hasRoom(ctx context.Context, tx db.UserTx, f memory.Fact) error {
	const beside = "the timeline has another fact %s already: nothing was overwritten"
	if f.EndsMemory {
		if _, ok, err := tx.FactWithMemory(ctx, f.Type, f.Key); err != nil || ok {
			return orConflict(err, beside, "that is told")
		}
	}
	if f.State != memory.FactAccepted {
		return nil
	}
	if _, ok, err := tx.FactAt(ctx, f.Type, f.Key, f.ValidFrom); err != nil || ok {
		return orConflict(err, beside, "at its valid_from")
	}
	next, err := tx.NextFact(ctx, f.Type, f.Key, f.ValidFrom)
	if err != nil || !next.IsZero() && (f.ValidUntil.IsZero() || next.Before(f.ValidUntil)) {
		return orConflict(err, beside, "before its valid_until")
	}
	return nil
}

// orConflict is err, or else a KindConflict that says why.
func orConflict(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return memory.Errorf(memory.KindConflict, format, args...)
}
