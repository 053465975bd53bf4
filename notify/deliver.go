package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	set     Settings
	client  *http.Client
	now     func() time.Time
	log     *zap.Logger
}

// NewSender makes a sender; the caller must Close it.
func NewSender(records Deliveries, s Settings, now func() time.Time, log *zap.Logger) *Sender {
	return &Sender{records: records, set: s, client: newClient(s), now: now, log: log}
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
	sendErr := s.send(ctx, w, a, now)
	if ctx.Err() != nil {
		return ctx.Err() // the server shuts down: the next one sends it again
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
	if lasted >= s.set.DisableAfter {
		disabled, failing.RetryAt = now, time.Time{}
	}
	noted, err := s.records.SettleDelivery(ctx, w, failing, disabled)
	if err != nil {
		return jobs.Later(minWait)
	}
	off := noted && !disabled.IsZero()
	if off {
		s.log.Warn("a webhook has failed for too long and is disabled", zap.String("webhook", w.ID),
			zap.Time("since", failing.Since), zap.Error(cause))
	}
	age := now.Sub(a.At)
	if off || age >= s.set.DisableAfter {
		s.log.Warn("an announcement was not delivered", zap.String("webhook", w.ID),
			zap.String("announcement", a.Place.String()), zap.Error(cause))
		return nil
	}
	return jobs.Later(max(wait, min(age/2, maxWait)))
}

// The headers of a delivery: those of Standard Webhooks (https://www.standardwebhooks.com), and those of before.
const (
	standardID        = "Webhook-Id"
	standardTimestamp = "Webhook-Timestamp"
	standardSignature = "Webhook-Signature"

	headerKind      = "X-Hippocampus-Event"
	headerID        = "X-Hippocampus-Id"
	headerTimestamp = "X-Hippocampus-Timestamp"
	headerSignature = "X-Hippocampus-Signature"
)

const maxAnswer = 16 << 10 // bytes of a response that are read, for its connection to be reused

// send makes one attempt.
func (s *Sender) send(ctx context.Context, w memory.Webhook, a memory.Announcement, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, s.set.Timeout)
	defer cancel()
	payload := Encode(a)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(payload))
	if err != nil {
		return errors.New("the URL cannot be used: change it")
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "hippocampus")
	r.Header.Set(headerKind, string(a.Kind))
	r.Header.Set(headerID, a.Place.String())
	r.Header.Set(headerTimestamp, stamp)
	r.Header.Set(headerSignature, Sign(w.Secret, stamp, payload))
	r.Header.Set(standardID, a.Place.String())
	r.Header.Set(standardTimestamp, stamp)
	r.Header.Set(standardSignature, SignStandard(w.Secret, a.Place.String(), stamp, payload))
	answer, err := s.client.Do(r)
	if err != nil {
		var wrapped *url.Error // which repeats the URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no answer within %s", s.set.Timeout)
		}
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("answered with status %d", answer.StatusCode)
	}
	return nil
}

// Sign returns the signature of a delivery: "sha256=" and the HMAC-SHA256, in hex, of
// the timestamp, a dot and the body.
func Sign(secret, timestamp string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(payload)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// SignStandard returns the signature of a delivery by Standard Webhooks: "v1," and the HMAC-SHA256, in base64, of the
// event's id, the timestamp and the body, joined by dots. The key is what follows "whsec_" in the secret, decoded from
// base64, or the secret as it is if it has another form.
func SignStandard(secret, id, timestamp string, payload []byte) string {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, secretPrefix); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(payload)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
