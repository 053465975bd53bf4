package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const webhookColumns = `id, app_id, url, secret, kinds, active, activation, failing_since, last_error, retry_at, disabled_at, created_at, updated_at`

func webhookFields(w *memory.Webhook) []any {
	return []any{&w.ID, &w.AppID, &w.URL, &w.Secret, (*kindList)(&w.Kinds), &w.Active, &w.Activation,
		(*instant)(&w.Failing.Since), &w.Failing.LastError, (*instant)(&w.Failing.RetryAt), (*instant)(&w.DisabledAt),
		(*instant)(&w.CreatedAt), (*instant)(&w.UpdatedAt)}
}

// kindList is a JSON array.
type kindList []memory.AnnouncementKind

func (l *kindList) Scan(column any) error {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("the kinds are a %T", column)
	}
	if err := json.Unmarshal([]byte(text), (*[]memory.AnnouncementKind)(l)); err != nil {
		return fmt.Errorf("read the kinds: %w", err)
	}
	return nil
}

// CreateWebhook stores w, which begins with what is announced from now on.
func (s *Store) CreateWebhook(ctx context.Context, w memory.Webhook, most int) error {
	result, err := s.exec(ctx, `
		INSERT INTO webhooks (id, app_id, url, secret, kinds, active, activation, after_seq, created_at, updated_at)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, `+lastNumber+`, ?8, ?9
		WHERE (SELECT count(*) FROM webhooks WHERE app_id = ?2) < ?10`,
		w.ID, w.AppID, w.URL, w.Secret, list(w.Kinds), w.Active, w.Activation, moment(w.CreatedAt), moment(w.UpdatedAt), most)
	if err == nil && affected(result) == 0 {
		return memory.Errorf(memory.KindConflict, "the app has %d webhooks, and no more are allowed: delete one first", most)
	}
	return fault(err, "store the webhook")
}

const webhookOfApp = `SELECT ` + webhookColumns + ` FROM webhooks WHERE id = ? AND app_id = ?`

// Webhook returns one of the app.
func (s *Store) Webhook(ctx context.Context, appID, id string) (memory.Webhook, error) {
	w, err := one(ctx, s.reader, webhookFields, webhookOfApp, id, appID)
	if errors.Is(err, sql.ErrNoRows) {
		return w, notFound("webhook", id)
	}
	return w, fault(err, "find the webhook")
}

// ListWebhooks pages through the app's webhooks, newest first.
func (s *Store) ListWebhooks(ctx context.Context, appID string, before *db.Position, limit int) ([]memory.Webhook, error) {
	var where conditions
	where.add(`app_id = ?`, appID)
	if before != nil {
		where.add(`(created_at, id) < (?, ?)`, moment(before.At), before.ID)
	}
	found, err := collect(ctx, s.reader, webhookFields, `SELECT `+webhookColumns+` FROM webhooks WHERE `+where.sql()+
		` ORDER BY created_at DESC, id DESC LIMIT ?`, append(where.args, limit)...)
	return found, fault(err, "list the webhooks")
}

// ChangeWebhook stores what change makes of a webhook of the app.
func (s *Store) ChangeWebhook(ctx context.Context, appID, id string, change func(*memory.Webhook) error) (w memory.Webhook, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		w, err = one(ctx, tx, webhookFields, webhookOfApp, id, appID)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("webhook", id)
		}
		if err != nil {
			return err
		}
		before := w
		if err := change(&w); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE webhooks SET url = ?2, secret = ?3, kinds = ?4, active = ?5, activation = ?6,
				failing_since = ?7, last_error = ?8, retry_at = ?9, disabled_at = ?10, updated_at = ?11,
				after_seq = iif(?12, `+lastNumber+`, after_seq)
			WHERE id = ?1`,
			id, w.URL, w.Secret, list(w.Kinds), w.Active, w.Activation, instant(w.Failing.Since),
			rowcodec.Storable(w.Failing.LastError), instant(w.Failing.RetryAt), instant(w.DisabledAt), moment(w.UpdatedAt),
			w.Activation != before.Activation)
		return err
	})
	return w, fault(err, "change the webhook")
}

// DeleteWebhook deletes one of the app.
func (s *Store) DeleteWebhook(ctx context.Context, appID, id string) error {
	result, err := s.exec(ctx, `DELETE FROM webhooks WHERE id = ? AND app_id = ?`, id, appID)
	if err == nil && affected(result) == 0 {
		return notFound("webhook", id)
	}
	return fault(err, "delete the webhook")
}

// A lagging webhook, as far as its jobs need it, and its place.
type lag struct {
	memory.Webhook
	after int64
}

func lagFields(l *lag) []any {
	return []any{&l.ID, (*kindList)(&l.Kinds), &l.Activation, &l.AppID, &l.after}
}

const lagging = `
	SELECT w.id, w.kinds, w.activation, w.app_id, w.after_seq FROM webhooks w
	WHERE w.active AND (w.retry_at IS NULL OR w.retry_at <= ?)
		AND EXISTS (SELECT 1 FROM announcements a WHERE a.app_id = w.app_id AND a.seq > w.after_seq)
	ORDER BY w.id LIMIT 1`

// EnqueueDeliveries enqueues the next jobs of one webhook. It looks before it
// stands in the line of writers: mostly there is none to find.
func (s *Store) EnqueueDeliveries(ctx context.Context, now time.Time, limit int, job func(memory.Webhook, memory.Place) db.Job) (passed int, err error) {
	if _, err := one(ctx, s.reader, lagFields, lagging, moment(now)); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return 0, fault(err, "look for webhooks")
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		w, err := one(ctx, tx, lagFields, lagging, moment(now))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		fresh, err := collect(ctx, tx, func(a *memory.Announcement) []any { return []any{&a.Place.Seq, &a.Kind} },
			`SELECT seq, kind FROM announcements WHERE app_id = ? AND seq > ? ORDER BY seq LIMIT ?`, w.AppID, w.after, limit)
		if err != nil {
			return err
		}
		var jobs []river.InsertManyParams
		for _, a := range fresh {
			if w.Wants(a.Kind) {
				jobs = append(jobs, river.InsertManyParams{Args: job(w.Webhook, a.Place)})
			}
		}
		if len(jobs) > 0 {
			if _, err := s.jobs.InsertManyTx(ctx, tx, jobs); err != nil {
				return err
			}
		}
		passed = len(fresh)
		_, err = tx.ExecContext(ctx, `UPDATE webhooks SET after_seq = ? WHERE id = ?`, fresh[passed-1].Place.Seq, w.ID)
		return err
	})
	if err != nil {
		return 0, fault(err, "enqueue deliveries")
	}
	return passed, nil
}

// Delivery reads what a job is about.
func (s *Store) Delivery(ctx context.Context, webhookID string, place memory.Place) (w memory.Webhook, a memory.Announcement, err error) {
	w, err = one(ctx, s.reader, webhookFields, `SELECT `+webhookColumns+` FROM webhooks WHERE id = ?`, webhookID)
	if errors.Is(err, sql.ErrNoRows) {
		return w, a, notFound("webhook", webhookID)
	}
	if err == nil {
		a, err = one(ctx, s.reader, announcementFields,
			`SELECT `+announcementColumns+` FROM announcements WHERE seq = ? AND +app_id = ?`, place.Seq, w.AppID)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return w, a, notFound("announcement", place.String())
	}
	return w, a, fault(err, "read what is to be delivered")
}

// SettleDelivery notes whether a webhook fails.
func (s *Store) SettleDelivery(ctx context.Context, tried memory.Webhook, f memory.Failing, disabled time.Time) (noted bool, err error) {
	result, err := s.exec(ctx, `
		UPDATE webhooks SET failing_since = ?4, last_error = ?5, retry_at = ?6, disabled_at = ?7, active = ?7 IS NULL
		WHERE id = ?1 AND activation = ?2 AND active AND failing_since IS ?3`,
		tried.ID, tried.Activation, instant(tried.Failing.Since),
		instant(f.Since), rowcodec.Storable(f.LastError), instant(f.RetryAt), instant(disabled))
	return err == nil && affected(result) > 0, fault(err, "note how the delivery went")
}
