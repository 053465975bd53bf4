package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const consolidationColumns = `id, app_id, user_id, conversation_id, type, cause, state, from_event, through_event,
	counts, error, attempts, created_at, started_at, ended_at`

// consolidations runs a query for consolidationColumns; sql begins after its WHERE.
func consolidations(ctx context.Context, q querier, sql string, args ...any) ([]memory.Consolidation, error) {
	rows, _ := q.Query(ctx, `SELECT `+consolidationColumns+` FROM consolidation_jobs WHERE `+sql, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c memory.Consolidation, err error) {
		var started, ended *time.Time
		err = row.Scan(&c.ID, &c.AppID, &c.UserID, &c.ConversationID, &c.Type, &c.Trigger, &c.State, &c.From, &c.Through,
			&c.Counts, &c.Error, &c.Attempts, &c.CreatedAt, &started, &ended)
		c.StartedAt, c.EndedAt = orZero(started), orZero(ended)
		return c, err
	})
}

// ListConsolidations pages through the consolidations of a conversation.
func (s *Store) ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error) {
	var where conditions
	where.add(`app_id = ?`, f.Owner.AppID)
	where.add(`user_id = ?`, f.Owner.UserID)
	where.add(`conversation_id = ?`, f.ConversationID)
	if p := f.Before; p != nil {
		where.add(`(created_at, id) < (?, ?::uuid)`, p.At, p.ID)
	}
	found, err := consolidations(ctx, s.pool, where.sql()+` ORDER BY created_at DESC, id DESC LIMIT `+where.arg(f.Limit), where.args...)
	return found, fault(err, "list the consolidations")
}

// DueConsolidations lists consolidations that are to be tried.
func (s *Store) DueConsolidations(ctx context.Context, now time.Time, attempts int, after db.Position, limit int) ([]memory.Consolidation, error) {
	var where conditions
	where.add(`state IN ('pending', 'failed') AND (state = 'pending' OR attempts < ?)`, attempts)
	where.add(`(claimed_until IS NULL OR claimed_until <= ?)`, now)
	if after.ID != "" {
		where.add(`(created_at, id) > (?, ?::uuid)`, after.At, after.ID)
	}
	found, err := consolidations(ctx, s.pool, where.sql()+` ORDER BY created_at, id LIMIT `+where.arg(limit), where.args...)
	return found, fault(err, "list the consolidations that are due")
}

// Planned is how far consolidations of each type reach.
func (u *userTx) Planned(ctx context.Context, conversationID string) (map[memory.ConsolidationType]int64, error) {
	rows, _ := u.tx.Query(ctx, `SELECT type, max(through_event) FROM consolidation_jobs
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 GROUP BY type`, u.Owner.AppID, u.Owner.UserID, conversationID)
	planned := map[memory.ConsolidationType]int64{}
	var of memory.ConsolidationType
	var through int64
	_, err := pgx.ForEachRow(rows, []any{&of, &through}, func() error { planned[of] = through; return nil })
	return planned, fault(err, "read what is planned for the conversation")
}

// PlanConsolidation stores a new consolidation of a conversation that is there,
// and stays there until the transaction ends.
func (u *userTx) PlanConsolidation(ctx context.Context, c memory.Consolidation) error {
	if err := rowcodec.CheckConsolidation(u.Owner, c); err != nil {
		return err
	}
	tag, err := u.tx.Exec(ctx, `
		INSERT INTO consolidation_jobs (id, app_id, user_id, conversation_id, type, cause, state, from_event, through_event,
			counts, error, attempts, created_at, started_at, ended_at)
		SELECT $1::uuid, app_id, user_id, id, $5::text, $6::text, $7::text, $8::bigint, $9::bigint, $10::json, $11::text, $12::integer,
			$13::timestamptz, $14::timestamptz, $15::timestamptz
		FROM conversations WHERE app_id = $2 AND user_id = $3 AND id = $4 AND events >= $9::bigint FOR KEY SHARE`,
		c.ID, u.Owner.AppID, u.Owner.UserID, c.ConversationID, c.Type, c.Trigger, c.State, c.From, c.Through,
		c.Counts, rowcodec.Storable(c.Error), c.Attempts, c.CreatedAt, orNull(c.StartedAt), orNull(c.EndedAt))
	if err == nil && tag.RowsAffected() == 0 {
		return notFound("conversation", c.ConversationID)
	}
	return fault(err, "plan the consolidation")
}

// ClaimConsolidation begins an attempt.
func (u *userTx) ClaimConsolidation(ctx context.Context, id string, now, until time.Time) (memory.Consolidation, error) {
	c, err := u.consolidation(ctx, id)
	if err != nil {
		return c, err
	}
	var held bool
	if err := u.tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM consolidation_jobs
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND claimed_until > $4)`,
		u.Owner.AppID, u.Owner.UserID, c.ConversationID, now).Scan(&held); err != nil {
		return c, fault(err, "see who consolidates the conversation")
	}
	if held {
		return c, db.ErrConsolidating
	}
	c.StartedAt = memory.Instant(now)
	_, err = u.tx.Exec(ctx, `UPDATE consolidation_jobs SET started_at = $2, claimed_until = $3 WHERE id = $1`, id, now, until)
	return c, fault(err, "claim the consolidation")
}

// ChangeConsolidation ends an attempt.
func (u *userTx) ChangeConsolidation(ctx context.Context, c memory.Consolidation) error {
	if _, err := u.consolidation(ctx, c.ID); err != nil {
		return err
	}
	_, err := u.tx.Exec(ctx, `UPDATE consolidation_jobs
		SET state = $2, counts = $3, error = $4, attempts = $5, ended_at = $6, claimed_until = NULL WHERE id = $1`,
		c.ID, c.State, c.Counts, rowcodec.Storable(c.Error), c.Attempts, orNull(c.EndedAt))
	return fault(err, "end the attempt of a consolidation")
}

// consolidation reads one that has not ended for good, and keeps it there until
// the transaction ends.
func (u *userTx) consolidation(ctx context.Context, id string) (c memory.Consolidation, err error) {
	if !memory.IsID(id) {
		return c, notFound("consolidation", id)
	}
	found, err := consolidations(ctx, u.tx, `id = $1 AND app_id = $2 AND user_id = $3 FOR UPDATE`, id, u.Owner.AppID, u.Owner.UserID)
	switch {
	case err != nil:
		return c, fault(err, "read the consolidation")
	case len(found) == 0:
		return c, notFound("consolidation", id)
	case !found[0].Unfinished():
		return c, db.ErrConsolidated
	}
	return found[0], nil
}

// ConsolidateThrough moves forward how far a conversation is consolidated.
func (u *userTx) ConsolidateThrough(ctx context.Context, conversationID string, through int64) error {
	tag, err := u.tx.Exec(ctx, `UPDATE conversations SET consolidated_through = greatest(consolidated_through, least($4::bigint, events))
		WHERE app_id = $1 AND user_id = $2 AND id = $3`, u.Owner.AppID, u.Owner.UserID, conversationID, through)
	if err == nil && tag.RowsAffected() == 0 {
		return notFound("conversation", conversationID)
	}
	return fault(err, "note how far the conversation is consolidated")
}

// RecordedConsolidation returns a consolidation of the owner.
func (u *userTx) RecordedConsolidation(ctx context.Context, id string) (memory.Consolidation, bool, error) {
	found, err := consolidations(ctx, u.tx, `id = $3 AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, id)
	return append(found, memory.Consolidation{})[0], len(found) == 1, fault(err, "read the consolidation")
}

// orZero is the inverse of orNull.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
