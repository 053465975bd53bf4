package write

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// change is the result of comparing a draft, before it is stored.
type change struct {
	draft      memory.Memory  // as it is to be stored
	into       *memory.Memory // the memory that it is merged into; nil: it becomes a memory of its own
	similarity float64        // to into
	verdict    memory.Verdict
	reason     string
	replaces   []replacement // memories that the draft, or into, supersedes
	replacedBy []verdict     // on memories that were said later and supersede it
}

// replacement is the verdict that a draft replaces a memory, or the memory the draft.
type replacement struct {
	verdict
	memory *memory.Memory
}

// transaction writes drafts in a transaction of their user, and keeps what it has stored so far, so that each draft is
// compared with the earlier ones.
type transaction struct {
	*history.Recorder
	w      *Writer
	tx     db.UserTx
	except []string // ids of memories that no draft concerns
	begun  reading  // of the facts with which stored facts are compared; see settle

	recent    []memory.Memory  // so recent that searches may not find them yet
	inserted  []*memory.Memory // which are stored at the end, all at once
	outdated  []memory.Memory  // those of inserted that were superseded since, as they were before
	relations []memory.Relation
	undecided []*memory.Memory // those of inserted on which the judge gave no verdict
}

// write finds the place of each draft and stores it. errOutdated: the drafts must be compared again.
func (t *transaction) write(ctx context.Context, drafts []Draft, compared comparison) (written []Written, err error) {
	var unseen []memory.Memory
	if slices.ContainsFunc(drafts, Draft.isCompared) {
		// Another process may have written after the search and before this transaction got the lock.
		if t.recent, err = t.readRecent(ctx, compared.begun); err != nil {
			return nil, err
		}
		unseen = slices.DeleteFunc(compared.outdated(t.recent), func(m memory.Memory) bool {
			return slices.Contains(t.except, m.ID)
		})
	}
	for i, d := range drafts {
		c, found := isNew(d), finding{}
		if d.isCompared() {
			if found, err = compared.settle(t.w, d, compared.findings[i], unseen); err != nil {
				return nil, err
			}
			if c, err = t.place(ctx, d, found); err != nil {
				return nil, err
			}
		}
		held, err := t.store(ctx, d, c)
		if err != nil {
			return nil, err
		}
		if found.failed && c.into == nil {
			t.undecided = append(t.undecided, t.insertedBy(d.ID))
		}
		written = append(written, held)
	}
	for i := range written {
		if m := t.insertedBy(written[i].Memory.ID); m != nil {
			written[i].Memory = *m // a later draft may have changed it
		}
	}
	return written, t.flush(ctx)
}

// isNew makes a draft a memory of its own.
func isNew(d Draft) change {
	return change{draft: d.Memory, verdict: memory.Kept, reason: "nothing like it was known"}
}

// place compares a draft with the memories as they are now, and returns its change.
func (t *transaction) place(ctx context.Context, d Draft, f finding) (change, error) {
	known, err := t.known(ctx, &d.Memory, f)
	if err != nil {
		return change{}, err
	}
	var c change
	settled := false
	if d.mayMerge() {
		if c, settled = same(d, known); settled {
			c = again(c, d, known, f)
		}
	}
	if !settled {
		c, settled = decided(d, known, f)
	}
	if !settled && d.mayMerge() {
		c, settled = t.w.merged(d, known)
	}
	if !settled {
		c = isNew(d)
	}
	return c, nil
}

// known returns the memories that may say the same as a draft or contradict it, as they are now. If a memory with the
// same content is stored, known returns it and the memories on which there is a verdict.
func (t *transaction) known(ctx context.Context, draft *memory.Memory, f finding) (known []*memory.Memory, err error) {
	equal, found, err := t.tx.SameContent(ctx, draft.AgentID, draft.Content)
	if err != nil {
		return nil, err
	}
	isHeld := found && alike(&equal, draft) && !slices.Contains(t.except, equal.ID)
	var ids []string
	for _, v := range f.verdicts {
		ids = append(ids, v.id)
	}
	switch {
	case !isHeld:
		ids = append(ids, f.near...)
	case len(ids) == 0:
		return []*memory.Memory{&equal}, nil
	default:
		ids = append(ids, equal.ID)
	}
	slices.Sort(ids)
	stored, err := t.tx.Memories(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	consider := func(m *memory.Memory) {
		if alike(m, draft) && !slices.Contains(t.except, m.ID) {
			known = append(known, m)
		}
	}
	for i := range stored {
		consider(&stored[i])
	}
	if isHeld {
		return known, nil
	}
	for i := range t.recent {
		if !slices.ContainsFunc(stored, func(m memory.Memory) bool { return m.ID == t.recent[i].ID }) {
			consider(&t.recent[i])
		}
	}
	for _, m := range t.inserted {
		consider(m)
	}
	return known, nil
}

// older reports whether a was created before b.
func older(a, b *memory.Memory) bool {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) < 0
}

// store stores a change, and marks the memories that it replaces or that replace it.
func (t *transaction) store(ctx context.Context, d Draft, c change) (written Written, err error) {
	held := c.into
	if held == nil {
		held = t.add(c.draft, d.detail)
	} else if err := t.merge(ctx, c); err != nil {
		return Written{}, err
	}
	if err := t.replace(ctx, held, c, d.SourceTurnID); err != nil {
		return Written{}, err
	}
	if d.Source != "" {
		t.relate(held.ID, memory.DerivedFrom, d.Source)
	}
	return Written{Memory: *held, Verdict: c.verdict, Reason: c.reason}, nil
}

// replace marks the memories that the draft replaces as superseded by held, the memory that holds the draft. If another
// memory replaces the draft, it marks held as superseded instead.
func (t *transaction) replace(ctx context.Context, held *memory.Memory, c change, turnID string) error {
	for _, r := range c.replaces {
		if err := t.supersede(ctx, r.memory, held.ID, r.Verdict, turnID); err != nil {
			return err
		}
	}
	if len(c.replacedBy) == 0 || c.into != nil {
		return nil
	}
	by := c.replacedBy[0]
	return t.supersede(ctx, held, by.id, by.Verdict, turnID)
}

// add makes the draft a memory of its own.
func (t *transaction) add(draft memory.Memory, detail any) *memory.Memory {
	t.Created(&draft, detail)
	t.inserted = append(t.inserted, &draft)
	return &draft
}

// update stores a changed memory, unless it is stored at the end anyway, and updates it in recent for the next draft.
func (t *transaction) update(ctx context.Context, before memory.Memory, m *memory.Memory) error {
	if t.insertedBy(m.ID) != nil {
		return nil
	}
	err := t.Update(ctx, before, m)
	for i := range t.recent {
		if t.recent[i].ID == m.ID {
			t.recent[i] = *m
		}
	}
	return err
}

// superseded is the detail of a replacement.
type superseded struct {
	Change   *history.Change     `json:"change"`
	Relation memory.RelationKind `json:"relation"`
	From     string              `json:"from_turn,omitempty"`
	Why      string              `json:"why,omitempty"`
	Ended    []history.EndedFact `json:"ended_facts,omitempty"`
}

// supersede marks a memory as superseded by a later one. A memory of this transaction is marked after it was inserted.
func (t *transaction) supersede(
	ctx context.Context, m *memory.Memory, by string, v judge.Verdict, turnID string,
) error {
	before := *m
	m.Status, m.SupersededBy = memory.Superseded, by
	ended, err := t.endFacts(ctx, m, v.Relation)
	if err != nil {
		return err
	}
	t.Note(m.ID, memory.EventSuperseded, superseded{
		Change: history.Diff(before, *m), Relation: v.Relation, From: turnID, Why: v.Why, Ended: ended,
	})
	t.relate(by, v.Relation, m.ID)
	if t.insertedBy(m.ID) != nil {
		t.outdated = append(t.outdated, before)
		return nil
	}
	return t.update(ctx, before, m)
}

func (t *transaction) relate(from string, kind memory.RelationKind, to string) {
	t.relations = append(t.relations, memory.Relation{
		From: from, Kind: kind, To: to, CreatedAt: memory.Instant(t.w.Now()),
	})
}

func (t *transaction) insertedBy(id string) *memory.Memory {
	for _, m := range t.inserted {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// flush stores the added memories, with the relations and the job for those without a verdict.
func (t *transaction) flush(ctx context.Context) error {
	if added := t.added(); len(added) > 0 {
		if err := t.tx.Insert(ctx, added, t.w.Pusher.ClaimedUntil()); err != nil {
			return err
		}
	}
	if len(t.outdated) > 0 { // no push claims them, since their vectors are removed at once
		if err := t.tx.Insert(ctx, t.outdated, time.Time{}); err != nil {
			return err
		}
	}
	for _, before := range t.outdated {
		if err := t.Update(ctx, before, t.insertedBy(before.ID)); err != nil {
			return err
		}
	}
	if len(t.relations) > 0 {
		if err := t.tx.AddRelations(ctx, t.relations); err != nil {
			return err
		}
	}
	return t.judgeLater(ctx)
}

// added returns the added memories that are active.
func (t *transaction) added() []memory.Memory {
	list := make([]memory.Memory, 0, len(t.inserted))
	for _, m := range t.inserted {
		if !slices.ContainsFunc(t.outdated, func(before memory.Memory) bool { return before.ID == m.ID }) {
			list = append(list, *m)
		}
	}
	return list
}

// push pushes what a transaction has changed after its commit.
func (w *Writer) push(ctx context.Context, owner memory.Owner, t *transaction) {
	ctx, pushes := tracing.Start(ctx, "ingest.push")
	defer pushes.End()
	if len(t.inserted) > 0 {
		w.Pusher.PushNew(ctx, t.added())
	}
	w.Pusher.Push(ctx, t.Changed())
	isFact := func(m *memory.Memory) bool { return m.Type != memory.TypeMessage }
	if slices.ContainsFunc(t.inserted, isFact) || len(t.Changed()) > 0 {
		w.OnWritten(owner)
	}
	if len(t.inserted) > 0 {
		w.OnGrown(ctx, owner, len(t.inserted))
	}
}
