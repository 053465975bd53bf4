package facts

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// change is one transaction's work on the timelines of a user.
type change struct {
	*history.Recorder
	s     *Service
	tx    db.UserTx
	p     *Prepared
	now   time.Time
	lines []line                 // that have changed, each once
	saved map[string]memory.Fact // as they stand, by id
	done  Applied
}

// line names a timeline of the user.
type line struct{ factType, key string }

func (s *Service) begin(tx db.UserTx, p *Prepared, cause string) *change {
	now := memory.Instant(s.Now())
	return &change{Recorder: history.Record(tx, cause, now), s: s, tx: tx, p: p, now: now,
		saved: map[string]memory.Fact{}, done: Applied{owner: p.owner}}
}

// take weighs one piece of evidence.
func (c *change) take(ctx context.Context, e Evidence) (Outcome, error) {
	fact := memory.Fact{
		ID: memory.NewID(), Owner: c.p.owner, Type: e.Type, Key: e.Key, Value: e.Value, Confidence: e.Confidence,
		ValidFrom: e.ValidFrom, ValidUntil: e.ValidUntil, Source: e.Source, RecordedAt: c.now,
	}
	if fact.ValidFrom.IsZero() {
		if fact.ValidFrom = c.now; !fact.ValidUntil.IsZero() && !fact.ValidUntil.After(c.now) {
			return Outcome{}, memory.Invalid(memory.Field{Path: "valid_until", Message: "has passed: give valid_from, too"})
		}
	}
	is, ok, err := c.tx.FactAt(ctx, e.Type, e.Key, fact.ValidFrom)
	if err != nil {
		return Outcome{}, err
	}
	next, err := c.tx.NextFact(ctx, e.Type, e.Key, fact.ValidFrom)
	if err != nil {
		return Outcome{}, err
	}
	var was *memory.Fact
	if ok {
		was = &is
	}
	fact, was = weigh(fact, was, next, c.s.trust)
	if was != nil && fact.State != memory.FactRefused {
		if err := c.save(ctx, was); err != nil {
			return Outcome{}, err
		}
	}
	fact.Due = due(fact, c.now)
	if fact.State != memory.FactRefused {
		c.touch(line{e.Type, e.Key})
	}
	return Outcome{Fact: fact, Previous: was}, c.tx.AddFact(ctx, fact)
}

// end ends what is valid at an instant, and leaves a mark there: what is told
// later of the time before does not reach beyond it.
func (c *change) end(ctx context.Context, factType, key string, at time.Time) (memory.Fact, error) {
	if at = memory.Instant(at); at.IsZero() {
		at = c.now
	}
	is, ok, err := c.tx.FactAt(ctx, factType, key, at)
	if err != nil {
		return memory.Fact{}, err
	}
	if !ok {
		return memory.Fact{}, memory.Errorf(memory.KindNotFound, "no fact of this type and key is valid at %s", at.Format(time.RFC3339Nano))
	}
	if is.ValidUntil = at; is.ValidFrom.Equal(at) {
		is.State, is.Reason, is.ValidUntil = memory.FactReplaced, "it was ended at the instant at which it began", time.Time{}
	}
	if err := c.save(ctx, &is); err != nil {
		return memory.Fact{}, err
	}
	c.touch(line{factType, key})
	return is, c.tx.AddFact(ctx, memory.Fact{
		ID: memory.NewID(), Owner: c.p.owner, Type: factType, Key: key, Confidence: 1, ValidFrom: at,
		State: memory.FactEnded, Reason: "ended by request", RecordedAt: c.now,
	})
}

// save stores what has changed of a fact.
func (c *change) save(ctx context.Context, f *memory.Fact) error {
	f.Due = due(*f, c.now)
	c.saved[f.ID] = *f
	return c.tx.ChangeFact(ctx, *f)
}

// touch has finish look after a timeline.
func (c *change) touch(l line) {
	if !slices.Contains(c.lines, l) {
		c.lines = append(c.lines, l)
	}
}

// finish brings the memories of the changed timelines in step, and writes the events.
func (c *change) finish(ctx context.Context) (Applied, error) {
	for _, l := range c.lines {
		if err := c.mirror(ctx, l); err != nil {
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

// refresh shows a fact as it stands after all changes.
func (c *change) refresh(f *memory.Fact) {
	if is, ok := c.saved[f.ID]; ok {
		*f = is
	}
}

// mirror makes the fact of a timeline that is valid now the one that has a
// memory. Where what it says is not embedded (its time began and the schedule
// has not been there yet), nothing changes until the schedule comes.
func (c *change) mirror(ctx context.Context, l line) error {
	told, isTold, err := c.tx.FactWithMemory(ctx, l.factType, l.key)
	if err != nil {
		return err
	}
	valid, isValid, err := c.tx.FactAt(ctx, l.factType, l.key, c.now)
	if err != nil {
		return err
	}
	if isTold && isValid && told.ID == valid.ID {
		return c.strengthen(ctx, valid)
	}
	var m memory.Memory
	if isValid {
		content := Content(valid.Key, valid.Value)
		if c.p.vectors[content] == nil {
			return nil
		}
		m = c.draft(valid, content)
	}
	if isTold {
		if err := c.retire(ctx, told, m.ID); err != nil {
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

// origin is the detail of the events of a fact's memory, beside what changed.
type origin struct {
	Fact string `json:"fact"`
}

// outdated is the detail of the end of a fact's memory.
type outdated struct {
	*history.Change
	origin
}

// retire ends the memory of a fact that is not valid any more: superseded by
// another one's, or forgotten where there is none ("").
func (c *change) retire(ctx context.Context, told memory.Fact, by string) error {
	told.EndsMemory = false
	if err := c.save(ctx, &told); err != nil {
		return err
	}
	m, ok, err := c.active(ctx, told.MemoryID)
	if err != nil || !ok {
		return err
	}
	before, kind := m, memory.EventForgotten
	if m.Status = memory.Forgotten; by != "" {
		m.Status, m.SupersededBy, kind = memory.Superseded, by, memory.EventSuperseded
	}
	c.Note(m.ID, kind, outdated{history.Diff(before, m), origin{told.ID}})
	return c.Update(ctx, before, &m)
}

// strengthen raises the importance of a fact's memory to what its confidence is worth.
func (c *change) strengthen(ctx context.Context, f memory.Fact) error {
	m, ok, err := c.active(ctx, f.MemoryID)
	if err != nil || !ok || m.Importance >= Importance(f.Confidence) {
		return err
	}
	before := m
	m.Importance = Importance(f.Confidence)
	c.Note(m.ID, memory.EventUpdated, outdated{history.Diff(before, m), origin{f.ID}})
	return c.Update(ctx, before, &m)
}

// active is a memory of the user that nobody has taken out of use meanwhile.
func (c *change) active(ctx context.Context, id string) (m memory.Memory, ok bool, err error) {
	found, err := c.tx.Memories(ctx, []string{id})
	if err != nil || len(found) == 0 || found[0].Status != memory.Active {
		return m, false, err
	}
	return found[0], true, nil
}

// metadata says of a memory which fact it tells.
func metadata(f memory.Fact) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"fact": map[string]string{"type": f.Type, "key": f.Key}}) // strings only: cannot fail
	return b
}

// draft is the memory of a fact. It is as old as the knowledge, not as the
// fact: where somebody was born is no faded memory.
func (c *change) draft(f memory.Fact, content string) memory.Memory {
	return memory.Memory{
		ID: memory.NewID(), Owner: c.p.owner, Content: content, Type: memory.TypeFact, Domain: c.s.Guess(content),
		Importance: Importance(f.Confidence), Metadata: metadata(f), Status: memory.Active,
		CreatedAt: c.now, UpdatedAt: c.now, LastAccessedAt: c.now, Lexemes: text.Join(text.Lexemes(content)),
		Embedding: c.p.vectors[content], EmbeddingModel: c.p.model, Revision: 1,
	}
}
