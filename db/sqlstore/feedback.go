package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const selectFeedback = `SELECT app_id, user_id, source_id, memory_id, kind, score, at FROM feedback WHERE `

func feedbackFields(f *memory.Feedback) []any {
	return []any{&f.AppID, &f.UserID, &f.SourceID, &f.MemoryID, &f.Kind, &f.Score, &f.At}
}

// ofClients restricts feedback to the kinds of memory.FeedbackKinds.
const ofClients = `kind IN ('used', 'irrelevant', 'wrong')`

func (s *Store) FeedbackOn(ctx context.Context, owner memory.Owner, recallIDs []string) ([]memory.Feedback, error) {
	found, err := collect(ctx, s.conn, feedbackFields, selectFeedback+`app_id = $1 AND user_id = $2
		AND source_id = ANY($3::uuid[]) AND `+ofClients+` ORDER BY source_id, memory_id`,
		owner.AppID, owner.UserID, validIDs(recallIDs))
	return found, s.fault(err, "read the feedback on the recalls")
}

func (s *Store) CountFeedback(
	ctx context.Context, of memory.Owner, memoryID string,
) (map[memory.FeedbackKind]int, error) {
	type count struct {
		kind memory.FeedbackKind
		n    int
	}
	where, args := `app_id = $1`, []any{of.AppID}
	if memoryID != "" {
		where += ` AND user_id = $2 AND memory_id = $3`
		args = append(args, of.UserID, memoryID)
	}
	found, err := collect(ctx, s.conn, func(c *count) []any { return []any{&c.kind, &c.n} },
		`SELECT kind, count(*) FROM feedback WHERE `+where+` GROUP BY kind`, args...)
	counts := map[memory.FeedbackKind]int{}
	for _, c := range found {
		counts[c.kind] = c.n
	}
	return counts, s.fault(err, "count the feedback")
}

func (s *Store) Evidence(ctx context.Context, f db.EvidenceFilter) ([]memory.Feedback, error) {
	var where Conditions
	where.Add(`app_id = ? AND kind = ? AND at > ?`, f.AppID, f.Kind, f.After)
	where.Add(`score > 0`)
	if f.Kind == memory.FeedbackForgotten {
		where.Add(`EXISTS (SELECT 1 FROM agent_memories AS m WHERE m.id = memory_id AND {m.app_id = feedback.app_id AND
			m.user_id = feedback.user_id AND |}m.status = 'forgotten')`)
	}
	found, err := page(ctx, s.conn, feedbackFields, selectFeedback, where, `at DESC`, f.Limit)
	return found, s.fault(err, "read the feedback of the app")
}

func (s *Store) NextAppWithFeedback(ctx context.Context, after string) (string, error) {
	appID, _, err := first(ctx, s.conn, only[string],
		`SELECT app_id FROM feedback WHERE app_id > $1 ORDER BY app_id LIMIT 1`, after)
	return appID, s.fault(err, "find the next app with feedback")
}

func (s *Store) ExportFeedback(
	ctx context.Context, of db.Extent, after *memory.Feedback,
) ([]memory.Feedback, error) {
	where := within(of)
	if after != nil {
		where.Add(`(user_id, source_id, memory_id) > (?, ?, ?)`, after.UserID, after.SourceID, after.MemoryID)
	}
	found, err := page(ctx, s.conn, feedbackFields, selectFeedback, where, `user_id, source_id, memory_id`, of.Limit)
	return found, s.fault(err, "export the feedback")
}

func (u *UserTx) AddFeedback(ctx context.Context, list []memory.Feedback) (int, error) {
	rows := make([][]any, len(list))
	for i, f := range list {
		rows[i] = []any{u.Owner.AppID, u.Owner.UserID, f.SourceID, f.MemoryID, f.Kind, f.Score, f.At}
	}
	changed, err := u.execAll(ctx, `INSERT INTO feedback (app_id, user_id, source_id, memory_id, kind, score, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (app_id, user_id, source_id, memory_id)
		DO UPDATE SET kind = excluded.kind, score = excluded.score, at = excluded.at
		WHERE feedback.kind <> excluded.kind`, rows)
	return changed, u.fault(err, "store the feedback")
}

func (u *UserTx) WithdrawFeedback(ctx context.Context, sourceID string, memoryIDs []string) error {
	_, err := u.exec(ctx, `DELETE FROM feedback WHERE app_id = $1 AND user_id = $2 AND source_id = $3
		AND memory_id = ANY($4::uuid[]) AND `+ofClients, u.Owner.AppID, u.Owner.UserID, sourceID, validIDs(memoryIDs))
	return u.fault(err, "take back the feedback")
}

func (u *UserTx) RecordedFeedback(ctx context.Context, sourceID, memoryID string) (memory.Feedback, bool, error) {
	f, ok, err := first(ctx, u.conn, feedbackFields,
		selectFeedback+`app_id = $1 AND user_id = $2 AND source_id = $3 AND memory_id = $4`,
		u.Owner.AppID, u.Owner.UserID, sourceID, memoryID)
	return f, ok, u.fault(err, "read the feedback")
}

func (s *Store) ThresholdSteps(
	ctx context.Context, appID string, name memory.ThresholdName, limit int,
) ([]memory.ThresholdStep, error) {
	found, err := collect(ctx, s.conn, func(t *memory.ThresholdStep) []any {
		return []any{&t.AppID, &t.Name, &t.Number, &t.Was, &t.Value, &t.Reset, &t.Lower, &t.Higher, &t.At}
	}, `SELECT app_id, name, number, was, value, reset, lower, higher, at FROM threshold_steps
		WHERE app_id = $1 AND name = $2 ORDER BY number DESC LIMIT $3`, appID, name, limit)
	return found, s.fault(err, "read the steps of the threshold")
}

func (s *Store) AddThresholdStep(ctx context.Context, t memory.ThresholdStep) error {
	const doing = "store the step of the threshold"
	n, err := s.exec(ctx, `INSERT INTO threshold_steps (app_id, name, number, was, value, reset, lower, higher, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
		t.AppID, t.Name, t.Number, t.Was, t.Value, t.Reset, t.Lower, t.Higher, t.At)
	return s.require(n == 1, err, doing,
		memory.Errorf(memory.KindConflict, "cannot %s: another process has moved it: read it again", doing))
}
