// Package erasure removes a user for good, from every store:
//
//	mark, so that nothing of the user is written -> rows, some at a time
//	-> vectors, by user and by id -> every store is asked -> the mark goes, receipt
//
// Each step can be repeated, and the mark stays until all are done: where a
// store is away, or the process dies, the next call goes on, or a job does.
// Work that began before the erasure finds the rows gone that it is about.
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
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
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
	records Records
	vectors Vectors
	drop    func(owner memory.Owner)
	now     func() time.Time
	log     *zap.Logger
}

// New makes a service. drop hears of each user who is erased, so that what this
// process holds of them in memory goes, too; nil: nothing does.
func New(records Records, vectors Vectors, drop func(owner memory.Owner), now func() time.Time, log *zap.Logger) *Service {
	if drop == nil {
		drop = func(memory.Owner) {}
	}
	return &Service{records, vectors, drop, now, log}
}

// EraseUser is the job that ends an erasure which its caller could not end. It
// goes with the rest of the user, whom its payload names.
type EraseUser struct {
	jobs.Lasting `json:"-"`

	AppID  string `json:"app_id"`
	UserID string `json:"user_id"`
}

// Kind is the name that the job is stored under.
func (EraseUser) Kind() string { return "erase_user" }

const (
	batch    = 500                   // rows of a kind that are deleted at once
	patience = 10 * time.Second      // for pushes under way, in one call
	look     = 20 * time.Millisecond // between two looks at them
	retry    = 30 * time.Second      // before the job goes on
)

// Erase removes the user and returns the receipt. KindUnavailable: a store is
// away or ctx has ended; the user stays marked, and calling again goes on, as
// does the job. Erasing a user of whom there is nothing is fine.
func (s *Service) Erase(ctx context.Context, owner memory.Owner) (db.Erasure, error) {
	now := s.now()
	e, err := s.records.BeginErasure(ctx, owner, now, now.Add(retry), EraseUser{AppID: owner.AppID, UserID: owner.UserID})
	if err != nil {
		return db.Erasure{}, err
	}
	return s.finish(ctx, e)
}

// Work does the job: it goes on with an erasure until that has ended.
func (s *Service) Work(ctx context.Context, job EraseUser) (any, error) {
	e, err := s.records.Erasure(ctx, memory.Owner{AppID: job.AppID, UserID: job.UserID})
	if memory.IsKind(err, memory.KindNotFound) || err == nil && !e.DoneAt.IsZero() {
		return nil, nil
	}
	if wait := e.RequestedAt.Add(retry).Sub(s.now()); err == nil && wait > 0 {
		return nil, jobs.Later(wait) // its caller is at it
	}
	if err == nil {
		_, err = s.finish(ctx, e)
	}
	if err != nil {
		s.log.Warn("an erasure is gone on with later", zap.String("app", job.AppID), zap.Duration("in", retry), zap.Error(err))
		return nil, jobs.Later(retry)
	}
	return nil, nil
}

// finish carries an erasure through. Where another call or process has ended
// it first, that one's receipt is the receipt.
func (s *Service) finish(ctx context.Context, e db.Erasure) (db.Erasure, error) {
	done, err := s.erase(ctx, e)
	s.drop(e.Owner)
	if err == nil {
		return done, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	is, unknown := s.records.Erasure(ctx, e.Owner)
	if unknown != nil || is.Round == e.Round && is.DoneAt.IsZero() {
		return db.Erasure{}, err
	}
	// What has been written since then may have lost its vectors to this one.
	if lost := s.requeue(ctx, e.Owner); lost != nil {
		return db.Erasure{}, lost
	}
	if is.DoneAt.IsZero() {
		return db.Erasure{}, waiting("the user is being erased once more", err)
	}
	return is, nil
}

// erase takes the steps in their order.
func (s *Service) erase(ctx context.Context, e db.Erasure) (db.Erasure, error) {
	found, _ := s.vectors.DeleteOwner(ctx, e.Owner) // where it is away the rows go all the same
	gone, err := s.eraseRows(ctx, e, found)
	if err != nil {
		return e, err
	}
	// What was pushed until the rows were gone, and what had none. By user first,
	// which tells how many there were.
	if found, err = s.vectors.DeleteOwner(ctx, e.Owner); err != nil {
		return e, waiting("the user's rows are gone, but not the vectors yet", err)
	}
	for some := range slices.Chunk(gone, batch) {
		if err := s.vectors.Delete(ctx, some); err != nil {
			return e, waiting("the user's rows are gone, but not the vectors yet", err)
		}
	}
	left, err := s.vectors.CountOwner(ctx, e.Owner)
	if err != nil {
		return e, waiting("the user's rows and vectors are gone, but the vector store could not be asked whether all are", err)
	}
	if left > 0 {
		return e, waiting("the user's rows are gone, but not the vectors yet", fmt.Errorf("the vector store still shows %d records", left))
	}
	done, err := s.records.EndErasure(ctx, e, s.now(), found)
	if errors.Is(err, db.ErrLeft) {
		err = waiting("the user is not erased yet", err)
	}
	return done, err
}

// eraseRows deletes the rows and returns the ids of the memories among them.
// Those that are being pushed are waited for. found: how many vectors were
// deleted before.
func (s *Service) eraseRows(ctx context.Context, e db.Erasure, found int) (memories []string, err error) {
	for waited := time.Duration(0); ; {
		some, err := s.records.EraseSome(ctx, e, db.EraseStep{Now: s.now(), Limit: batch, Keep: EraseUser{}.Kind(), Vectors: found})
		if err != nil {
			return nil, err
		}
		found = 0
		memories = append(memories, some.Memories...)
		switch {
		case some.Deleted != (db.Erased{}):
			continue
		case some.Left == 0:
			return memories, nil
		case waited >= patience:
			return nil, waiting("the user is not erased yet", fmt.Errorf("%d memories are still being pushed to the vector store", some.Left))
		}
		timer := time.NewTimer(look)
		select {
		case <-timer.C:
			waited += look
		case <-ctx.Done():
			timer.Stop()
			return nil, waiting("the user is not erased yet", context.Cause(ctx))
		}
	}
}

// waiting says that an erasure is not through, and goes on.
func waiting(how string, cause error) error {
	return &memory.Error{
		Kind: memory.KindUnavailable, RetryAfter: retry,
		Err: fmt.Errorf("%s; the erasure goes on by itself, and calling again gives the receipt: %w", how, cause),
	}
}

// requeue has the user's memories pushed again.
func (s *Service) requeue(ctx context.Context, owner memory.Owner) error {
	filter := db.MemoryFilter{Owner: owner, Statuses: []memory.Status{memory.Active}, Limit: memory.MaxPage}
	for {
		page, err := s.records.ListMemories(ctx, filter)
		if err != nil || len(page) == 0 {
			return err
		}
		ids := make([]string, len(page))
		for i, m := range page {
			ids[i] = m.ID
		}
		if _, err := s.records.Requeue(ctx, ids, s.now()); err != nil {
			return err
		}
		last := page[len(page)-1]
		filter.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
}
