package notify

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// Deliver is the job that delivers one announcement to one webhook. It names no
// user: erasing a user deletes the announcement, and the job finds nothing.
type Deliver struct {
	jobs.Outgoing `json:"-"`

	WebhookID  string `json:"webhook_id"`
	Activation int    `json:"activation"`
	Place      string `json:"place"`
}

// Kind is the name that the job is stored under.
func (Deliver) Kind() string { return "deliver_announcement" }

// DeliveryQueue enqueues deliveries for webhooks that lag; db.Webhooks has it.
type DeliveryQueue interface {
	EnqueueDeliveries(ctx context.Context, now time.Time, limit int, job func(memory.Webhook, memory.Place) db.Job) (int,
		error)
}

// Dispatcher enqueues deliveries. Every replica runs one; the database ensures that
// each announcement is enqueued once for each webhook.
type Dispatcher struct {
	records DeliveryQueue
	poll    time.Duration
	now     func() time.Time
	log     *zap.Logger
}

// NewDispatcher makes a dispatcher, which works while Run runs.
func NewDispatcher(records DeliveryQueue, s Settings, now func() time.Time, log *zap.Logger) *Dispatcher {
	return &Dispatcher{records: records, poll: s.Poll, now: now, log: log}
}

const dispatchBatch = 100 // announcements of one webhook in one transaction

// untried is how long a failing webhook's retry may be overdue before the webhook
// gets further jobs: the jobs that failed may have been erased with their users.
// It is longer than an attempt takes.
const untried = 2 * time.Minute

// Run enqueues until the context ends.
func (d *Dispatcher) Run(ctx context.Context) { every(ctx, d.poll, d.dispatch) }

// dispatch enqueues until no webhook lags.
func (d *Dispatcher) dispatch(ctx context.Context) {
	for {
		n, err := d.records.EnqueueDeliveries(ctx, d.now().Add(-untried), dispatchBatch,
			func(w memory.Webhook, place memory.Place) db.Job {
				return Deliver{WebhookID: w.ID, Activation: w.Activation, Place: place.String()}
			})
		if err != nil && ctx.Err() == nil {
			d.log.Warn("deliveries could not be enqueued; they are tried again", zap.Error(err))
		}
		if err != nil || n == 0 {
			return
		}
	}
}
