// Package erasure removes a user for good, from every store:
//
//	mark, after which nothing of the user is written -> rows, in batches -> wait for copies of vectors
//	-> vectors, by user and by id -> check every store -> remove the mark, receipt
//
// A merge takes the same steps; its rows move to another user instead of being deleted.
//
// Each step can be repeated, and the mark stays until all steps are done: if a
// store is unavailable or the process dies, the next call or a job continues.
// Work that began before the erasure finds its rows deleted.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// Records is what erasure needs of the database.
type Records interface {
	db.Erasures
	db.Merges
	db.MemoryLister
	AwaitCopies(ctx context.Context) error
	Requeue(ctx context.Context, ids []string, at time.Time) (int, error)
}

// Vectors is what erasure needs of the vector store.
type Vectors interface {
	Delete(ctx context.Context, ids []string) error
	DeleteOwner(ctx context.Context, owner memory.Owner) (int, error)
	CountOwner(ctx context.Context, owner memory.Owner) (int, error)
}

// Service erases.
type Service struct {
	records  Records
	vectors  Vectors
	onErased func(owner memory.Owner)
	now      func() time.Time
	log      *zap.Logger

	// Disown removes what a user has said to others from their copies, before the user's rows are deleted. Set it before
	// the first erasure; nil: there are no copies.
	Disown func(ctx context.Context, owner memory.Owner) error
	// OrphanPooled keeps what users have contributed to the pool, without a sign of who did. Set it before the first
	// erasure.
	OrphanPooled bool
	// OnMoved is called after a merge moved memories to a user. Set it before the first merge.
	OnMoved func(owner memory.Owner, moved int)
}

// New makes a service. onErased is called for each user who is erased, to remove
// what this process holds of the user in memory.
func New(records Records, vectors Vectors, onErased func(owner memory.Owner), now func() time.Time,
	log *zap.Logger) *Service {
	return &Service{
		records: records, vectors: vectors, onErased: onErased, now: now, log: log, OnMoved: func(memory.Owner, int) {},
	}
}

// EraseUser is the job that ends an erasure or a merge which its caller could not end. Its end deletes the job with the
// user's other rows.
type EraseUser struct {
	jobs.Lasting `json:"-"`

	AppID  string `json:"app_id"`
	UserID string `json:"user_id"`
	Into   string `json:"into,omitempty"` // the user to whom the rows move
}

func (j EraseUser) into() memory.Owner { return memory.Owner{AppID: j.AppID, UserID: j.Into} }

// Kind is the name that the job is stored under.
func (EraseUser) Kind() string { return "erase_user" }

const (
	batch       = 500                   // rows of a kind that are deleted at once
	pushTimeout = 10 * time.Second      // how long one call waits for pushes, and for copies, in progress
	pushPoll    = 20 * time.Millisecond // between two checks for them
	retry       = 30 * time.Second      // before the job continues
)

// Erase removes the user and returns the receipt. KindUnavailable: a store is
// unavailable or ctx has ended; the user stays marked, and calling again
// continues, as does the job. Erasing a user without data succeeds.
func (s *Service) Erase(ctx context.Context, owner memory.Owner) (db.Erasure, error) {
	now := s.now()
	e, err := s.records.BeginErasure(ctx, owner, now, now.Add(retry), EraseUser{AppID: owner.AppID, UserID: owner.UserID})
	if err != nil {
		return db.Erasure{}, err
	}
	return s.finish(ctx, e, memory.Owner{})
}

// Merge moves everything of m.From to m.Into and returns the receipt. If the same merge has ended and From has nothing
// new, it returns the receipt of that one. KindUnavailable: as for Erase. KindConflict: see db.Merges.
func (s *Service) Merge(ctx context.Context, m db.Merge) (db.Erasure, error) {
	now := s.now()
	e, err := s.records.BeginMerge(ctx, m, now, now.Add(retry),
		EraseUser{AppID: m.From.AppID, UserID: m.From.UserID, Into: m.Into.UserID})
	if err != nil || !e.DoneAt.IsZero() {
		return e, err
	}
	return s.finish(ctx, e, m.Into)
}

// Work does the job: it continues an erasure until it has ended.
func (s *Service) Work(ctx context.Context, job EraseUser) (any, error) {
	e, err := s.records.Erasure(ctx, memory.Owner{AppID: job.AppID, UserID: job.UserID})
	if memory.IsKind(err, memory.KindNotFound) || err == nil && !e.DoneAt.IsZero() {
		return nil, nil
	}
	if wait := e.RequestedAt.Add(retry).Sub(s.now()); err == nil && wait > 0 {
		return nil, jobs.Later(wait) // its caller is still working on it
	}
	if err == nil && (e.Into == "") != (job.Into == "") {
		return nil, nil // another one has begun since
	}
	if err == nil {
		_, err = s.finish(ctx, e, job.into())
	}
	if err != nil {
		s.log.Warn("an erasure is continued later", zap.String("app", job.AppID), zap.Duration("in", retry), zap.Error(err))
		return nil, jobs.Later(retry)
	}
	return nil, nil
}

// finish carries out an erasure, or a merge into an owner. If another call or process has ended it first, finish
// returns the receipt of that one.
func (s *Service) finish(ctx context.Context, e db.Erasure, into memory.Owner) (db.Erasure, error) {
	done, err := s.erase(ctx, e, into)
	s.onErased(e.Owner)
	if err == nil {
		return done, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pushTimeout)
	defer cancel()
	stored, readErr := s.records.Erasure(ctx, e.Owner)
	if readErr != nil || stored.Round == e.Round && stored.DoneAt.IsZero() {
		return db.Erasure{}, err
	}
	// This erasure may have deleted vectors of memories that were written after the other one.
	if requeueErr := s.requeue(ctx, e.Owner); requeueErr != nil {
		return db.Erasure{}, requeueErr
	}
	if stored.DoneAt.IsZero() {
		return db.Erasure{}, unfinished("the user is being erased again", err)
	}
	return stored, nil
}

// erase takes the steps in order.
func (s *Service) erase(ctx context.Context, e db.Erasure, into memory.Owner) (db.Erasure, error) {
	if e.Into == "" && s.Disown != nil {
		if err := s.Disown(ctx, e.Owner); err != nil {
			return e, unfinished("the user is not erased yet", err)
		}
	}
	found, _ := s.vectors.DeleteOwner(ctx, e.Owner) // an error does not matter yet: the rows are deleted first
	ids, err := s.eraseRows(ctx, e, into, found)
	if err != nil {
		return e, err
	}
	if err := s.awaitCopies(ctx); err != nil {
		return e, err
	}
	// Vectors that were pushed or copied until the rows were deleted, and those
	// without a row. By user first, since that returns their number.
	if found, err = s.vectors.DeleteOwner(ctx, e.Owner); err != nil {
		return e, unfinished("the user's rows are deleted, but not all vectors yet", err)
	}
	copies, err := s.records.ErasedCopies(ctx, e.Owner)
	if err != nil {
		return e, err
	}
	if e.Into != "" { // vectors of moved memories may have been pushed while these were looked up
		ids = nil
		if found > 0 {
			if err := s.requeue(ctx, into); err != nil {
				return e, err
			}
		}
	}
	for part := range slices.Chunk(append(ids, copies...), batch) {
		if err := s.vectors.Delete(ctx, part); err != nil {
			return e, unfinished("the user's rows are deleted, but not all vectors yet", err)
		}
	}
	left, err := s.vectors.CountOwner(ctx, e.Owner)
	if err != nil {
		return e, unfinished("the user's rows and vectors are deleted, but the vector store could not confirm it", err)
	}
	if left > 0 {
		return e, unfinished("the user's rows are deleted, but not all vectors yet",
			fmt.Errorf("the vector store still shows %d records", left))
	}
	done, err := s.records.EndErasure(ctx, e, s.now(), found)
	if errors.Is(err, db.ErrLeft) {
		err = unfinished("the user is not erased yet", err)
	}
	return done, err
}

// eraseRows deletes or moves the rows and returns the ids of the memories among them. It
// waits for memories that are being pushed. found is the number of vectors that
// were deleted before.
func (s *Service) eraseRows(
	ctx context.Context, e db.Erasure, into memory.Owner, found int,
) (memories []string, err error) {
	take := s.records.EraseSome
	if e.Into != "" {
		take = func(ctx context.Context, e db.Erasure, step db.EraseStep) (db.ErasedSome, error) {
			some, err := s.records.MoveSome(ctx, e, into, step)
			if n := some.Deleted.Memories; err == nil && n > 0 {
				s.OnMoved(into, n)
			}
			return some, err
		}
	}
	for waited := time.Duration(0); ; {
		step, err := take(ctx, e, db.EraseStep{
			Now: s.now(), Limit: batch, Keep: EraseUser{}.Kind(), Vectors: found, Orphan: s.OrphanPooled,
		})
		if err != nil {
			return nil, err
		}
		found = 0
		memories = append(memories, step.Memories...)
		switch {
		case step.Deleted != (db.Erased{}):
			continue
		case step.Left == 0:
			return memories, nil
		case waited >= pushTimeout:
			return nil, unfinished("the user is not erased yet",
				fmt.Errorf("%d memories are still being pushed to the vector store", step.Left))
		}
		timer := time.NewTimer(pushPoll)
		select {
		case <-timer.C:
			waited += pushPoll
		case <-ctx.Done():
			timer.Stop()
			return nil, unfinished("the user is not erased yet", context.Cause(ctx))
		}
	}
}

// awaitCopies waits for copies to other collections of vectors, since these may have read the rows before the deletion.
func (s *Service) awaitCopies(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	if err := s.records.AwaitCopies(ctx); err != nil {
		return unfinished("the user's rows are deleted, but vectors are being copied to another collection", err)
	}
	return nil
}

// unfinished is the error of an erasure that continues later; state says what is left.
func unfinished(state string, cause error) error {
	return &memory.Error{
		Kind: memory.KindUnavailable, RetryAfter: retry,
		Err: fmt.Errorf("%s; the erasure continues by itself, and calling again returns the receipt: %w", state, cause),
	}
}

// requeue has the user's active memories pushed again.
func (s *Service) requeue(ctx context.Context, owner memory.Owner) error {
	var ids []string
	for m, err := range db.ActiveMemories(ctx, s.records, owner) {
		if err != nil {
			return err
		}
		ids = append(ids, m.ID)
	}
	for part := range slices.Chunk(ids, batch) {
		if _, err := s.records.Requeue(ctx, part, s.now()); err != nil {
			return err
		}
	}
	return nil
}
