package reflection

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// ReflectUser is the job that reflects for one user. One job is kept for each
// user and last reflection.
type ReflectUser struct {
	jobs.Background `json:"-"`

	AppID  string    `json:"app_id"`
	UserID string    `json:"user_id"`
	Since  time.Time `json:"since"` // the last reflection
}

// Kind is the name that the job is stored under.
func (ReflectUser) Kind() string { return "reflect_user" }

const (
	maxChecks    = 1000 // users who wait for a check; the schedule finds the others
	checkTimeout = 10 * time.Second
)

// MemoriesChanged has Run check whether a reflection is due for the user. It
// does not block.
func (s *Service) MemoriesChanged(owner memory.Owner) {
	if s.Chat == nil {
		return
	}
	select {
	case s.check <- owner:
	default: // the schedule finds the user
	}
}

// Run waits for the users of MemoriesChanged, and enqueues a reflection for each for whom one is due, until the context
// ends.
func (s *Service) Run(ctx context.Context) {
	for {
		select {
		case owner := <-s.check:
			if err := s.enqueue(ctx, owner); err != nil && ctx.Err() == nil {
				s.Log.Warn("a reflection could not be enqueued; the schedule tries again", zap.Error(err))
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
	job := ReflectUser{AppID: owner.AppID, UserID: owner.UserID, Since: state.ReflectedAt}
	return s.Records.EnqueueForUser(ctx, owner, state.Erased, job)
}

// Work does the job. A conflict with another reflection ends it.
func (s *Service) Work(ctx context.Context, job ReflectUser) (any, error) {
	if s.Chat == nil {
		return nil, nil
	}
	result, err := s.Reflect(ctx, memory.Owner{AppID: job.AppID, UserID: job.UserID}, s.set.Rule)
	if memory.IsKind(err, memory.KindConflict) {
		return nil, nil
	}
	var totals Totals
	totals.add(result)
	return totals, err
}

// Totals counts the results of a run over all users.
type Totals struct {
	Users    int `json:"users"`    // who have memories
	Skipped  int `json:"skipped"`  // for whom no reflection was due
	Insights int `json:"insights"` // stored
	Proposed int `json:"proposed"` // that wait for approval
	Retired  int `json:"retired"`  // sources
	Failed   int `json:"failed"`   // users whose reflection failed; the next run tries again
}

func (t *Totals) add(r Result) {
	t.Users++
	t.Insights += len(r.Insights)
	t.Proposed += len(r.Proposed)
	t.Retired += len(r.Retired)
	if r.Skipped != "" {
		t.Skipped++
	}
}

// ReflectAll reflects for every user for whom it is due; see jobs.EachOwner.
// Without a chat model it does nothing.
func (s *Service) ReflectAll(ctx context.Context) (totals Totals, err error) {
	if s.Chat == nil {
		return totals, nil
	}
	totals.Failed, err = jobs.EachOwner(ctx, s.Records, func(owner memory.Owner) error {
		result, err := s.Reflect(ctx, owner, s.set.Rule)
		if ctx.Err() == nil && !memory.IsKind(err, memory.KindUnavailable) {
			totals.add(result)
		}
		return err
	})
	return totals, err
}
