package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const (
	consolidationColumns = `id, app_id, user_id, conversation_id, type, cause, state, from_event, through_event,
	counts, error, attempts, created_at, started_at, ended_at`
	selectConsolidations = `SELECT ` + consolidationColumns + ` FROM consolidation_jobs`
)

func consolidationFields(c *memory.Consolidation) []any {
	return []any{&c.ID, &c.AppID, &c.UserID, &c.ConversationID, &c.Type, &c.Trigger, &c.State, &c.From, &c.Through,
		&c.Counts, &c.Error, &c.Attempts, &c.CreatedAt, &c.StartedAt, &c.EndedAt}
}

func (s *Store) ListConsolidations(ctx context.Context, f db.ConsolidationFilter) ([]memory.Consolidation, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ? AND conversation_id = ?`, f.Owner.AppID, f.Owner.UserID, f.ConversationID)
	if p := f.Before; p != nil {
		where.Add(`(created_at, id) < (?, ?)`, p.At, p.ID)
	}
	found, err := page(ctx, s.conn, consolidationFields,
		selectConsolidations+`{| INDEXED BY consolidation_jobs_by_time} WHERE `,
		where, `created_at DESC, id DESC`, f.Limit)
	return found, s.fault(err, "list the consolidations")
}

func (s *Store) DueConsolidations(
	ctx context.Context, now time.Time, attempts int, after db.Position, limit int,
) ([]memory.Consolidation, error) {
	found, err := collect(ctx, s.conn, consolidationFields, selectConsolidations+`{| INDEXED BY consolidation_jobs_due}
		WHERE state IN ('pending', 'failed') AND (state = 'pending' OR attempts < $1)
			AND (claimed_until IS NULL OR claimed_until <= $2) AND (created_at, id) > ($3, $4)
		ORDER BY created_at, id LIMIT $5`, attempts, now, after.At, orLeast(after.ID), limit)
	return found, s.fault(err, "list the consolidations that are due")
}

func (s *Store) RenewConsolidation(ctx context.Context, c memory.Consolidation, until time.Time) (bool, error) {
	n, err := s.exec(ctx, `UPDATE consolidation_jobs SET claimed_until = $3
		WHERE id = $1 AND started_at = $2 AND claimed_until IS NOT NULL`, c.ID, c.StartedAt, until)
	return n > 0, s.fault(err, "renew the claim of a consolidation")
}

func (u *UserTx) Planned(ctx context.Context, conversationID string) (map[memory.ConsolidationType]int64, error) {
	planned := map[memory.ConsolidationType]int64{}
	var kind memory.ConsolidationType
	var through int64
	err := u.each(ctx, []any{&kind, &through}, func() error {
		planned[kind] = through
		return nil
	}, `SELECT type, max(through_event) FROM consolidation_jobs
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 GROUP BY type`,
		u.Owner.AppID, u.Owner.UserID, conversationID)
	return planned, u.fault(err, "read what is planned for the conversation")
}

// PlanConsolidation stores a new consolidation of a conversation that exists,
// and that cannot be deleted until the transaction ends.
func (u *UserTx) PlanConsolidation(ctx context.Context, c memory.Consolidation) error {
	if err := u.check("consolidation", c.Owner, c.ID, ""); err != nil {
		return err
	}
	n, err := u.exec(ctx, `
		INSERT INTO consolidation_jobs (`+consolidationColumns+`)
		SELECT $1::uuid, app_id, user_id, id, $5::text, $6::text, $7::text, $8::bigint, $9::bigint,
			$10::json, $11::text, $12::integer, $13::timestamptz, $14::timestamptz, $15::timestamptz
		FROM conversations WHERE app_id = $2 AND user_id = $3 AND id = $4 AND events >= $9::bigint {FOR KEY SHARE|}`,
		c.ID, u.Owner.AppID, u.Owner.UserID, c.ConversationID, c.Type, c.Trigger, c.State, c.From, c.Through,
		c.Counts, rowcodec.Storable(c.Error), c.Attempts, c.CreatedAt, null(c.StartedAt), null(c.EndedAt))
	return u.require(n > 0, err, "plan the consolidation", NotFound("conversation", c.ConversationID))
}

func (u *UserTx) ClaimConsolidation(
	ctx context.Context, id string, now, until time.Time,
) (memory.Consolidation, error) {
	c, err := u.unfinished(ctx, id)
	if err != nil {
		return c, err
	}
	held, _, err := first(ctx, u.conn, only[bool], `SELECT EXISTS (SELECT 1 FROM consolidation_jobs
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND claimed_until > $4)`,
		u.Owner.AppID, u.Owner.UserID, c.ConversationID, now)
	if err != nil || held {
		return c, u.require(!held, err, "see who consolidates the conversation", db.ErrConsolidating)
	}
	c.StartedAt = memory.Instant(now)
	_, err = u.exec(ctx, `UPDATE consolidation_jobs SET started_at = $2, claimed_until = $3 WHERE id = $1`, id, now, until)
	return c, u.fault(err, "claim the consolidation")
}

func (u *UserTx) ChangeConsolidation(ctx context.Context, c memory.Consolidation) error {
	if _, err := u.unfinished(ctx, c.ID); err != nil {
		return err
	}
	_, err := u.exec(ctx, `UPDATE consolidation_jobs
		SET state = $2, counts = $3, error = $4, attempts = $5, ended_at = $6, claimed_until = NULL WHERE id = $1`,
		c.ID, c.State, c.Counts, rowcodec.Storable(c.Error), c.Attempts, null(c.EndedAt))
	return u.fault(err, "end the attempt of a consolidation")
}

// unfinished reads a consolidation that has not ended for good, and that cannot
// be deleted until the transaction ends.
func (u *UserTx) unfinished(ctx context.Context, id string) (c memory.Consolidation, err error) {
	if !memory.IsID(id) {
		return c, NotFound("consolidation", id)
	}
	c, ok, err := u.recordedConsolidation(ctx, id, ` {FOR UPDATE|}`)
	if err == nil && ok && !c.Unfinished() {
		return c, db.ErrConsolidated
	}
	return c, u.require(ok, err, "read the consolidation", NotFound("consolidation", id))
}

func (u *UserTx) RecordedConsolidation(ctx context.Context, id string) (memory.Consolidation, bool, error) {
	return u.recordedConsolidation(ctx, id, "")
}

func (u *UserTx) recordedConsolidation(ctx context.Context, id, lock string) (memory.Consolidation, bool, error) {
	c, ok, err := first(ctx, u.conn, consolidationFields,
		selectConsolidations+` WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`+lock,
		id, u.Owner.AppID, u.Owner.UserID)
	return c, ok, u.fault(err, "read the consolidation")
}

func (u *UserTx) ConsolidateThrough(ctx context.Context, conversationID string, through int64) error {
	n, err := u.exec(ctx, `UPDATE conversations
		SET consolidated_through = {greatest|max}(consolidated_through, {least|min}($4::bigint, events))
		WHERE app_id = $1 AND user_id = $2 AND id = $3`, u.Owner.AppID, u.Owner.UserID, conversationID, through)
	return u.require(n > 0, err, "note how far the conversation is consolidated", NotFound("conversation", conversationID))
}
