package facts

import (
	"bytes"
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// compare finds out what the memories of facts mean for the active memories near them, except for
// the memories that they replace. Facts that would get no memory now are left out. It must run before the transaction,
// since it waits for a model.
func (s *Service) compare(ctx context.Context, p *Prepared, list []memory.Fact) (err error) {
	now := memory.Instant(s.Now())
	var drafts []memory.Memory
	var except []string
	for _, f := range list {
		valid, err := s.Records.ListFacts(ctx, db.FactFilter{
			Owner: p.owner, Type: f.Type, Key: f.Key, At: now, Limit: 1,
		})
		if err != nil {
			return err
		}
		if f.ValidFrom.IsZero() {
			f.ValidFrom = now
		}
		needed := f.Valid(now)
		for _, v := range valid {
			needed = needed && !v.ValidFrom.After(f.ValidFrom) && !(v.EndsMemory && bytes.Equal(v.Value, f.Value))
			if !needed || !v.EndsMemory {
				continue
			}
			replaced, err := s.Records.Memory(ctx, p.owner.AppID, v.MemoryID)
			if err != nil && !memory.IsKind(err, memory.KindNotFound) {
				return err
			}
			if err == nil && !statesAnother(replaced.Metadata, v) {
				except = append(except, v.MemoryID)
			}
		}
		if needed {
			drafts = append(drafts, s.draft(p, f, now))
		}
	}
	p.settle, err = s.Compare(ctx, p.owner, drafts, except)
	return err
}

// draft is the memory of a fact whose wording is embedded. It is dated by when the fact was said, not by when it began,
// and it has not faded.
func (s *Service) draft(p *Prepared, f memory.Fact, now time.Time) memory.Memory {
	w := p.wordingOf(f)
	domain := s.Guess(w.content)
	m := memory.Memory{
		ID: p.idOf(f), Owner: p.owner, Content: w.content, Type: memory.TypeFact, Domain: domain,
		Importance: w.importanceOf(w.content, domain, f.Confidence), Metadata: Metadata(f), Status: memory.Active,
		CreatedAt: now, UpdatedAt: now, LastAccessedAt: now, Lexemes: text.Join(text.Lexemes(w.content)),
		Revision: 1,
	}
	m.Embed(p.vectors[w.content], p.model)
	if !w.said.IsZero() && w.said.Before(now) {
		m.CreatedAt = memory.Instant(w.said)
	}
	return m
}

// beginning is a fact that gets a memory.
type beginning struct {
	fact memory.Fact
	old  *memory.Fact // the fact of the timeline that has a memory now; nil if no fact has
}

// mirror ensures that, on the changed timelines, exactly the facts that are valid now have memories. If the content of
// one is not embedded (its time began, and the schedule has not run since), it changes nothing of that timeline and
// leaves it to the schedule.
func (c *change) mirror(ctx context.Context) error {
	var begun []beginning
	var drafts []history.Draft
	for _, t := range c.timelines {
		old, hasOld, err := c.tx.FactWithMemory(ctx, t.factType, t.key)
		if err != nil {
			return err
		}
		valid, isValid, err := c.tx.FactAt(ctx, t.factType, t.key, c.now)
		if err != nil {
			return err
		}
		switch {
		case hasOld && isValid && old.ID == valid.ID:
			err = c.strengthen(ctx, valid)
		case isValid && c.p.vectors[c.p.wordingOf(valid).content] != nil:
			b := beginning{fact: valid}
			if hasOld {
				b.old = &old
			}
			begun = append(begun, b)
			drafts = append(drafts, history.Draft{Memory: c.s.draft(c.p, valid, c.now), Detail: origin{valid.ID}})
		case hasOld && !isValid:
			err = c.retire(ctx, old, "")
		}
		if err != nil {
			return err
		}
	}
	if len(begun) == 0 {
		return nil
	}
	held, err := c.p.settle(ctx, c.tx, c.Recorder, drafts)
	if err != nil {
		return err
	}
	for i, b := range begun {
		if held[i].ID == drafts[i].ID && held[i].Status == memory.Active {
			c.done.added = append(c.done.added, held[i])
		}
		if err := c.state(ctx, b, held[i]); err != nil {
			return err
		}
	}
	return nil
}

// state links a fact to the memory that states it, in place of the memory that stated the timeline's fact before. The
// fact ends if the memory is superseded by what was said later.
func (c *change) state(ctx context.Context, b beginning, held memory.Memory) error {
	if b.old != nil {
		if err := c.retire(ctx, *b.old, held.ID); err != nil {
			return err
		}
	}
	b.fact.MemoryID = held.ID
	b.fact.EndsMemory = true
	if err := c.save(ctx, &b.fact); err != nil {
		return err
	}
	if held.Status == memory.Superseded {
		return c.endWith(ctx, b.fact, held)
	}
	return c.strengthen(ctx, b.fact)
}

// ended is the detail of the memory event that records the end of a fact.
type ended struct {
	origin
	Ended []history.EndedFact `json:"ended_facts"`
}

// endWith ends a fact whose memory is superseded by one that does not have its value.
func (c *change) endWith(ctx context.Context, f memory.Fact, held memory.Memory) error {
	by, err := c.tx.Memories(ctx, []string{held.SupersededBy})
	if err != nil || len(by) == 0 || !history.IsMissing(f, by[0].Content) {
		return err
	}
	facts, err := history.EndFacts(ctx, c.tx, held.ID, by[0].Said(), "memory "+by[0].ID+" says otherwise",
		func(other memory.Fact) bool { return other.ID == f.ID })
	if err != nil || len(facts) == 0 {
		return err
	}
	c.Note(held.ID, memory.EventUpdated, ended{origin{f.ID}, facts})
	f, _, err = c.tx.RecordedFact(ctx, f.ID)
	c.saved[f.ID] = f
	return err
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

// retire ends the memory of a fact that is no longer valid: it is superseded by the memory replacement, or forgotten if
// replacement is empty. A memory stays if it states the fact of another timeline, or also holds the next value.
func (c *change) retire(ctx context.Context, old memory.Fact, replacement string) error {
	old.EndsMemory = false
	if err := c.save(ctx, &old); err != nil {
		return err
	}
	m, ok, err := c.present(ctx, old.MemoryID)
	if err != nil || !ok || m.ID == replacement || statesAnother(m.Metadata, old) {
		return err
	}
	before, kind := m, memory.EventForgotten
	m.Status, m.Faded = memory.Forgotten, false
	if replacement != "" {
		kind = memory.EventSuperseded
		m.Status, m.SupersededBy = memory.Superseded, replacement
	}
	c.Note(m.ID, kind, changedOrigin{history.Diff(before, m), origin{old.ID}})
	return c.Update(ctx, before, &m)
}

// strengthen raises the importance of a fact's memory, and what its metadata states of the fact, to the values of the
// fact.
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

// present returns a memory of the user if it is still active, or if it has faded and could be recollected.
func (c *change) present(ctx context.Context, id string) (m memory.Memory, ok bool, err error) {
	found, err := c.tx.Memories(ctx, []string{id})
	if err != nil || len(found) == 0 || found[0].Status != memory.Active && !found[0].Faded {
		return m, false, err
	}
	return found[0], true, nil
}

// active returns a memory of the user if it is still active.
func (c *change) active(ctx context.Context, id string) (m memory.Memory, ok bool, err error) {
	found, err := c.tx.Memories(ctx, []string{id})
	if err != nil || len(found) == 0 || found[0].Status != memory.Active {
		return m, false, err
	}
	return found[0], true, nil
}
