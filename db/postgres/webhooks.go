package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const webhookColumns = `id, app_id, url, secret, kinds, active, activation, failing_since, last_error, retry_at, disabled_at, created_at, updated_at`

func scanWebhook(row pgx.CollectableRow) (w memory.Webhook, err error) {
	var since, retry, disabled *time.Time
	err = row.Scan(&w.ID, &w.AppID, &w.URL, &w.Secret, &w.Kinds, &w.Active, &w.Activation,
		&since, &w.Failing.LastError, &retry, &disabled, &w.CreatedAt, &w.UpdatedAt)
	w.Failing.Since, w.Failing.RetryAt, w.DisabledAt = orZero(since), orZero(retry), orZero(disabled)
	return w, err
}

// webhook runs a query for one webhook.
func webhook(ctx context.Context, q querier, sql string, args ...any) (memory.Webhook, error) {
	rows, _ := q.Query(ctx, sql, args...) // a failed query reports its error through the rows
	return pgx.CollectExactlyOneRow(rows, scanWebhook)
}

// CreateWebhook stores w, which begins with what is announced from now on.
func (s *Store) CreateWebhook(ctx context.Context, w memory.Webhook, most int) error {
	tag, err := s.pool.Exec(ctx, `
		INSERT INTO webhooks (id, app_id, url, secret, kinds, active, activation, after_xact, after_seq, created_at, updated_at)
		SELECT $1, $2, $3, $4, $5::text[], $6, $7, `+settledBefore+`, 0, $8, $9
		WHERE (SELECT count(*) FROM webhooks WHERE app_id = $2) < $10`,
		w.ID, w.AppID, w.URL, w.Secret, kindNames(w.Kinds), w.Active, w.Activation, w.CreatedAt, w.UpdatedAt, most)
	if err == nil && tag.RowsAffected() == 0 {
		return memory.Errorf(memory.KindConflict, "the app has %d webhooks, and no more are allowed: delete one first", most)
	}
	return fault(err, "store the webhook")
}

// Webhook returns one of the app.
func (s *Store) Webhook(ctx context.Context, appID, id string) (memory.Webhook, error) {
	if !memory.IsID(id) {
		return memory.Webhook{}, notFound("webhook", id)
	}
	w, err := webhook(ctx, s.pool, `SELECT `+webhookColumns+` FROM webhooks WHERE id = $1 AND app_id = $2`, id, appID)
	if errors.Is(err, pgx.ErrNoRows) {
		return w, notFound("webhook", id)
	}
	return w, fault(err, "find the webhook")
}

// ListWebhooks pages through the app's webhooks, newest first.
func (s *Store) ListWebhooks(ctx context.Context, appID string, before *db.Position, limit int) ([]memory.Webhook, error) {
	var where conditions
	where.add(`app_id = ?`, appID)
	if before != nil {
		where.add(`(created_at, id) < (?, ?)`, before.At, before.ID)
	}
	rows, _ := s.pool.Query(ctx, `SELECT `+webhookColumns+` FROM webhooks WHERE `+where.sql()+
		` ORDER BY created_at DESC, id DESC LIMIT `+where.arg(limit), where.args...)
	found, err := pgx.CollectRows(rows, scanWebhook)
	return found, fault(err, "list the webhooks")
}

// ChangeWebhook stores what change makes of a webhook of the app.
func (s *Store) ChangeWebhook(ctx context.Context, appID, id string, change func(*memory.Webhook) error) (w memory.Webhook, err error) {
	if !memory.IsID(id) {
		return w, notFound("webhook", id)
	}
	err = again(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var err error
			w, err = webhook(ctx, tx, `SELECT `+webhookColumns+` FROM webhooks WHERE id = $1 AND app_id = $2 FOR UPDATE`, id, appID)
			if errors.Is(err, pgx.ErrNoRows) {
				return notFound("webhook", id)
			}
			if err != nil {
				return err
			}
			before := w
			if err := change(&w); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `
				UPDATE webhooks SET url = $2, secret = $3, kinds = $4, active = $5, activation = $6,
					failing_since = $7, last_error = $8, retry_at = $9, disabled_at = $10, updated_at = $11,
					after_xact = CASE WHEN $12 THEN `+settledBefore+` ELSE after_xact END, after_seq = CASE WHEN $12 THEN 0 ELSE after_seq END
				WHERE id = $1`,
				id, w.URL, w.Secret, kindNames(w.Kinds), w.Active, w.Activation, orNull(w.Failing.Since),
				rowcodec.Storable(w.Failing.LastError), orNull(w.Failing.RetryAt), orNull(w.DisabledAt), w.UpdatedAt, w.Activation != before.Activation)
			return err
		})
	})
	return w, fault(err, "change the webhook")
}

// DeleteWebhook deletes one of the app.
func (s *Store) DeleteWebhook(ctx context.Context, appID, id string) error {
	if !memory.IsID(id) {
		return notFound("webhook", id)
	}
	tag, err := s.pool.Exec(ctx, `DELETE FROM webhooks WHERE id = $1 AND app_id = $2`, id, appID)
	if err == nil && tag.RowsAffected() == 0 {
		return notFound("webhook", id)
	}
	return fault(err, "delete the webhook")
}

// lagging finds a webhook with something to enqueue. One that another process
// is at is passed over.
const lagging = `
	SELECT w.id, w.kinds, w.activation, w.app_id, w.after_xact, w.after_seq FROM webhooks w
	WHERE w.active AND (w.retry_at IS NULL OR w.retry_at <= $1) AND EXISTS (
		SELECT 1 FROM announcements a WHERE a.app_id = w.app_id AND (a.xact, a.seq) > (w.after_xact, w.after_seq) AND a.xact < ` + settledBefore + `)
	ORDER BY w.id LIMIT 1 `

// EnqueueDeliveries enqueues the next jobs of one webhook. It looks before it
// locks: mostly there is none to find.
func (s *Store) EnqueueDeliveries(ctx context.Context, now time.Time, limit int, job func(memory.Webhook, memory.Place) db.Job) (passed int, err error) {
	if _, _, err := lag(ctx, s.pool, lagging, now); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return 0, fault(err, "look for webhooks")
	}
	err = again(ctx, func() error {
		passed = 0
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			w, after, err := lag(ctx, tx, lagging+`FOR UPDATE OF w SKIP LOCKED`, now)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			rows, _ := tx.Query(ctx, `SELECT xact, seq, kind FROM announcements
				WHERE app_id = $1 AND (xact, seq) > ($2, $3) AND xact < `+settledBefore+` ORDER BY xact, seq LIMIT $4`,
				w.AppID, after.Commit, after.Seq, limit)
			var kind memory.AnnouncementKind
			var jobs []river.InsertManyParams
			_, err = pgx.ForEachRow(rows, []any{&after.Commit, &after.Seq, &kind}, func() error {
				if passed++; w.Wants(kind) {
					jobs = append(jobs, river.InsertManyParams{Args: job(w, after)})
				}
				return nil
			})
			if err == nil && len(jobs) > 0 {
				_, err = s.jobs.InsertManyTx(ctx, tx, jobs)
			}
			if err != nil || passed == 0 {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE webhooks SET after_xact = $2, after_seq = $3 WHERE id = $1`, w.ID, after.Commit, after.Seq)
			return err
		})
	})
	return passed, fault(err, "enqueue deliveries")
}

// lag reads a lagging webhook, as far as its jobs need it, and its place.
func lag(ctx context.Context, q querier, sql string, now time.Time) (w memory.Webhook, after memory.Place, err error) {
	rows, _ := q.Query(ctx, sql, now)
	_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
		return struct{}{}, row.Scan(&w.ID, &w.Kinds, &w.Activation, &w.AppID, &after.Commit, &after.Seq)
	})
	return w, after, err
}

// Delivery reads what a job is about.
func (s *Store) Delivery(ctx context.Context, webhookID string, place memory.Place) (w memory.Webhook, a memory.Announcement, err error) {
	if !memory.IsID(webhookID) {
		return w, a, notFound("webhook", webhookID)
	}
	w, err = webhook(ctx, s.pool, `SELECT `+webhookColumns+` FROM webhooks WHERE id = $1`, webhookID)
	if errors.Is(err, pgx.ErrNoRows) {
		return w, a, notFound("webhook", webhookID)
	}
	if err == nil {
		err = s.pool.QueryRow(ctx, `SELECT `+announcementColumns+` FROM announcements WHERE xact = $1 AND seq = $2 AND app_id = $3`,
			place.Commit, place.Seq, w.AppID).Scan(announcementFields(&a)...)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return w, a, notFound("announcement", place.String())
	}
	return w, a, fault(err, "read what is to be delivered")
}

// SettleDelivery notes whether a webhook fails.
func (s *Store) SettleDelivery(ctx context.Context, tried memory.Webhook, f memory.Failing, disabled time.Time) (noted bool, err error) {
	if !memory.IsID(tried.ID) {
		return false, nil
	}
	tag, err := s.pool.Exec(ctx, `
		UPDATE webhooks SET failing_since = $4, last_error = $5, retry_at = $6, disabled_at = $7, active = $7::timestamptz IS NULL
		WHERE id = $1 AND activation = $2 AND active AND failing_since IS NOT DISTINCT FROM $3`,
		tried.ID, tried.Activation, orNull(tried.Failing.Since),
		orNull(f.Since), rowcodec.Storable(f.LastError), orNull(f.RetryAt), orNull(disabled))
	return tag.RowsAffected() > 0, fault(err, "note how the delivery went")
}

// kindNames are never null: none are an empty array.
func kindNames(kinds []memory.AnnouncementKind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return names
}
