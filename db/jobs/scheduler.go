package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"

	"hippocampus/db"
)

// Enqueuer stores new jobs; db.Jobs implements it.
type Enqueuer interface {
	Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error)
}

// Scheduler enqueues maintenance jobs at the ticks of their schedules:
//
//	cron expression, clock -> tick -> one job per kind and instant
//
// Every replica runs a Scheduler. All compute the same instants, and the
// database keeps one job for each. Ticks that pass while no replica runs are
// skipped.
//
// Expressions are those of robfig/cron, in UTC: five fields ("0 3 * * *"), a
// name such as "@daily", or "@every 15m". The instants of @every are multiples
// of the duration since the year 1, such as whole quarters of an hour.
type Scheduler struct {
	queue Enqueuer
	now   func() time.Time
	log   *zap.Logger
	plans []plan
}

// plan is one kind of maintenance job with the instant of its next tick.
type plan struct {
	kind     string
	schedule cron.Schedule
	next     time.Time
}

// NewScheduler plans the jobs that have a schedule. It fails if a schedule is
// invalid.
func NewScheduler(queue Enqueuer, now func() time.Time, log *zap.Logger, jobs ...Maintenance) (*Scheduler, error) {
	s := &Scheduler{queue: queue, now: now, log: log}
	for _, job := range jobs {
		if job.Schedule == "" {
			continue
		}
		schedule, err := parse(job.Schedule)
		if err != nil {
			return nil, fmt.Errorf("schedule of %s, %q: %w", job.Kind, job.Schedule, err)
		}
		next := schedule.Next(now().UTC())
		if next.IsZero() {
			return nil, fmt.Errorf("schedule of %s, %q, never fires: leave it empty to turn the job off", job.Kind, job.Schedule)
		}
		s.plans = append(s.plans, plan{job.Kind, schedule, next})
	}
	return s, nil
}

const (
	longestWait    = time.Minute     // to notice a clock that was set
	retryWait      = 5 * time.Second // after a failure to enqueue
	enqueueTimeout = 10 * time.Second
)

// Run enqueues jobs until ctx is done.
func (s *Scheduler) Run(ctx context.Context) {
	for {
		timer := time.NewTimer(s.enqueue(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// enqueue stores a job for the latest tick of every plan that is due and
// returns the time to wait for the next tick.
func (s *Scheduler) enqueue(ctx context.Context) (wait time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	wait = longestWait
	for i := range s.plans {
		p, now := &s.plans[i], s.now().UTC()
		if !now.Before(p.next) {
			p.next = p.latest(now)
			if _, _, err := s.queue.Enqueue(ctx, tick{p.kind, p.next}); err != nil {
				s.log.Warn("maintenance job could not be enqueued; retrying", zap.String("kind", p.kind), zap.Error(err))
				wait = min(wait, retryWait)
				continue
			}
			p.next = p.schedule.Next(now)
		}
		wait = min(wait, p.next.Sub(now))
	}
	return wait
}

// Next returns the instant of the next tick of each kind that has a schedule.
func (s *Scheduler) Next() map[string]time.Time {
	next, now := map[string]time.Time{}, s.now().UTC()
	for i := range s.plans {
		next[s.plans[i].kind] = s.plans[i].schedule.Next(now)
	}
	return next
}

// latest returns the last tick that is not after now, given that p.next is not after now.
func (p *plan) latest(now time.Time) time.Time {
	at := p.next
	for next := at; !next.After(now); next = p.schedule.Next(next) {
		at = next
	}
	return at
}

// parse parses a cron expression.
func parse(expression string) (cron.Schedule, error) {
	schedule, err := cron.ParseStandard(strings.TrimSpace(expression))
	if constant, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return every(constant.Delay), err
	}
	return schedule, err
}

// every ticks at the multiples of a duration. Package cron would count from the
// start of the process, and the instants would differ between replicas.
type every time.Duration

func (e every) Next(t time.Time) time.Time {
	return t.Truncate(time.Duration(e)).Add(time.Duration(e))
}
