package jobs

import (
	"context"
	"errors"
	"fmt"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// OwnerLister lists the owners that have active memories; db.Maintenance has it.
type OwnerLister interface {
	Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error)
}

const ownersPage = 100

// EachOwner runs f for every owner, one after the other, and returns how many
// of them failed. A failure of f does not stop the run; the error then comes at
// the end. KindUnavailable, or the end of ctx, stops it at once. KindConflict is
// no failure: another process has changed or erased the user in the meantime.
func EachOwner(ctx context.Context, records OwnerLister, f func(memory.Owner) error) (failed int, err error) {
	var failures Failures
	for owner, err := range db.All(ownersPage, func(after memory.Owner, limit int) ([]memory.Owner, error) {
		return records.Owners(ctx, after, limit)
	}) {
		if err != nil {
			return failures.failed, err
		}
		err = f(owner)
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

// Err returns the errors as one that says how many of the items failed; nil if
// none did. items is their plural, as in "users".
func (f *Failures) Err(items string) error {
	if f.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d %s failed: %w", f.failed, f.items, items, errors.Join(f.errs...))
}
