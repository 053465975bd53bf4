package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/statement"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Scope is how far the forgetting or restoring of a memory goes.
type Scope string

// The scopes.
const (
	OfStatement Scope = "statement" // all that states the same, as package statement finds it
	OfItem      Scope = "item"      // the memory alone
)

// Forgetting is how memories are forgotten.
type Forgetting struct {
	Scope  Scope
	DryRun bool // only find out what would be done
}

// Effect is the change of a memory that the change of another one caused.
type Effect struct {
	ID   string
	Type memory.Type
	Done Done
	Why  statement.Why
}

// Done says how a memory was changed.
type Done string

// What may be done.
const (
	DoneForgotten Done = "forgotten"
	DoneShortened Done = "shortened" // a message stays without the sentences that state or ask it
	DoneRestored  Done = "restored"  // also a memory that a withdrawn summary had condensed
	DoneReverted  Done = "reverted"  // a message has its sentences again, or a source is condensed again
	DoneKept      Done = "kept"      // nothing, since it is pinned
)

// Forget soft-deletes a memory of the app: it leaves recall and the vector store, and can be restored until it is
// purged. With OfStatement it does the same to memories that state the same, and shortens messages that say more;
// pinned memories are kept. Forgetting twice changes nothing.
func (s *Service) Forget(ctx context.Context, appID, id string, scope Scope) (Edited, error) {
	e := s.ForgetAll(ctx, appID, []string{id}, Forgetting{Scope: scope})[0]
	return e, e.Err
}

// ForgetAll is Forget for many memories of the app, of any users. It returns a result for each id, in the same order.
// An error of one id does not affect the others, except for those in the same batch of one user, which fail as a whole.
func (s *Service) ForgetAll(ctx context.Context, appID string, ids []string, how Forgetting) []Edited {
	forget := func(ctx context.Context, owner memory.Owner, batch []memory.Memory) (results []Edited, err error) {
		p := &forgetting{Service: s, by: llm.Serving(s.Embedder), owner: owner, batch: batch, Forgetting: how}
		for range plans {
			if how.Scope != OfItem {
				if err := p.plan(ctx); err != nil {
					return nil, err
				}
			}
			if results, err = p.run(ctx); !errors.Is(err, errOutdated) {
				break
			}
		}
		return results, err
	}
	return s.editAll(ctx, appID, ids, forget)
}

// plans is how often forgetting is planned while the messages that are to be shortened keep changing.
const plans = 3

// errOutdated rolls back a transaction whose plan was made before a content changed.
var errOutdated = memory.Errorf(memory.KindConflict, "what was read has changed at the same time: try again")

func forget(m *memory.Memory) error {
	m.Status, m.SupersededBy = memory.Forgotten, ""
	m.Faded = false
	return nil
}

// together is the detail of the event of a forgotten memory, and of the events of memories that were changed with it.
type together struct {
	Change    *history.Change `json:"change"`
	Statement string          `json:"statement"`       // id of the memory that was to be forgotten
	Also      []string        `json:"also,omitempty"`  // of the forgotten memory's event: ids of the other memories
	Turns     []string        `json:"turns,omitempty"` // of the forgotten memory's event: ids of turns with withheld parts
	Facts     []formerFact    `json:"facts,omitempty"` // of the forgotten memory's event: facts that left their timelines
	Turn      string          `json:"turn,omitempty"`  // id of the turn that was withdrawn; then no restore undoes it
}

// run makes the planned changes in one transaction.
func (p *forgetting) run(ctx context.Context) (results []Edited, err error) {
	err = p.inUser(ctx, p.owner, func(ctx context.Context, tx db.UserTx, changes *history.Recorder) (err error) {
		results, err = p.change(ctx, tx, changes)
		return err
	})
	return results, err
}

// change makes the planned changes in a transaction of the owner.
func (p *forgetting) change(ctx context.Context, tx db.UserTx, changes *history.Recorder) ([]Edited, error) {
	ids := make([]string, len(p.planned))
	for i, c := range p.planned {
		ids[i] = c.ID
	}
	p.done = map[string]*consequences{}
	forgotten := map[string]string{} // id of the memory of the batch, by the id of a memory that is forgotten with it
	sayings := slices.Clone(p.sayings)
	var relinked []memory.Relation
	var revived []memory.Memory
	found, err := tx.Memories(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range p.planned {
		i := slices.IndexFunc(found, func(m memory.Memory) bool { return m.ID == c.ID })
		if i < 0 { // it was purged
			continue
		}
		m := &found[i]
		before := *m
		done, kind, err := c.apply(m, p.by.Model(), memory.Instant(p.Now()))
		if err != nil {
			return nil, err
		}
		if done == "" {
			continue
		}
		if m.Type == memory.TypeMessage && (done == DoneForgotten || m.Content != before.Content) {
			sayings = append(sayings, c.saying(before))
		}
		if m.Type != memory.TypeMessage && done == DoneForgotten {
			forgotten[m.ID] = c.root.ID
		}
		if done == DoneKept {
			sayings = slices.DeleteFunc(sayings, func(s saying) bool { return s.isOf(before) })
		}
		of := p.of(c.root.ID)
		of.effects = append(of.effects, Effect{ID: m.ID, Type: m.Type, Done: done, Why: c.Why})
		if difference := history.Diff(before, *m); difference != nil && !p.DryRun {
			of.also = append(of.also, m.ID)
			changes.Note(m.ID, kind, together{Change: difference, Statement: c.root.ID, Turn: p.turnID()})
			if err := changes.Update(ctx, before, m); err != nil {
				return nil, err
			}
			if isRevived(before, *m) {
				revived = append(revived, *m)
			}
			if m.SupersededBy != "" && m.SupersededBy != before.SupersededBy {
				relinked = append(relinked, memory.Relation{
					From: m.SupersededBy, Kind: memory.Contradicts, To: m.ID, CreatedAt: memory.Instant(p.Now()),
				})
			}
		}
	}
	if err := tx.AddRelations(ctx, relinked); err != nil {
		return nil, err
	}
	results, err := p.forgetBatch(ctx, tx, changes, sayings, forgotten)
	if err != nil {
		return nil, err
	}
	if !p.DryRun {
		gone := memory.IDs(p.batch)
		for _, of := range p.done {
			gone = append(gone, of.also...)
		}
		if err := tx.RemoveLines(ctx, gone); err != nil {
			return nil, err
		}
	}
	if p.settle != nil && len(revived) > 0 {
		if err := p.settle(ctx, tx, changes, revived); err != nil {
			return nil, err
		}
	}
	settled, err := settledEffects(ctx, changes)
	if err != nil || len(settled) == 0 {
		return results, err
	}
	if len(results) > 0 && p.turn == nil {
		results[0].Effects = append(results[0].Effects, settled...)
	} else {
		p.of("").effects = append(p.of("").effects, settled...)
	}
	return results, nil
}

// consequences are the further changes that come from forgetting a memory of the batch.
type consequences struct {
	effects []Effect
	also    []string // ids of the other memories that it changes
	facts   []FactEffect
	former  []formerFact
}

func (p *forgetting) of(root string) *consequences {
	if p.done[root] == nil {
		p.done[root] = &consequences{}
	}
	return p.done[root]
}

// forgetBatch forgets the memories of the batch. It withholds from the log what these and the others state, and takes
// their facts from the timelines.
func (p *forgetting) forgetBatch(
	ctx context.Context, tx db.UserTx, changes *history.Recorder, sayings []saying, forgotten map[string]string,
) (results []Edited, err error) {
	batch, err := tx.Memories(ctx, memory.IDs(p.batch))
	if err != nil {
		return nil, err
	}
	place := func(m memory.Memory) int {
		return slices.IndexFunc(p.batch, func(b memory.Memory) bool { return b.ID == m.ID })
	}
	slices.SortFunc(batch, func(a, b memory.Memory) int { return cmp.Compare(place(a), place(b)) })
	for _, m := range batch {
		switch {
		case p.Scope == OfItem || isGone(m):
		case m.Type == memory.TypeMessage && p.turn != nil: // its messages are withdrawn
		case m.Type == memory.TypeMessage:
			sayings = append(sayings, sayingOf(m, m.ID, sentencesOf(m)))
		default:
			forgotten[m.ID] = m.ID
		}
	}
	if p.log, err = p.withhold(ctx, tx, sayings); err != nil {
		return nil, err
	}
	if err := p.forgetFacts(ctx, tx, forgotten); err != nil {
		return nil, err
	}
	for i := range batch {
		m := &batch[i]
		of, events := p.of(m.ID), p.log.of(m.ID)
		if !p.DryRun {
			before := *m
			_ = forget(m)
			if difference := history.Diff(before, *m); difference != nil {
				var detail any = difference
				if p.Scope != OfItem {
					detail = together{
						Change: difference, Statement: m.ID, Also: of.also, Turns: events.turnIDs, Facts: of.former,
						Turn: p.turnID(),
					}
				}
				changes.Note(m.ID, memory.EventForgotten, detail)
				if err := changes.Update(ctx, before, m); err != nil {
					return nil, err
				}
				if err := p.noteUnwanted(ctx, tx, before); err != nil {
					return nil, err
				}
			}
		}
		m.Embedding = nil
		results = append(results, Edited{
			ID: m.ID, Memory: *m, Effects: of.effects, Facts: of.facts, Log: events.events,
		})
	}
	return results, nil
}

// soon is the age up to which a fact that is forgotten by hand says something about the gate that has kept it.
const soon = 7 * 24 * time.Hour

// noteUnwanted notes that a fact which the gate has just kept is forgotten by hand, unless its whole turn is withdrawn.
func (p *forgetting) noteUnwanted(ctx context.Context, tx db.UserTx, m memory.Memory) error {
	at := memory.Instant(p.Now())
	isOfGate := m.Type != memory.TypeMessage && !m.Type.IsDerived() && m.SourceTurnID != "" && p.turn == nil
	if !isOfGate || m.Status != memory.Active || at.Sub(m.CreatedAt) > soon {
		return nil
	}
	_, err := tx.AddFeedback(ctx, []memory.Feedback{{
		Owner: m.Owner, SourceID: m.ID, MemoryID: m.ID, Kind: memory.FeedbackForgotten, Score: m.Importance, At: at,
	}})
	return err
}

// apply changes a memory as planned; model is that of the embedding. It changes nothing, and returns "", if the change
// is not needed any more.
func (c *planned) apply(m *memory.Memory, model string, now time.Time) (Done, memory.EventKind, error) {
	before := *m
	switch {
	case c.unasked && m.Status != memory.Active && !(m.Faded && !c.onlyUnasks()):
		m.Asked = ""
		m.Embed(c.embedding, model)
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
		return DoneShortened, memory.EventUpdated, nil
	case m.Faded: // even if it states more, since no recall shows it
		return DoneForgotten, memory.EventForgotten, forget(m)
	case m.Status == memory.Forgotten, c.undo != nil && !c.undo(m):
		return "", "", nil
	case c.embedding != nil:
		m.Embed(c.embedding, model)
	}
	switch {
	case c.undo != nil:
		if m.IndexedText() != before.IndexedText() {
			m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
		}
		if before.Status == memory.Active || m.Status != memory.Active {
			return DoneReverted, kindOf(before, *m), nil
		}
		m.LastAccessedAt = now
		return DoneRestored, memory.EventRestored, nil
	case m.Pinned && !c.onlyUnasks():
		return DoneKept, "", nil
	case c.Left != "" && m.Content != c.said:
		return "", "", errOutdated
	case c.Left != "":
		m.Content = c.Left
		if c.unasked {
			m.Asked = ""
		}
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
		return DoneShortened, memory.EventUpdated, nil
	}
	return DoneForgotten, memory.EventForgotten, forget(m)
}
