package facts

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// change is the work of one transaction on the timelines of a user.
type change struct {
	*history.Recorder
	s         *Service
	tx        db.UserTx
	p         *Prepared
	now       time.Time
	timelines []timeline             // that have changed, each once
	saved     map[string]memory.Fact // by id, in their present form
	done      Applied
}

// timeline names a timeline of the user.
type timeline struct{ factType, key string }

func (s *Service) begin(tx db.UserTx, p *Prepared, cause string) *change {
	now := memory.Instant(s.Now())
	return &change{
		Recorder: history.NewRecorder(tx, cause, now), s: s, tx: tx, p: p, now: now,
		saved: map[string]memory.Fact{}, done: Applied{owner: p.owner},
	}
}

// take weighs and records one piece of evidence.
func (c *change) take(ctx context.Context, e Evidence) (Outcome, error) {
	fact := memory.Fact{
		ID: memory.NewID(), Owner: c.p.owner, Type: e.Type, Key: e.Key, Value: e.Value, Confidence: e.Confidence,
		ValidFrom: e.ValidFrom, ValidUntil: e.ValidUntil, Source: e.Source, RecordedAt: c.now,
	}
	if fact.ValidFrom.IsZero() {
		fact.ValidFrom = c.now
		if !fact.ValidUntil.IsZero() && !fact.ValidUntil.After(c.now) {
			return Outcome{}, memory.Invalid(memory.Field{Path: "valid_until", Message: "has passed: give valid_from also"})
		}
	}
	valid, ok, err := c.tx.FactAt(ctx, e.Type, e.Key, fact.ValidFrom)
	if err != nil {
		return Outcome{}, err
	}
	next, err := c.tx.NextFact(ctx, e.Type, e.Key, fact.ValidFrom)
	if err != nil {
		return Outcome{}, err
	}
	var previous *memory.Fact
	if ok {
		previous = &valid
	}
	fact, previous = weigh(fact, previous, next, c.s.trust)
	fact.Due = due(fact, c.now)
	if fact.State != memory.FactRefused {
		if previous != nil {
			if err := c.save(ctx, previous); err != nil {
				return Outcome{}, err
			}
		}
		c.touch(timeline{e.Type, e.Key})
	}
	return Outcome{Fact: fact, Previous: previous}, c.tx.AddFact(ctx, fact)
}

// end ends the fact that is valid at an instant. It leaves a mark there: evidence that is reported later, and valid
// from an earlier time, does not reach beyond the mark.
func (c *change) end(ctx context.Context, factType, key string, at time.Time) (memory.Fact, error) {
	if at = memory.Instant(at); at.IsZero() {
		at = c.now
	}
	ended, ok, err := c.tx.FactAt(ctx, factType, key, at)
	if err != nil {
		return memory.Fact{}, err
	}
	if !ok {
		return memory.Fact{}, memory.Errorf(memory.KindNotFound,
			"no fact of this type and key is valid at %s", at.Format(time.RFC3339Nano))
	}
	ended.ValidUntil = at
	if ended.ValidFrom.Equal(at) {
		ended.State, ended.Reason = memory.FactReplaced, "it was ended at the instant at which it began"
		ended.ValidUntil = time.Time{}
	}
	if err := c.save(ctx, &ended); err != nil {
		return memory.Fact{}, err
	}
	c.touch(timeline{factType, key})
	return ended, c.tx.AddFact(ctx, memory.Fact{
		ID: memory.NewID(), Owner: c.p.owner, Type: factType, Key: key, Confidence: 1, ValidFrom: at,
		State: memory.FactEnded, Reason: "ended by request", RecordedAt: c.now,
	})
}

// save stores a changed fact.
func (c *change) save(ctx context.Context, f *memory.Fact) error {
	f.Due = due(*f, c.now)
	c.saved[f.ID] = *f
	return c.tx.ChangeFact(ctx, *f)
}

// touch makes finish update the memory of a timeline.
func (c *change) touch(t timeline) {
	if !slices.Contains(c.timelines, t) {
		c.timelines = append(c.timelines, t)
	}
}

// finish updates the memories of the changed timelines, and writes the events.
func (c *change) finish(ctx context.Context) (Applied, error) {
	if err := c.mirror(ctx); err != nil {
		return Applied{}, err
	}
	for i := range c.done.Outcomes {
		o := &c.done.Outcomes[i]
		c.refresh(&o.Fact)
		if o.Previous != nil {
			c.refresh(o.Previous)
		}
	}
	c.done.changed = c.Changed()
	return c.done, c.Flush(ctx)
}

// refresh replaces a fact by its present form.
func (c *change) refresh(f *memory.Fact) {
	if saved, ok := c.saved[f.ID]; ok {
		*f = saved
	}
}
