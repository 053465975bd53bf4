package sqlstore

import (
	"context"
	"encoding/json"

	"hippocampus/internal/memory"
)

const selectPolicies = `SELECT app_id, version, policy, note, published_at, published_by
	FROM policies WHERE app_id = $1`

// policyRow is a row of policies.
type policyRow struct {
	memory.PolicyVersion
	policy json.RawMessage
}

func policyFields(r *policyRow) []any {
	return []any{&r.AppID, &r.Number, &r.policy, &r.Note, &r.PublishedAt, &r.PublishedBy}
}

func policiesOf(ctx context.Context, c conn, query string, args ...any) ([]memory.PolicyVersion, error) {
	rows, err := collect(ctx, c, policyFields, query, args...)
	versions := make([]memory.PolicyVersion, len(rows))
	for i, r := range rows {
		versions[i] = r.PolicyVersion
		if err := json.Unmarshal(r.policy, &versions[i].Policy); err != nil {
			return nil, memory.Errorf(memory.KindInternal, "read version %d of the policy: %w", r.Number, err)
		}
	}
	return versions, c.fault(err, "read the policy of the app")
}

// NewestPolicy returns the policy that serves.
func (s *Store) NewestPolicy(ctx context.Context, appID string) (memory.PolicyVersion, error) {
	newest, err := s.PolicyVersions(ctx, appID, 0, 1)
	if err != nil || len(newest) == 0 {
		return memory.PolicyVersion{}, err
	}
	return newest[0], nil
}

// PolicyVersions lists versions, newest first.
func (s *Store) PolicyVersions(ctx context.Context, appID string, below, limit int) ([]memory.PolicyVersion, error) {
	if below > 0 {
		return policiesOf(ctx, s.conn, selectPolicies+` AND version < $2 ORDER BY version DESC LIMIT $3`, appID, below, limit)
	}
	return policiesOf(ctx, s.conn, selectPolicies+` ORDER BY version DESC LIMIT $2`, appID, limit)
}

// AddPolicy stores the next version. A number that another process takes at the same time is not taken twice.
func (s *Store) AddPolicy(ctx context.Context, v memory.PolicyVersion) (memory.PolicyVersion, error) {
	const doing = "store the policy"
	policy, err := json.Marshal(v.Policy)
	if err != nil {
		return v, memory.Errorf(memory.KindInvalid, "write the policy as JSON: %w", err)
	}
	for stored := false; !stored; {
		newest, err := s.NewestPolicy(ctx, v.AppID)
		if err != nil {
			return v, err
		}
		v.Number = newest.Number + 1
		n, err := s.exec(ctx, `INSERT INTO policies (app_id, version, policy, note, published_at, published_by)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
			v.AppID, v.Number, json.RawMessage(policy), v.Note, v.PublishedAt, v.PublishedBy)
		if err != nil {
			return v, s.fault(err, doing)
		}
		stored = n == 1
	}
	_, err = s.exec(ctx, `DELETE FROM policies WHERE app_id = $1 AND version <= $2`,
		v.AppID, v.Number-memory.MaxPolicyVersions)
	return v, s.fault(err, doing)
}
