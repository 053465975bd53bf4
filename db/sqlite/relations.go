package sqlite

import (
	"context"

	"hippocampus/internal/memory"
)

// Sources returns the memories that each of the ids is derived from.
func (s *Store) Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error) {
	type source struct {
		memory  memory.Memory
		derived string
	}
	found, err := collect(ctx, s.reader, func(s *source) []any { return append(memoryFields(&s.memory), &s.derived) }, `
		WITH derivations AS (
			SELECT from_id AS derived, to_id AS source FROM memory_relations
			WHERE from_id IN (SELECT value FROM json_each(?3)) AND kind = 'derived_from' AND EXISTS (
				SELECT 1 FROM agent_memories AS d WHERE d.id = from_id AND +d.app_id = ?1 AND +d.user_id = ?2))
		SELECT `+withoutVectors+`, derived FROM derivations CROSS JOIN agent_memories ON id = source
		WHERE +app_id = ?1 AND +user_id = ?2 ORDER BY +created_at, +id`, owner.AppID, owner.UserID, list(ids))
	if err != nil {
		return nil, fault(err, "read the sources of the memories")
	}
	sources := map[string][]memory.Memory{}
	for _, f := range found {
		sources[f.derived] = append(sources[f.derived], f.memory)
	}
	return sources, nil
}

// Relations lists the relations of a memory of the app, in both directions, oldest first.
func (s *Store) Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error) {
	relations, err := collect(ctx, s.reader, func(r *memory.Relation) []any {
		return []any{&r.From, &r.To, &r.Kind, (*instant)(&r.CreatedAt)}
	}, `SELECT from_id, to_id, kind, created_at FROM memory_relations
		WHERE (from_id = ?1 OR to_id = ?1) AND EXISTS (SELECT 1 FROM agent_memories WHERE id = ?1 AND +app_id = ?2)
		ORDER BY created_at, from_id, kind, to_id`, memoryID, appID)
	if err != nil {
		return nil, fault(err, "read the relations of the memory")
	}
	if len(relations) == 0 {
		_, err = s.Memory(ctx, appID, memoryID)
	}
	return relations, err
}

// AddRelations stores relations between memories of the owner.
func (u *userTx) AddRelations(ctx context.Context, relations []memory.Relation) error {
	var ids []string
	for _, r := range relations {
		ids = append(ids, r.From, r.To)
	}
	var missing bool
	err := u.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM json_each(?) AS r
		WHERE NOT EXISTS (SELECT 1 FROM agent_memories WHERE id = r.value AND +app_id = ? AND +user_id = ?))`,
		list(ids), u.Owner.AppID, u.Owner.UserID).Scan(&missing)
	if err == nil && missing {
		return memory.Errorf(memory.KindNotFound, "a relation is with a memory that the user does not have")
	}
	if err == nil {
		err = each(ctx, u.tx, `INSERT INTO memory_relations (from_id, to_id, kind, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, relations, func(r memory.Relation) []any {
			return []any{r.From, r.To, r.Kind, moment(r.CreatedAt)}
		})
	}
	return fault(err, "store the relations")
}
