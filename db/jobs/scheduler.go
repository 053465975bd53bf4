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

// Enqueuer takes new jobs; db.Jobs has it.
type Enqueuer interface {
	Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error)
}

// Scheduler enqueues upkeep when its time has come:
//
//	cron expression, clock -> tick -> one job of its kind and instant
//
// Every replica runs one: they find the same instants, and the database keeps
// one job for each. Ticks that pass while no replica runs are not made up for.
//
// Expressions are those of robfig/cron, in UTC: five fields ("0 3 * * *"), a
// name such as "@daily", or "@every 15m", whose instants are counted from the
// year 1 and thus fall on whole quarters of an hour.
type Scheduler struct {
	queue Enqueuer
	now   func() time.Time
	log   *zap.Logger
	plans []plan
}

// plan is one kind of upkeep with the instant of its next tick.
type plan struct {
	kind     string
	schedule cron.Schedule
	next     time.Time
}

// NewScheduler plans the work that has a schedule. It fails where one cannot
// be read.
func NewScheduler(queue Enqueuer, now func() time.Time, log *zap.Logger, work ...Maintenance) (*Scheduler, error) {
	s := &Scheduler{queue: queue, now: now, log: log}
	for _, u := range work {
		if u.Schedule == "" {
			continue
		}
		schedule, err := parse(u.Schedule)
		if err != nil {
			return nil, fmt.Errorf("schedule of %s, %q: %w", u.Kind, u.Schedule, err)
		}
		next := schedule.Next(now().UTC())
		if next.IsZero() {
			return nil, fmt.Errorf("schedule of %s, %q, never comes: leave it empty to turn it off", u.Kind, u.Schedule)
		}
		s.plans = append(s.plans, plan{u.Kind, schedule, next})
	}
	return s, nil
}

const (
	longestWait    = time.Minute     // so that a clock that is set is noticed
	retryWait      = 5 * time.Second // after a job that could not be enqueued
	enqueueTimeout = 10 * time.Second
)

// Run enqueues until the context ends.
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

// enqueue stores a job for each tick that has come, the latest of a plan
// alone, and tells how long to wait for the next.
func (s *Scheduler) enqueue(ctx context.Context) (wait time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	wait = longestWait
	for i := range s.plans {
		p, now := &s.plans[i], s.now().UTC()
		if !now.Before(p.next) {
			p.next = p.latest(now)
			if _, _, err := s.queue.Enqueue(ctx, tick{p.kind, p.next}); err != nil {
				s.log.Warn("upkeep could not be enqueued; it is tried again", zap.String("kind", p.kind), zap.Error(err))
				wait = min(wait, retryWait)
				continue
			}
			p.next = p.schedule.Next(now)
		}
		wait = min(wait, p.next.Sub(now))
	}
	return wait
}

// latest is the last tick that is not after now; next is one.
func (p *plan) latest(now time.Time) time.Time {
	at := p.next
	for next := at; !next.After(now); next = p.schedule.Next(next) {
		at = next
	}
	return at
}

// parse reads an expression.
func parse(expression string) (cron.Schedule, error) {
	schedule, err := cron.ParseStandard(strings.TrimSpace(expression))
	if constant, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return every(constant.Delay), err
	}
	return schedule, err
}

// every ticks at the multiples of a duration. Those of cron count from the
// start of the process and would differ between replicas.
type every time.Duration

func (e every) Next(t time.Time) time.Time {
	return t.Truncate(time.Duration(e)).Add(time.Duration(e))
}
