package sqlstore

import (
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *Store) Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error) {
	type source struct {
		memory  memory.Memory
		derived string
	}
	found, err := collect(ctx, s.conn, func(s *source) []any { return append(memoryFields(&s.memory), &s.derived) }, `
		WITH derivations AS (
			SELECT from_id AS derived, to_id AS source FROM memory_relations
			WHERE from_id = ANY($3::uuid[]) AND kind = 'derived_from' AND EXISTS (
				SELECT 1 FROM agent_memories AS d WHERE d.id = from_id AND {|+}d.app_id = $1 AND {|+}d.user_id = $2))
		SELECT `+memoryColumns+`, derived FROM derivations {|CROSS }JOIN agent_memories ON id = source
		WHERE {|+}app_id = $1 AND {|+}user_id = $2 ORDER BY {|+}created_at, {|+}id`, owner.AppID, owner.UserID, validIDs(ids))
	sources := map[string][]memory.Memory{}
	for _, f := range found {
		sources[f.derived] = append(sources[f.derived], f.memory)
	}
	return sources, s.fault(err, "read the sources of the memories")
}

func (s *Store) Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error) {
	if !memory.IsID(memoryID) {
		return nil, NotFound("memory", memoryID)
	}
	found, err := collect(ctx, s.conn,
		func(r *memory.Relation) []any { return []any{&r.From, &r.To, &r.Kind, &r.CreatedAt} }, `
		SELECT from_id, to_id, kind, created_at FROM memory_relations
		WHERE (from_id = $1 OR to_id = $1) AND EXISTS (SELECT 1 FROM agent_memories WHERE id = $1 AND {|+}app_id = $2)
		ORDER BY created_at, from_id, kind, to_id`, memoryID, appID)
	if err == nil && len(found) == 0 {
		_, err = s.Memory(ctx, appID, memoryID)
	}
	return found, s.fault(err, "read the relations of the memory")
}

func (u *UserTx) AddRelations(ctx context.Context, relations []memory.Relation) error {
	if len(relations) == 0 {
		return nil
	}
	var ids []string
	rows := make([][]any, len(relations))
	for i, r := range relations {
		ids = append(ids, r.From, r.To)
		rows[i] = []any{r.From, r.To, r.Kind, r.CreatedAt}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	// The foreign keys lock the memories in the order of the relations. The locks
	// are taken here first, in the order of the ids.
	known, err := collect(ctx, u.conn, only[string], `SELECT id FROM agent_memories
		WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2 {ORDER BY id FOR KEY SHARE|}`,
		u.Owner.AppID, u.Owner.UserID, validIDs(ids))
	if err == nil && len(known) < len(ids) {
		return memory.Errorf(memory.KindNotFound, "a relation is with a memory that the user does not have")
	}
	if err == nil {
		_, err = u.execAll(ctx, `INSERT INTO memory_relations (from_id, to_id, kind, created_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, rows)
	}
	if err == nil {
		err = u.changeSources(ctx, relations...)
	}
	return u.fault(err, "store the relations")
}

// changeSources notes a change of the sources of memories, and of the memories derived from messages: both are parts of
// documents.
func (u *UserTx) changeSources(ctx context.Context, relations ...memory.Relation) error {
	var ids, sources []string
	for _, r := range relations {
		if _, written := u.written[r.From]; r.Kind == memory.DerivedFrom && !written {
			ids, sources = append(ids, r.From), append(sources, r.To)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	u.Changed = true
	_, err := u.exec(ctx, `
		{WITH mine AS (SELECT id FROM agent_memories
			WHERE (id = ANY($2::uuid[]) OR id = ANY($5::uuid[]) AND memory_type = 'message')
				AND app_id = $3 AND user_id = $4 ORDER BY id FOR UPDATE)|}
		UPDATE agent_memories SET change = $1
		WHERE {id IN (SELECT id FROM mine)|(id = ANY($2) OR id = ANY($5) AND memory_type = 'message')}
			AND {|+}app_id = $3 AND {|+}user_id = $4`,
		u.Change, ids, u.Owner.AppID, u.Owner.UserID, sources)
	return err
}

// BeforeUpdate notes the change of a memory for the memories whose documents depend on its present state: it may be
// superseded.
func (u *UserTx) BeforeUpdate(ctx context.Context, m memory.Memory) error {
	if m.Status == memory.Superseded {
		return nil
	}
	return u.changeDependents(ctx, m.ID)
}

// AfterUpdate notes the change of a memory for the memories whose documents depend on its new state.
func (u *UserTx) AfterUpdate(ctx context.Context, m memory.Memory) error {
	if m.Status != memory.Superseded {
		return nil
	}
	return u.changeDependents(ctx, m.ID)
}

// changeDependents notes a change for the memories that were derived from a memory, and for those that superseded it or
// one of these, directly or not: their documents name the memory or its sources. A superseded memory is also a part of
// the documents of the messages that it was derived from.
func (u *UserTx) changeDependents(ctx context.Context, id string) error {
	_, err := u.exec(ctx, `
		WITH RECURSIVE dependents(id) AS (
			SELECT from_id FROM memory_relations WHERE to_id = $2 AND kind = 'derived_from'
			UNION SELECT r.to_id FROM agent_memories f JOIN memory_relations r ON r.from_id = f.id
				WHERE f.id = $2 AND f.status = 'superseded' AND r.kind = 'derived_from'
					AND {|+}f.app_id = $3 AND {|+}f.user_id = $4
			UNION SELECT superseded_by FROM agent_memories
				WHERE id = $2 AND superseded_by IS NOT NULL AND {|+}app_id = $3 AND {|+}user_id = $4
			UNION SELECT m.superseded_by FROM dependents d JOIN agent_memories m ON m.id = d.id
				WHERE m.superseded_by IS NOT NULL AND {|+}m.app_id = $3 AND {|+}m.user_id = $4)
		UPDATE agent_memories SET change = $1 WHERE id {= ANY(ARRAY(|IN (}SELECT id FROM dependents{))|)}
			AND {|+}app_id = $3 AND {|+}user_id = $4`, u.Change, id, u.Owner.AppID, u.Owner.UserID)
	return err
}

func (s *Store) ConversationNeighbours(
	ctx context.Context, owner memory.Owner, seenBy, conversationID string, place db.Position, n int,
) ([]memory.Memory, error) {
	if !memory.IsID(place.ID) {
		return nil, NotFound("memory", place.ID)
	}
	const side = `SELECT * FROM (SELECT ` + memoryColumns + ` FROM agent_memories{| INDEXED BY agent_memories_documents}
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND status = 'active'
			AND ($7 = '' OR agent_id IN ('', $7)) AND (created_at, id) `
	found, err := collect(ctx, s.conn, memoryFields,
		side+`< ($4, $5) ORDER BY created_at DESC, id DESC LIMIT $6) AS earlier UNION ALL `+
			side+`> ($4, $5) ORDER BY created_at, id LIMIT $6) AS later ORDER BY created_at, id`,
		owner.AppID, owner.UserID, conversationID, place.At, place.ID, n, seenBy)
	return found, s.fault(err, "read the conversation around the memory")
}

func (u *UserTx) RemoveRelation(ctx context.Context, r memory.Relation) error {
	missing := memory.Errorf(memory.KindNotFound, "there is no relation %s %s %s", r.From, r.Kind, r.To)
	if !memory.IsID(r.From) || !memory.IsID(r.To) {
		return missing
	}
	n, err := u.exec(ctx, `
		DELETE FROM memory_relations WHERE from_id = $3 AND kind = $4 AND to_id = $5
			AND EXISTS (SELECT 1 FROM agent_memories WHERE id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2)`,
		u.Owner.AppID, u.Owner.UserID, r.From, r.Kind, r.To)
	if err == nil && n > 0 {
		err = u.changeSources(ctx, r)
	}
	return u.require(n > 0, err, "delete the relation", missing)
}
