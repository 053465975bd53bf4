package sqlite

import (
	"context"
	"database/sql"
	"time"

	"hippocampus/db"
)

// taskColumns are returned by a claim.
const taskColumns = bareColumns + `CASE WHEN vector_state = 'pending' THEN embedding END, ` + besideColumns + `,
	vector_state = 'removing', vector_claims, vector_attempts`

func taskFields(t *db.VectorTask) []any {
	return append(memoryFields(&t.Memory), &t.Remove, &t.Claim, &t.Attempts)
}

func (s *Store) ClaimVectors(ctx context.Context, ids []string, now, until time.Time) ([]db.VectorTask, error) {
	return s.claim(ctx, `
		UPDATE agent_memories SET vector_claimed_until = ?2, vector_claims = vector_claims + 1, vector_again = 0
		WHERE id IN (SELECT value FROM json_each(?3)) AND +vector_state IN ('pending', 'removing')
			AND (vector_claimed_until IS NULL OR vector_claimed_until <= ?1)
		RETURNING `+taskColumns, moment(now), moment(until), list(ids))
}

func (s *Store) ClaimDueVectors(ctx context.Context, now, until time.Time, limit int) ([]db.VectorTask, error) {
	return s.claim(ctx, `
		UPDATE agent_memories SET vector_claimed_until = ?2, vector_claims = vector_claims + 1, vector_again = 0
		WHERE id IN (
			SELECT id FROM agent_memories INDEXED BY agent_memories_outbox
			WHERE vector_state IN ('pending', 'removing') AND vector_due <= ?1
				AND (vector_claimed_until IS NULL OR vector_claimed_until <= ?1)
			ORDER BY vector_due LIMIT ?3)
		RETURNING `+taskColumns, moment(now), moment(until), limit)
}

func (s *Store) claim(ctx context.Context, query string, args ...any) (tasks []db.VectorTask, err error) {
	err = s.writeAsync(ctx, func(tx *sql.Tx) error {
		tasks, err = collect(ctx, tx, taskFields, query, args...)
		return err
	})
	if err != nil {
		return nil, fault(err, "claim pushes to the vector store")
	}
	return tasks, nil
}

func (s *Store) FinishVectors(ctx context.Context, done []db.VectorTask, at time.Time) error {
	// A row that has changed, was requeued or was claimed by another pusher is pushed
	// again even if that has been done since: the older push may have arrived after
	// the newer one.
	err := s.writeAsync(ctx, func(tx *sql.Tx) error {
		serves, err := s.serves(ctx, tx, done)
		if err != nil {
			return err
		}
		return each(ctx, tx, `
			UPDATE agent_memories SET
				vector_claimed_until = iif(vector_claims = ?6, NULL, vector_claimed_until),
				vector_again = vector_claims <> ?6 AND vector_claimed_until IS NOT NULL,
				vector_state = CASE
					WHEN ?5 AND revision = ?2 AND vector_claims = ?6 AND NOT vector_again THEN iif(?3, 'absent', 'synced')
					WHEN status = 'active' AND embedding_model <> '' THEN 'pending' ELSE 'removing' END,
				vector_attempts = iif(?5 AND revision = ?2 AND vector_claims = ?6 AND NOT vector_again, 0, vector_attempts),
				vector_synced_at = iif(?5 AND revision = ?2 AND vector_claims = ?6 AND NOT vector_again, ?4, vector_synced_at),
				vector_since = iif(?5 AND revision = ?2 AND vector_claims = ?6 AND NOT vector_again, vector_since, ?4),
				vector_due = iif(?5 AND revision = ?2 AND vector_claims = ?6 AND NOT vector_again, vector_due, ?4)
			WHERE id = ?1`, done, func(t db.VectorTask) []any {
			return []any{t.Memory.ID, t.Memory.Revision, t.Remove, moment(at), serves, t.Claim}
		})
	})
	return fault(err, "record confirmed pushes")
}

// serves reports whether the space that pushes went into is the one that serves.
func (s *Store) serves(ctx context.Context, tx *sql.Tx, done []db.VectorTask) (bool, error) {
	if len(done) == 0 || done[0].Into.Model == "" {
		return true, nil
	}
	return one(ctx, tx, func(serves *bool) []any { return []any{serves} }, `
		SELECT NOT EXISTS (SELECT 1 FROM serving) OR EXISTS (SELECT 1 FROM serving WHERE model = ? AND dim = ?)`,
		done[0].Into.Model, done[0].Into.Dim)
}

func (s *Store) RetryVectors(ctx context.Context, retries []db.VectorRetry) error {
	err := s.writeAsync(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, `
			UPDATE agent_memories SET
				vector_claimed_until = iif(vector_claims = ?3, NULL, vector_claimed_until),
				vector_again = vector_again OR vector_claims <> ?3 AND vector_claimed_until IS NOT NULL,
				vector_attempts = vector_attempts + (vector_claims = ?3),
				vector_state = iif(status = 'active' AND embedding_model <> '', 'pending', 'removing'),
				vector_since = iif(vector_state IN ('pending', 'removing'), vector_since, ?2),
				vector_due = ?2
			WHERE id = ?1 AND (+vector_state IN ('pending', 'removing') OR vector_claims <> ?3)`,
			retries, func(r db.VectorRetry) []any { return []any{r.ID, moment(r.Due), r.Claim} })
	})
	return fault(err, "put off failed pushes")
}
