package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
)

// Sources returns the memories that each of the ids is derived from.
func (s *Store) Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error) {
	rows, _ := s.pool.Query(ctx, `
		WITH derivations AS (
			SELECT from_id AS derived, to_id AS source FROM memory_relations
			WHERE from_id = ANY($3::uuid[]) AND kind = 'derived_from' AND EXISTS (
				SELECT FROM agent_memories d WHERE d.id = from_id AND d.app_id = $1 AND d.user_id = $2))
		SELECT `+withoutVectors+`, derived FROM agent_memories JOIN derivations ON id = source
		WHERE app_id = $1 AND user_id = $2 ORDER BY created_at, id`, owner.AppID, owner.UserID, onlyIDs(ids))
	sources := map[string][]memory.Memory{}
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (_ struct{}, err error) {
		var m memory.Memory
		var derived string
		err = row.Scan(append(memoryFields(&m), &derived)...)
		sources[derived] = append(sources[derived], m)
		return struct{}{}, err
	})
	if err != nil {
		return nil, fault(err, "read the sources of the memories")
	}
	return sources, nil
}

// Relations lists the relations of a memory of the app, in both directions, oldest first.
func (s *Store) Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error) {
	if !memory.IsID(memoryID) {
		return nil, notFound("memory", memoryID)
	}
	rows, _ := s.pool.Query(ctx, `
		SELECT from_id, to_id, kind, created_at FROM memory_relations
		WHERE (from_id = $1 OR to_id = $1) AND EXISTS (SELECT FROM agent_memories WHERE id = $1 AND app_id = $2)
		ORDER BY created_at, from_id, kind, to_id`, memoryID, appID)
	relations, err := pgx.CollectRows(rows, pgx.RowToStructByPos[memory.Relation])
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
	n := len(relations)
	if n == 0 {
		return nil
	}
	from, to, kinds, times := make([]string, n), make([]string, n), make([]string, n), make([]time.Time, n)
	for i, r := range relations {
		for _, id := range []string{r.From, r.To} {
			if !memory.IsID(id) {
				return notFound("memory", id)
			}
		}
		from[i], to[i], kinds[i], times[i] = r.From, r.To, string(r.Kind), r.CreatedAt
	}
	// The foreign keys lock the memories; this takes the locks in the order of
	// their ids first.
	var known, named int
	err := u.tx.QueryRow(ctx, `
		WITH mine AS (
			SELECT id FROM agent_memories WHERE id = ANY($3::uuid[]) AND app_id = $1 AND user_id = $2
			ORDER BY id FOR KEY SHARE)
		SELECT (SELECT count(*) FROM mine), (SELECT count(DISTINCT id) FROM unnest($3::uuid[]) AS id)`,
		u.Owner.AppID, u.Owner.UserID, append(append([]string{}, from...), to...)).Scan(&known, &named)
	if err != nil {
		return fault(err, "look for the related memories")
	}
	if known < named {
		return memory.Errorf(memory.KindNotFound, "a relation is with a memory that the user does not have")
	}
	_, err = u.tx.Exec(ctx, `
		INSERT INTO memory_relations (from_id, to_id, kind, created_at)
		SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[])
		ON CONFLICT DO NOTHING`, from, to, kinds, times)
	return fault(err, "store the relations")
}
