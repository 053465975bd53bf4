package jobs

import (
	"context"
	"errors"
	"fmt"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// OwnerLister lists the owners that have active memories; db.Maintenance implements it.
type OwnerLister interface {
	Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error)
}

const ownersPage = 100

// EachOwner runs f for every owner, one after the other, and returns the number
// of failures and their joined errors. A failure of f does not stop the run,
// except for KindUnavailable or the end of ctx. KindConflict is not a failure:
// another process has changed or erased the user in the meantime. Neither is a quota
// of one app: the next run tries again.
func EachOwner(ctx context.Context, records OwnerLister, f func(memory.Owner) error) (failed int, err error) {
	var failures Failures
	for owner, err := range db.All(ownersPage, func(after memory.Owner, limit int) ([]memory.Owner, error) {
		return records.Owners(ctx, after, limit)
	}) {
		if err != nil {
			return failures.failed, err
		}
		err = f(owner)
		if ctx.Err() == nil && memory.LimitOf(err) != "" {
			failures.Note(nil)
			continue
		}
		if ctx.Err() != nil || memory.IsKind(err, memory.KindUnavailable) {
			return failures.failed, errors.Join(err, ctx.Err())
		}
		if memory.IsKind(err, memory.KindConflict) {
			err = nil
		}
		failures.Note(err)
	}
	return failures.failed, failures.Err("users")
}

// maxFailures is how many errors Failures keeps.
const maxFailures = 10

// Failures collects the errors of a run over many items.
type Failures struct {
	items, failed int
	errs          []error
}

// Note counts an item and its error, which may be nil.
func (f *Failures) Note(err error) {
	f.items++
	if err == nil {
		return
	}
	f.failed++
	if len(f.errs) < maxFailures {
		f.errs = append(f.errs, err)
	}
}

// Err joins the errors into one that reports how many items failed; it is nil
// if no item failed. items is the plural noun for them, such as "users".
func (f *Failures) Err(items string) error {
	if f.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d %s failed: %w", f.failed, f.items, items, errors.Join(f.errs...))
}
