package exchange

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// userEntry is an entry that is stored in a transaction of its user.
type userEntry interface {
	entry
	user() string
	// restore stores the entry unless it is stored already; then fresh is false.
	// KindConflict: another entry is stored in its place.
	restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error)
}

// scopeEntry is an entry that is stored in a transaction of its scope.
type scopeEntry interface {
	entry
	scope(appID string) memory.Scope
	restore(ctx context.Context, i *importing, tx db.InstructionTx) (fresh bool, err error)
}

// conversationOf is the id of the conversation that an entry is of, or empty.
func conversationOf(e entry) string {
	if e, ok := e.(interface{ conversationID() string }); ok {
		return e.conversationID()
	}
	return ""
}

// part is a checked entry that waits in a queue.
type part[Tx any] struct {
	line         int
	kind         Kind
	conversation string // that the entry is of; may be empty
	put          func(ctx context.Context, i *importing, tx Tx) (fresh bool, err error)
}

// queue holds entries of one scope that will be stored in one transaction.
type queue[Tx any] struct {
	begin func(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx Tx) error) error
	scope memory.Scope
	parts []part[Tx]
}

// enqueue adds a checked entry to the queue of its kind. An error ends the import.
func (i *importing) enqueue(ctx context.Context, e entry, number, size int) error {
	if e, ok := e.(userEntry); ok {
		scope := memory.Scope{AppID: i.appID, Kind: memory.UserScope, ID: e.user()}
		return enqueue(ctx, i, &i.users, scope, part[db.UserTx]{number, e.kind(), conversationOf(e), e.restore}, size)
	}
	s := e.(scopeEntry)
	return enqueue(ctx, i, &i.scopes, s.scope(i.appID), part[db.InstructionTx]{number, s.kind(), "", s.restore}, size)
}

// enqueue adds a part to a queue. It first settles the waiting parts if they are enough or belong to another scope.
func enqueue[Tx any](
	ctx context.Context, i *importing, q *queue[Tx], scope memory.Scope, p part[Tx], size int,
) error {
	if len(q.parts) > 0 && q.scope != scope || i.full(size) {
		if err := i.settle(ctx); err != nil {
			return err
		}
	}
	q.scope, q.parts = scope, append(q.parts, p)
	i.waiting, i.size = i.waiting+1, i.size+size
	return nil
}

// settle stores the parts of the queue. An error ends the import.
func (q *queue[Tx]) settle(ctx context.Context, i *importing) error {
	parts := q.parts
	q.parts = nil
	if len(parts) == 0 {
		return nil
	}
	return q.store(ctx, i, parts)
}

// store stores parts in one transaction, or one by one if that is refused.
func (q *queue[Tx]) store(ctx context.Context, i *importing, parts []part[Tx]) error {
	refusals := make([]error, len(parts))
	for n, p := range parts {
		if q.scope.Kind != memory.UserScope || takesWhileOff(p.kind) {
			continue
		}
		if refusals[n] = i.refusalOf(ctx, q.scope.Owner(), p.conversation); refusals[n] != nil && !refused(refusals[n]) {
			return refusals[n]
		}
	}
	fresh := make([]bool, len(parts))
	err := q.begin(ctx, q.scope, func(ctx context.Context, tx Tx) (err error) {
		for n, p := range parts {
			if fresh[n], err = p.put(ctx, i, tx); err != nil {
				return err
			}
			if fresh[n] && refusals[n] != nil {
				return refusals[n]
			}
		}
		return nil
	})
	switch {
	case err == nil:
		for n, p := range parts {
			i.report.count(p.kind, fresh[n])
		}
	case !refused(err):
		return err
	case len(parts) == 1:
		i.fail(parts[0].line, err)
	default:
		for n := range parts {
			if err := q.store(ctx, i, parts[n:n+1]); err != nil {
				return err
			}
		}
	}
	return nil
}
