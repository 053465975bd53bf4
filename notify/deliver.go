package notify

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// Deliveries is what the sender reads and records; db.Webhooks has it.
type Deliveries interface {
	Delivery(ctx context.Context, webhookID string, place memory.Place) (memory.Webhook, memory.Announcement, error)
	SettleDelivery(ctx context.Context, tried memory.Webhook, failing memory.Failing, disabled time.Time) (noted bool,
		err error)
}

// Sender delivers.
type Sender struct {
	records Deliveries
	courier
	now func() time.Time
	log *zap.Logger
}

// NewSender makes a sender; the caller must Close it.
func NewSender(records Deliveries, s Settings, now func() time.Time, log *zap.Logger) *Sender {
	return &Sender{records: records, courier: newCourier(s), now: now, log: log}
}

// Close ends idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// The least and the longest wait before the next attempt.
const minWait, maxWait = time.Second, time.Hour

// Work does the job. A status of 2xx is a delivery, anything else a failure. After
// a failure the job waits half of the announcement's age, or half of the time for
// which the webhook has been failing if that is longer; the webhook's other jobs
// wait also.
func (s *Sender) Work(ctx context.Context, job Deliver) error {
	place, _ := memory.ParsePlace(job.Place)
	w, a, err := s.records.Delivery(ctx, job.WebhookID, place)
	if memory.IsKind(err, memory.KindNotFound) {
		return nil // purged, erased or deleted
	}
	if err != nil {
		return jobs.Later(minWait) // the database is unavailable, which says nothing about the webhook
	}
	now := memory.Instant(s.now())
	switch {
	case !w.Active || w.Activation != job.Activation:
		return nil
	case w.Failing.RetryAt.After(now):
		return jobs.Later(w.Failing.RetryAt.Sub(now))
	}
	sendErr := s.send(ctx, w, parcel{id: a.Place.String(), kind: a.Kind, payload: Encode(a)}, now)
	if ctx.Err() != nil {
		return ctx.Err() // the server shuts down; after a restart the job sends it again
	}
	if sendErr != nil {
		return s.failed(ctx, w, a, sendErr)
	}
	if !w.Failing.Since.IsZero() {
		_, err = s.records.SettleDelivery(ctx, w, memory.Failing{}, time.Time{})
	}
	return err
}

// failed records a failure, and returns when the job is to be retried.
func (s *Sender) failed(ctx context.Context, w memory.Webhook, a memory.Announcement, cause error) error {
	now := memory.Instant(s.now())
	failing := w.Failing
	if failing.Since.IsZero() {
		failing.Since = now
	}
	lasted := now.Sub(failing.Since)
	wait := min(max(lasted/2, minWait), maxWait)
	failing.LastError, failing.RetryAt = cause.Error(), now.Add(wait)
	disabled := time.Time{}
	if lasted >= s.DisableAfter {
		disabled, failing.RetryAt = now, time.Time{}
	}
	noted, err := s.records.SettleDelivery(ctx, w, failing, disabled)
	if err != nil {
		return jobs.Later(minWait)
	}
	logged := zap.Error(detailed(cause))
	off := noted && !disabled.IsZero()
	if off {
		s.log.Warn("a webhook has failed for too long and is disabled", zap.String("webhook", w.ID),
			zap.Time("since", failing.Since), logged)
	}
	age := now.Sub(a.At)
	if off || age >= s.DisableAfter {
		s.log.Warn("an announcement was not delivered", zap.String("webhook", w.ID),
			zap.String("announcement", a.Place.String()), logged)
		return nil
	}
	return jobs.Later(max(wait, min(age/2, maxWait)))
}
