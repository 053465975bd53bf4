package sqlstore

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const webhookColumns = `id, app_id, url, secret, kinds, active, activation,
	failing_since, last_error, retry_at, disabled_at, created_at, updated_at`

func webhookFields(w *memory.Webhook) []any {
	return []any{&w.ID, &w.AppID, &w.URL, &w.Secret, &w.Kinds, &w.Active, &w.Activation,
		&w.Failing.Since, &w.Failing.LastError, &w.Failing.RetryAt, &w.DisabledAt, &w.CreatedAt, &w.UpdatedAt}
}

const webhookOfApp = `SELECT ` + webhookColumns + ` FROM webhooks WHERE id = $1 AND app_id = $2`

func (s *Store) CreateWebhook(ctx context.Context, w memory.Webhook, most int) error {
	n, err := s.exec(ctx, `
		INSERT INTO webhooks (id, app_id, url, secret, kinds, active, activation, {after_xact, |}after_seq, created_at,
		updated_at)
		SELECT $1, $2, $3, $4, $5::text[], $6, $7, {`+settledBefore+`, 0|`+lastNumber+`}, $8, $9
		WHERE (SELECT count(*) FROM webhooks WHERE app_id = $2) < $10`,
		w.ID, w.AppID, w.URL, w.Secret, append([]memory.AnnouncementKind{}, w.Kinds...), w.Active, w.Activation,
		w.CreatedAt, w.UpdatedAt, most)
	return s.require(n > 0, err, "store the webhook",
		memory.Errorf(memory.KindConflict, "the app has %d webhooks, and no more are allowed: delete one first", most))
}

func (s *Store) Webhook(ctx context.Context, appID, id string) (memory.Webhook, error) {
	return webhook(ctx, s.conn, appID, id, "")
}

func webhook(ctx context.Context, c conn, appID, id, lock string) (w memory.Webhook, err error) {
	if !memory.IsID(id) {
		return w, NotFound("webhook", id)
	}
	w, ok, err := first(ctx, c, webhookFields, webhookOfApp+lock, id, appID)
	return w, c.require(ok, err, "find the webhook", NotFound("webhook", id))
}

func (s *Store) ListWebhooks(
	ctx context.Context, appID string, before *db.Position, limit int,
) ([]memory.Webhook, error) {
	var where Conditions
	where.Add(`app_id = ?`, appID)
	if before != nil {
		where.Add(`(created_at, id) < (?, ?)`, before.At, before.ID)
	}
	found, err := page(ctx, s.conn, webhookFields, `SELECT `+webhookColumns+` FROM webhooks WHERE `, where,
		`created_at DESC, id DESC`, limit)
	return found, s.fault(err, "list the webhooks")
}

func (s *Store) ChangeWebhook(
	ctx context.Context, appID, id string, change func(*memory.Webhook) error,
) (w memory.Webhook, err error) {
	err = s.transact(ctx, func(tx tx) error {
		if w, err = webhook(ctx, tx.conn, appID, id, ` {FOR UPDATE|}`); err != nil {
			return err
		}
		before := w
		if err := change(&w); err != nil {
			return err
		}
		_, err = tx.exec(ctx, `
			UPDATE webhooks SET url = $2, secret = $3, kinds = $4, active = $5, activation = $6,
				failing_since = $7, last_error = $8, retry_at = $9, disabled_at = $10, updated_at = $11,
				{after_xact = CASE WHEN $12 THEN `+settledBefore+` ELSE after_xact END, |}
				after_seq = CASE WHEN $12 THEN {0|`+lastNumber+`} ELSE after_seq END
			WHERE id = $1`,
			id, w.URL, w.Secret, append([]memory.AnnouncementKind{}, w.Kinds...), w.Active, w.Activation,
			null(w.Failing.Since), rowcodec.Storable(w.Failing.LastError), null(w.Failing.RetryAt), null(w.DisabledAt),
			w.UpdatedAt,
			w.Activation != before.Activation)
		return err
	})
	return w, s.fault(err, "change the webhook")
}

func (s *Store) DeleteWebhook(ctx context.Context, appID, id string) error {
	if !memory.IsID(id) {
		return NotFound("webhook", id)
	}
	n, err := s.exec(ctx, `DELETE FROM webhooks WHERE id = $1 AND app_id = $2`, id, appID)
	return s.require(n > 0, err, "delete the webhook", NotFound("webhook", id))
}

// lagging is a webhook with announcements to enqueue: the fields that its jobs need, and its place.
type lagging struct {
	memory.Webhook
	after memory.Place
}

// findLagging finds a webhook with announcements to enqueue.
func findLagging(ctx context.Context, c conn, now time.Time, lock string) (lagging, bool, error) {
	return first(ctx, c, func(l *lagging) []any {
		return []any{&l.ID, &l.Kinds, &l.Activation, &l.AppID, &l.after.Commit, &l.after.Seq}
	}, `
		SELECT w.id, w.kinds, w.activation, w.app_id, {w.after_xact|0}, w.after_seq FROM webhooks w
		WHERE w.active AND (w.retry_at IS NULL OR w.retry_at <= $1) AND EXISTS (SELECT 1 FROM announcements a
			WHERE a.app_id = w.app_id AND {(a.xact, a.seq) > (w.after_xact, w.after_seq)|a.seq > w.after_seq}`+settled+`)
		ORDER BY w.id LIMIT 1`+lock, now)
}

// EnqueueDeliveries enqueues the next jobs of one webhook. It looks for one before
// it takes a lock, since mostly there is nothing to enqueue, and skips a webhook
// that another process has locked.
func (s *Store) EnqueueDeliveries(
	ctx context.Context, now time.Time, limit int, job func(memory.Webhook, memory.Place) db.Job,
) (passed int, err error) {
	if _, ok, err := findLagging(ctx, s.conn, now, ""); err != nil || !ok {
		return 0, s.fault(err, "look for webhooks")
	}
	err = s.transact(ctx, func(tx tx) error {
		passed = 0
		w, ok, err := findLagging(ctx, tx.conn, now, ` {FOR UPDATE OF w SKIP LOCKED|}`)
		if err != nil || !ok {
			return err
		}
		fresh, err := collect(ctx, tx.conn, func(a *memory.Announcement) []any {
			return []any{&a.Place.Commit, &a.Place.Seq, &a.Kind}
		}, `SELECT {xact|0}, seq, kind FROM announcements WHERE app_id = $1 AND {(xact, seq) > ($2, $3)|seq > $3}`+settled+`
			ORDER BY {xact, |}seq LIMIT $4`, w.AppID, w.after.Commit, w.after.Seq, limit)
		if err != nil || len(fresh) == 0 {
			return err
		}
		var jobs []river.InsertManyParams
		for _, a := range fresh {
			if w.Wants(a.Kind) {
				jobs = append(jobs, river.InsertManyParams{Args: job(w.Webhook, a.Place)})
			}
		}
		if len(jobs) > 0 {
			if err := tx.enqueue(ctx, jobs); err != nil {
				return err
			}
		}
		passed = len(fresh)
		last := fresh[passed-1].Place
		_, err = tx.exec(ctx, `UPDATE webhooks SET {after_xact = $2, |}after_seq = $3 WHERE id = $1`,
			w.ID, last.Commit, last.Seq)
		return err
	})
	if err != nil {
		return 0, s.fault(err, "enqueue deliveries")
	}
	return passed, nil
}

func (s *Store) Delivery(
	ctx context.Context, webhookID string, place memory.Place,
) (w memory.Webhook, a memory.Announcement, err error) {
	const doing = "read what is to be delivered"
	if !memory.IsID(webhookID) {
		return w, a, NotFound("webhook", webhookID)
	}
	w, ok, err := first(ctx, s.conn, webhookFields, `SELECT `+webhookColumns+` FROM webhooks WHERE id = $1`, webhookID)
	if err != nil || !ok {
		return w, a, s.require(ok, err, doing, NotFound("webhook", webhookID))
	}
	a, ok, err = first(ctx, s.conn, announcementFields, `SELECT `+announcementColumns+` FROM announcements
		WHERE {xact = $1 AND |}seq = $2 AND {|+}app_id = $3`, place.Commit, place.Seq, w.AppID)
	return w, a, s.require(ok, err, doing, NotFound("announcement", place.String()))
}

func (s *Store) SettleDelivery(
	ctx context.Context, tried memory.Webhook, f memory.Failing, disabled time.Time,
) (noted bool, err error) {
	if !memory.IsID(tried.ID) {
		return false, nil
	}
	n, err := s.exec(ctx, `
		UPDATE webhooks SET failing_since = $4, last_error = $5, retry_at = $6, disabled_at = $7,
		active = $7::timestamptz IS NULL
		WHERE id = $1 AND activation = $2 AND active AND failing_since IS NOT DISTINCT FROM $3`,
		tried.ID, tried.Activation, null(tried.Failing.Since),
		null(f.Since), rowcodec.Storable(f.LastError), null(f.RetryAt), null(disabled))
	return n > 0, s.fault(err, "note how the delivery went")
}
