package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const consolidationColumns = `id, app_id, user_id, conversation_id, type, cause, state, from_event, through_event,
	counts, error, attempts, created_at, started_at, ended_at`

// consolidationFields are the destinations of consolidationColumns.
func consolidationFields(c *memory.Consolidation) []any {
	return []any{&c.ID, &c.AppID, &c.UserID, &c.ConversationID, &c.Type, &c.Trigger, &c.State, &c.From, &c.Through,
		(*[]byte)(&c.Counts), &c.Error, &c.Attempts, (*instant)(&c.CreatedAt), (*instant)(&c.StartedAt), (*instant)(&c.EndedAt)}
}

// ListConsolidations pages through the consolidations of a conversation.
func (s *Store) ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error) {
	var where conditions
	where.add(`app_id = ? AND user_id = ? AND conversation_id = ?`, f.Owner.AppID, f.Owner.UserID, f.ConversationID)
	if p := f.Before; p != nil {
		where.add(`(created_at, id) < (?, ?)`, moment(p.At), p.ID)
	}
	found, err := collect(ctx, s.reader, consolidationFields, `SELECT `+consolidationColumns+`
		FROM consolidation_jobs INDEXED BY consolidation_jobs_by_time WHERE `+where.sql()+`
		ORDER BY created_at DESC, id DESC LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the consolidations")
}

// DueConsolidations lists consolidations that are to be tried.
func (s *Store) DueConsolidations(ctx context.Context, now time.Time, attempts int, after db.Position, limit int) ([]memory.Consolidation, error) {
	found, err := collect(ctx, s.reader, consolidationFields, `SELECT `+consolidationColumns+`
		FROM consolidation_jobs INDEXED BY consolidation_jobs_due
		WHERE state IN ('pending', 'failed') AND (state = 'pending' OR attempts < ?)
			AND (claimed_until IS NULL OR claimed_until <= ?) AND (created_at, id) > (?, ?)
		ORDER BY created_at, id LIMIT ?`, attempts, moment(now), moment(after.At), after.ID, limit)
	return found, fault(err, "list the consolidations that are due")
}

// Planned is how far consolidations of each type reach.
func (u *userTx) Planned(ctx context.Context, conversationID string) (map[memory.ConsolidationType]int64, error) {
	type reach struct {
		of      memory.ConsolidationType
		through int64
	}
	found, err := collect(ctx, u.tx, func(r *reach) []any { return []any{&r.of, &r.through} }, `SELECT type, max(through_event)
		FROM consolidation_jobs WHERE app_id = ? AND user_id = ? AND conversation_id = ? GROUP BY type`,
		u.Owner.AppID, u.Owner.UserID, conversationID)
	planned := make(map[memory.ConsolidationType]int64, len(found))
	for _, r := range found {
		planned[r.of] = r.through
	}
	return planned, fault(err, "read what is planned for the conversation")
}

// PlanConsolidation stores a new consolidation of a conversation that is there.
func (u *userTx) PlanConsolidation(ctx context.Context, c memory.Consolidation) error {
	if err := rowcodec.CheckConsolidation(u.Owner, c); err != nil {
		return err
	}
	result, err := u.tx.ExecContext(ctx, `
		INSERT INTO consolidation_jobs (id, app_id, user_id, conversation_id, type, cause, state, from_event, through_event,
			counts, error, attempts, created_at, started_at, ended_at)
		SELECT ?, app_id, user_id, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM conversations
		WHERE app_id = ? AND user_id = ? AND id = ? AND events >= ?`,
		c.ID, c.Type, c.Trigger, c.State, c.From, c.Through, jsonText(c.Counts), rowcodec.Storable(c.Error), c.Attempts,
		moment(c.CreatedAt), instant(c.StartedAt), instant(c.EndedAt), u.Owner.AppID, u.Owner.UserID, c.ConversationID, c.Through)
	if err == nil && affected(result) == 0 {
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
	if err := u.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM consolidation_jobs
		WHERE app_id = ? AND user_id = ? AND conversation_id = ? AND claimed_until > ?)`,
		u.Owner.AppID, u.Owner.UserID, c.ConversationID, moment(now)).Scan(&held); err != nil {
		return c, fault(err, "see who consolidates the conversation")
	}
	if held {
		return c, db.ErrConsolidating
	}
	c.StartedAt = memory.Instant(now)
	_, err = u.tx.ExecContext(ctx, `UPDATE consolidation_jobs SET started_at = ?, claimed_until = ? WHERE id = ?`,
		moment(now), moment(until), id)
	return c, fault(err, "claim the consolidation")
}

// ChangeConsolidation ends an attempt.
func (u *userTx) ChangeConsolidation(ctx context.Context, c memory.Consolidation) error {
	if _, err := u.consolidation(ctx, c.ID); err != nil {
		return err
	}
	_, err := u.tx.ExecContext(ctx, `UPDATE consolidation_jobs
		SET state = ?, counts = ?, error = ?, attempts = ?, ended_at = ?, claimed_until = NULL WHERE id = ?`,
		c.State, jsonText(c.Counts), rowcodec.Storable(c.Error), c.Attempts, instant(c.EndedAt), c.ID)
	return fault(err, "end the attempt of a consolidation")
}

// consolidation reads one that has not ended for good.
func (u *userTx) consolidation(ctx context.Context, id string) (memory.Consolidation, error) {
	c, err := one(ctx, u.tx, consolidationFields, `SELECT `+consolidationColumns+` FROM consolidation_jobs
		WHERE id = ? AND +app_id = ? AND +user_id = ?`, id, u.Owner.AppID, u.Owner.UserID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return c, notFound("consolidation", id)
	case err != nil:
		return c, fault(err, "read the consolidation")
	case !c.Unfinished():
		return c, db.ErrConsolidated
	}
	return c, nil
}

// ConsolidateThrough moves forward how far a conversation is consolidated.
func (u *userTx) ConsolidateThrough(ctx context.Context, conversationID string, through int64) error {
	result, err := u.tx.ExecContext(ctx, `UPDATE conversations SET consolidated_through = max(consolidated_through, min(?, events))
		WHERE app_id = ? AND user_id = ? AND id = ?`, through, u.Owner.AppID, u.Owner.UserID, conversationID)
	if err == nil && affected(result) == 0 {
		return notFound("conversation", conversationID)
	}
	return fault(err, "note how far the conversation is consolidated")
}

// recordedOne is one for a row that need not exist.
func recordedOne[T any](ctx context.Context, u *userTx, fields func(*T) []any, query string, args ...any) (item T, ok bool, err error) {
	item, err = one(ctx, u.tx, fields, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return item, false, nil
	}
	return item, err == nil, fault(err, "read what is recorded")
}

// RecordedConsolidation returns a consolidation of the owner.
func (u *userTx) RecordedConsolidation(ctx context.Context, id string) (memory.Consolidation, bool, error) {
	return recordedOne(ctx, u, consolidationFields, `SELECT `+consolidationColumns+` FROM consolidation_jobs
		WHERE id = ? AND +app_id = ? AND +user_id = ?`, id, u.Owner.AppID, u.Owner.UserID)
}
