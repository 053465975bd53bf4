package facts

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
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

// end ends the fact that is valid at an instant. It leaves a mark there, beyond
// which later evidence of an earlier time does not reach.
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

// touch has finish update the memory of a timeline.
func (c *change) touch(t timeline) {
	if !slices.Contains(c.timelines, t) {
		c.timelines = append(c.timelines, t)
	}
}

// finish updates the memories of the changed timelines, and writes the events.
func (c *change) finish(ctx context.Context) (Applied, error) {
	for _, t := range c.timelines {
		if err := c.mirror(ctx, t); err != nil {
			return Applied{}, err
		}
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

// mirror makes the fact of a timeline that is valid now the one with a memory. If
// its content is not embedded (its time began, and the schedule has not run
// since), it changes nothing and leaves it to the schedule.
func (c *change) mirror(ctx context.Context, t timeline) error {
	old, hasOld, err := c.tx.FactWithMemory(ctx, t.factType, t.key)
	if err != nil {
		return err
	}
	valid, isValid, err := c.tx.FactAt(ctx, t.factType, t.key, c.now)
	if err != nil {
		return err
	}
	if hasOld && isValid && old.ID == valid.ID {
		return c.strengthen(ctx, valid)
	}
	var m memory.Memory
	if isValid {
		worded := c.p.wordingOf(valid)
		if c.p.vectors[worded.content] == nil {
			return nil
		}
		m = c.draft(valid, worded)
	}
	if hasOld {
		if err := c.retire(ctx, old, m.ID); err != nil {
			return err
		}
	}
	if !isValid {
		return nil
	}
	c.Note(m.ID, memory.EventCreated, origin{valid.ID})
	if err := c.tx.Insert(ctx, []memory.Memory{m}, c.s.Pusher.ClaimedUntil()); err != nil {
		return err
	}
	c.done.added = append(c.done.added, m)
	valid.MemoryID, valid.EndsMemory = m.ID, true
	return c.save(ctx, &valid)
}

// origin is the detail of the events of a fact's memory.
type origin struct {
	Fact string `json:"fact"`
}

// changedOrigin is the detail of the changes of a fact's memory.
type changedOrigin struct {
	*history.Change
	origin
}

// retire ends the memory of a fact that is no longer valid: superseded by the
// memory replacement, or forgotten if that is empty.
func (c *change) retire(ctx context.Context, old memory.Fact, replacement string) error {
	old.EndsMemory = false
	if err := c.save(ctx, &old); err != nil {
		return err
	}
	m, ok, err := c.active(ctx, old.MemoryID)
	if err != nil || !ok {
		return err
	}
	before, kind := m, memory.EventForgotten
	m.Status = memory.Forgotten
	if replacement != "" {
		kind = memory.EventSuperseded
		m.Status, m.SupersededBy = memory.Superseded, replacement
	}
	c.Note(m.ID, kind, changedOrigin{history.Diff(before, m), origin{old.ID}})
	return c.Update(ctx, before, &m)
}

// strengthen raises the importance of a fact's memory, and the confidence in its
// metadata, to those of the fact.
func (c *change) strengthen(ctx context.Context, f memory.Fact) error {
	m, ok, err := c.active(ctx, f.MemoryID)
	if err != nil || !ok {
		return err
	}
	before := m
	m.Importance = max(m.Importance, c.p.wordingOf(f).importanceOf(m.Content, m.Domain, f.Confidence))
	m.Metadata = restated(m.Metadata, f)
	changes := history.Diff(before, m)
	if changes == nil {
		return nil
	}
	c.Note(m.ID, memory.EventUpdated, changedOrigin{changes, origin{f.ID}})
	return c.Update(ctx, before, &m)
}

// active returns a memory of the user if it is still active.
func (c *change) active(ctx context.Context, id string) (m memory.Memory, ok bool, err error) {
	found, err := c.tx.Memories(ctx, []string{id})
	if err != nil || len(found) == 0 || found[0].Status != memory.Active {
		return m, false, err
	}
	return found[0], true, nil
}

// draft is the memory of a fact. It is dated by when the fact was said, not by when
// it began, and it has not faded.
func (c *change) draft(f memory.Fact, w wording) memory.Memory {
	domain := c.s.Guess(w.content)
	m := memory.Memory{
		ID: memory.NewID(), Owner: c.p.owner, Content: w.content, Type: memory.TypeFact, Domain: domain,
		Importance: w.importanceOf(w.content, domain, f.Confidence), Metadata: Metadata(f), Status: memory.Active,
		CreatedAt: c.now, UpdatedAt: c.now, LastAccessedAt: c.now, Lexemes: text.Join(text.Lexemes(w.content)),
		Embedding: c.p.vectors[w.content], EmbeddingModel: c.p.model, Revision: 1,
	}
	if !w.said.IsZero() && w.said.Before(c.now) {
		m.CreatedAt = memory.Instant(w.said)
	}
	return m
}
