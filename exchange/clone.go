package exchange

import (
	"context"
	"encoding/json"
	"fmt"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Cloned is what became of a clone.
type Cloned struct {
	Copied  Counts   // lines of each kind that the other user did not have
	Present Counts   // that it had already, just so
	LeftOut int      // turns and consolidations that are not finished yet
	Failed  int      // lines that were refused
	Errors  []string // why, of the first 100
}

// Clone copies everything that an export of a user has to another user of the app:
//
//	lines of an export -> ids of the copies -> lines of an import, which are refused or stored as those are
//
// The ids of the copies follow from the originals and the other user, so that another call copies what is new and
// nothing twice. admit may refuse the JSON of a line. Clone holds a bounded number of lines in memory.
//
// KindConflict: one of the two is being erased or merged, or from was erased in the meantime; KindUnavailable: a store
// is unavailable or ctx has ended. What was copied before an error stays.
func (s *Service) Clone(
	ctx context.Context, from, into memory.Owner, admit func(line []byte) error,
) (Cloned, error) {
	begun, err := s.stateOf(ctx, from)
	if err != nil {
		return Cloned{}, err
	}
	present, err := s.stateOf(ctx, into)
	if err != nil {
		return Cloned{}, err
	}
	c := &cloning{importing: s.newImport(into.AppID), from: from, into: into, round: present.Erased, admit: admit}
	what := Selection{AppID: from.AppID, UserID: from.UserID, Embeddings: true}
	counts, err := s.export(ctx, what, func(field string, value any) error { return c.copy(ctx, field, value) })
	if err == nil {
		err = c.settle(ctx)
	}
	if err == nil {
		err = c.requireSame(ctx, begun)
	}
	if ctx.Err() != nil {
		err = memory.Errorf(memory.KindUnavailable, "the clone is not complete yet; calling again copies the rest: %w",
			context.Cause(ctx))
	}
	return c.result(counts[LeftOut]), err
}

// stateOf returns the state of a user; db.ErrErasing if the user is being erased or merged.
func (s *Service) stateOf(ctx context.Context, owner memory.Owner) (state db.UserState, err error) {
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) (err error) {
		state, err = tx.State(ctx)
		return err
	})
	return state, err
}

// cloning is the state of a clone.
type cloning struct {
	*importing
	from, into memory.Owner
	round      int // of into: copies that were erased, or merged into another user, have other ids
	admit      func(line []byte) error

	cites bool // the latest memory is a passage of a document

	ids map[string]string // of the copies, by the ids that the latest lines mention
}

// requireSame returns an error of KindConflict if the user was erased since, so that only a part was copied.
func (c *cloning) requireSame(ctx context.Context, begun db.UserState) error {
	now, err := c.stateOf(ctx, c.from)
	if err == nil && now.Erased != begun.Erased {
		err = memory.Errorf(memory.KindConflict,
			"the user was erased or merged in the meantime, so that only a part was copied: erase the other user to remove it")
	}
	return err
}

// result is what became of the lines so far.
func (c *cloning) result(leftOut int) Cloned {
	r := Cloned{
		Copied: Counts{Memories: c.report.Imported}, Present: Counts{Memories: c.report.Skipped},
		LeftOut: leftOut, Failed: c.report.Failed, Errors: make([]string, len(c.report.Errors)),
	}
	for kind, t := range c.report.Others {
		r.Copied[kind], r.Present[kind] = t.Imported, t.Skipped
	}
	for i, e := range c.report.Errors {
		r.Errors[i] = e.Message
	}
	return r
}

// copy imports the copy of a line.
func (c *cloning) copy(ctx context.Context, field string, value any) error {
	if _, isHeader := value.(header); isHeader {
		return nil
	}
	l, value, err := c.copyOf(ctx, value)
	if err != nil {
		return err
	}
	if field != "" {
		value = map[string]any{field: value}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	c.report.Lines++
	if err := c.admit(text); err != nil {
		if memory.LimitOf(err) == "" && !refused(err) {
			return err
		}
		c.fail(c.report.Lines, err)
		return nil
	}
	if l.Conversation != nil {
		if isHere, err := c.resume(ctx, l.Conversation.conversation(c.into.AppID)); err != nil || isHere {
			return err
		}
	}
	return c.put(ctx, c.report.Lines, len(text), l)
}

// resume brings the copy of a conversation of an earlier clone up to date with the original, so that the turns since
// may follow; isHere is false if there is no such copy. A copy that has events of its own stays as it is. Every copy
// keeps its title and its summary.
func (c *cloning) resume(ctx context.Context, next memory.Conversation) (isHere bool, err error) {
	stored, err := c.records.Conversation(ctx, c.into.AppID, c.into.UserID, next.ID)
	if memory.IsKind(err, memory.KindNotFound) || err == nil && stored.FirstTurnID != next.FirstTurnID {
		return false, nil
	}
	if err == nil && stored.Events < next.Events {
		err = c.continued(ctx, stored, next)
	}
	switch {
	case err == nil:
		c.report.count(Conversations, false)
	case !refused(err):
		return true, err
	default:
		c.fail(c.report.Lines, err)
	}
	return true, nil
}

// continued gives the stored copy of a conversation the state of next. KindConflict: the copy has events of its own.
func (c *cloning) continued(ctx context.Context, stored, next memory.Conversation) error {
	if err := c.refusalOf(ctx, c.into, next.ID); err != nil {
		return err
	}
	last, err := c.records.ConversationTurns(ctx, c.into, next.ID, stored.Events-1, 1)
	if err != nil {
		return err
	}
	original, err := c.records.ConversationTurns(ctx, c.from, next.ID, stored.Events-1, 1)
	if err != nil {
		return err
	}
	if len(last) > 0 && (len(original) == 0 || last[0].ID != c.id(original[0].ID)) {
		return memory.Errorf(memory.KindConflict,
			"both have gone on with conversation %q: what was said since is not copied", next.ID)
	}
	return c.inUser(ctx, c.into, func(ctx context.Context, tx db.UserTx) error {
		return tx.ContinueConversation(ctx, next, stored.Events, memory.Instant(c.now()))
	})
}
