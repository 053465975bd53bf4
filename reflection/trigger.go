package reflection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// ReflectUser is the job that reflects for one user, after the reflection at
// Since: of several that find it due, one is kept.
type ReflectUser struct {
	jobs.Background `json:"-"`

	AppID  string    `json:"app_id"`
	UserID string    `json:"user_id"`
	Since  time.Time `json:"since"`
}

// Kind is the name that the job is stored under.
func (ReflectUser) Kind() string { return "reflect_user" }

const (
	maxChecks    = 1000             // users who wait to be looked at; more are left to the schedule
	checkTimeout = 10 * time.Second // of one look
)

// MemoriesChanged hears that a user's memories have changed. It never waits.
func (s *Service) MemoriesChanged(owner memory.Owner) {
	if s.Chat == nil {
		return
	}
	select {
	case s.check <- owner:
	default: // the schedule finds them
	}
}

// Run enqueues a reflection for each user who has written and for whom it is
// due, until the context ends.
func (s *Service) Run(ctx context.Context) {
	for {
		select {
		case owner := <-s.check:
			if err := s.enqueue(ctx, owner); err != nil && ctx.Err() == nil {
				s.Log.Warn("the schedule will find it: a reflection could not be enqueued", zap.Error(err))
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) enqueue(ctx context.Context, owner memory.Owner) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	state, why, err := s.due(ctx, owner)
	if err != nil || why != "" {
		return err
	}
	_, _, err = s.Records.Enqueue(ctx, ReflectUser{AppID: owner.AppID, UserID: owner.UserID, Since: state.ReflectedAt})
	return err
}

// Work does the job. What somebody else has done already is done.
func (s *Service) Work(ctx context.Context, job ReflectUser) (any, error) {
	if s.Chat == nil {
		return nil, nil
	}
	result, err := s.Reflect(ctx, memory.Owner{AppID: job.AppID, UserID: job.UserID}, false)
	if memory.IsKind(err, memory.KindConflict) {
		return nil, nil
	}
	return result.counts(), err
}

// Totals is what a run over all users did.
type Totals struct {
	Users    int `json:"users"`    // who have memories
	Skipped  int `json:"skipped"`  // for whom it was not due
	Insights int `json:"insights"` // stored
	Retired  int `json:"retired"`  // sources
	Failed   int `json:"failed"`   // users for whom it failed; they are tried again with the next run
}

func (r Result) counts() Totals {
	t := Totals{Users: 1, Insights: len(r.Insights), Retired: len(r.Retired)}
	if r.Skipped != "" {
		t.Skipped = 1
	}
	return t
}

const ownersPage = 100

// ReflectAll reflects for every user for whom it is due, one after the other.
// A user whose reflection fails does not keep the others from theirs; the
// error then comes at the end, with what was done. Without a chat model it
// does nothing.
func (s *Service) ReflectAll(ctx context.Context) (totals Totals, err error) {
	if s.Chat == nil {
		return totals, nil
	}
	var failures []error
	for last := (memory.Owner{}); ; {
		owners, err := s.Records.Owners(ctx, last, ownersPage)
		if err != nil {
			return totals, err
		}
		for _, owner := range owners {
			result, err := s.Reflect(ctx, owner, false)
			if ctx.Err() != nil || memory.IsKind(err, memory.KindUnavailable) {
				return totals, err
			}
			one := result.counts()
			totals.Users++
			totals.Skipped += one.Skipped
			totals.Insights += one.Insights
			totals.Retired += one.Retired
			if err != nil && !memory.IsKind(err, memory.KindConflict) {
				totals.Failed++
				failures = append(failures[:min(len(failures), maxFailures)], err)
			}
			last = owner
		}
		if len(owners) < ownersPage {
			break
		}
	}
	if len(failures) > 0 {
		return totals, fmt.Errorf("reflection failed for %d of %d users: %w", totals.Failed, totals.Users, errors.Join(failures...))
	}
	return totals, nil
}

// maxFailures is how many errors a run tells of.
const maxFailures = 10
