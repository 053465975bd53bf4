package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const condensedFacts = ` FROM agent_memories{| INDEXED BY agent_memories_condensed}
	WHERE app_id = $1 AND user_id = $2
		AND status = 'consolidated' AND memory_type NOT IN ('message', 'reflection', 'summary')
	ORDER BY updated_at DESC, id DESC LIMIT $3`

func (s *Store) CondensedFacts(ctx context.Context, owner memory.Owner, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+condensedFacts,
		owner.AppID, owner.UserID, limit)
	return found, s.fault(err, "read the user's condensed facts")
}

func (s *Store) CondensedTimes(ctx context.Context, owner memory.Owner, limit int) ([]db.Position, error) {
	found, err := collect(ctx, s.conn, func(p *db.Position) []any { return []any{&p.ID, &p.At} },
		`SELECT id, updated_at`+condensedFacts, owner.AppID, owner.UserID, limit)
	return found, s.fault(err, "read when the user's condensed facts were changed")
}

func (u *UserTx) StandIns(ctx context.Context, ids []string) (standIns []db.StandIn, err error) {
	type pair struct {
		db.StandIn
		derived  string
		isFormer bool
	}
	fields := func(p *pair) []any { return []any{&p.ID, &p.Status, &p.IsForeign, &p.derived, &p.isFormer} }
	found, err := collect(ctx, u.conn, fields, `
		WITH derived AS (
			SELECT id FROM agent_memories
			WHERE id = ANY($3::uuid[]) AND {|+}memory_type IN ('reflection', 'summary')
				AND {|+}app_id = $1 AND {|+}user_id = $2
			UNION SELECT from_id FROM memory_relations WHERE to_id = ANY($3::uuid[]) AND kind = 'derived_from'
		), sources AS (
			SELECT id FROM agent_memories WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2
			UNION SELECT to_id FROM derived {|CROSS }JOIN memory_relations ON from_id = derived.id WHERE kind = 'derived_from'
		)
		SELECT m.id, m.status, m.embedding_model <> coalesce((SELECT model FROM serving), m.embedding_model),
			coalesce({d.id::text|d.id}, ''), coalesce(d.status = 'superseded', false) OR EXISTS (
				SELECT 1 FROM memory_relations AS s JOIN agent_memories AS f ON f.id = s.to_id
				WHERE s.from_id = d.id AND s.kind = 'derived_from' AND f.status = 'superseded')
		FROM sources {|CROSS }JOIN agent_memories AS m ON m.id = sources.id
			LEFT JOIN memory_relations AS r ON r.to_id = m.id AND r.kind = 'derived_from'
			LEFT JOIN agent_memories AS d ON d.id = r.from_id AND {|+}d.memory_type IN ('reflection', 'summary')
				AND ({|+}d.status = 'active' OR {|+}d.status = 'superseded' AND EXISTS (
					SELECT 1 FROM memory_relations AS c
					WHERE c.to_id = d.id AND c.from_id = d.superseded_by AND c.kind = 'contradicts'))
		WHERE {|+}m.status IN ('active', 'consolidated') AND {|+}m.app_id = $1 AND {|+}m.user_id = $2
		ORDER BY m.id, d.id`, u.Owner.AppID, u.Owner.UserID, validIDs(ids))
	for _, p := range found {
		if len(standIns) == 0 || standIns[len(standIns)-1].ID != p.ID {
			standIns = append(standIns, p.StandIn)
		}
		of := &standIns[len(standIns)-1]
		switch {
		case p.derived == "":
		case p.isFormer:
			of.Former = append(of.Former, p.derived)
		default:
			of.Current = append(of.Current, p.derived)
		}
	}
	return standIns, u.fault(err, "read what stands for the memories")
}
