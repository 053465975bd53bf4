package exchange

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// other is a line of what is no memory.
type other interface {
	kind() Kind
	check(c *complaints)
	// wait has the checked line wait in a queue of the import. An error ends the import.
	wait(ctx context.Context, i *importing, number, size int) error
}

// other is what the line holds beside a memory; several is true where it holds
// more than one thing.
func (l line) other() (o other, several bool) {
	var all []other
	for _, held := range []struct {
		is bool
		it other
	}{
		{l.Fact != nil, l.Fact}, {l.Instruction != nil, l.Instruction}, {l.Text != nil, l.Text},
		{l.Skill != nil, l.Skill}, {l.Outcome != nil, l.Outcome},
		{l.Conversation != nil, l.Conversation}, {l.Turn != nil, l.Turn}, {l.Consolidation != nil, l.Consolidation},
	} {
		if held.is {
			all = append(all, held.it)
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	return all[0], len(all) > 1 || l.Memory != nil || l.Continues != nil || l.Events != nil || l.Relations != nil
}

// put stores what a line holds within a transaction, unless it is here already,
// just so: fresh is false. KindConflict: it is here and differs.
type put[Tx any] func(ctx context.Context, tx Tx) (fresh bool, err error)

// part is a checked line that waits.
type part[Tx any] struct {
	line int
	kind Kind
	put  put[Tx]
}

// queue holds lines of one scope that wait to be settled together.
type queue[Tx any] struct {
	in    func(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx Tx) error) error
	scope memory.Scope
	parts []part[Tx]
}

// inUser opens transactions of the users of scopes.
func inUser(records Records) func(context.Context, memory.Scope, func(context.Context, db.UserTx) error) error {
	return func(ctx context.Context, scope memory.Scope, f func(context.Context, db.UserTx) error) error {
		return records.InUser(ctx, scope.Owner(), f)
	}
}

// enqueue has a line wait until there are enough of them, or one of another scope comes.
func enqueue[Tx any](ctx context.Context, i *importing, q *queue[Tx], scope memory.Scope, p part[Tx], size int) error {
	if len(q.parts) > 0 && q.scope != scope || i.full(size) {
		if err := i.settle(ctx); err != nil {
			return err
		}
	}
	q.scope, q.parts = scope, append(q.parts, p)
	i.waiting, i.size = i.waiting+1, i.size+size
	return nil
}

// waitForUser has a line of a user wait.
func (i *importing) waitForUser(ctx context.Context, userID string, number, size int, kind Kind, put put[db.UserTx]) error {
	scope := memory.Scope{AppID: i.appID, Kind: memory.UserScope, ID: userID}
	return enqueue(ctx, i, &i.users, scope, part[db.UserTx]{number, kind, put}, size)
}

// settle settles what waits in the queue. An error ends the import.
func (q *queue[Tx]) settle(ctx context.Context, i *importing) error {
	parts := q.parts
	q.parts = nil
	if len(parts) == 0 {
		return nil
	}
	return q.write(ctx, i, parts)
}

// write settles lines all in one transaction, or one by one where that is refused.
func (q *queue[Tx]) write(ctx context.Context, i *importing, parts []part[Tx]) error {
	fresh := make([]bool, len(parts))
	err := q.in(ctx, q.scope, func(ctx context.Context, tx Tx) (err error) {
		for n, p := range parts {
			if fresh[n], err = p.put(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err == nil:
		for n, p := range parts {
			i.report.tally(p.kind, fresh[n])
		}
	case !refused(err):
		return err
	case len(parts) == 1:
		i.fail(parts[0].line, err)
	default:
		for n := range parts {
			if err := q.write(ctx, i, parts[n:n+1]); err != nil {
				return err
			}
		}
	}
	return nil
}
