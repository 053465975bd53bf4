package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// within begins the conditions of an extent.
func within(of db.Extent) (where Conditions) {
	where.Add(`app_id = ?`, of.AppID)
	if of.UserID != "" {
		where.Add(`user_id = ?`, of.UserID)
	}
	return where
}

func (s *Store) Export(ctx context.Context, p db.ExportPage) (records []db.Record, err error) {
	where := within(db.Extent{AppID: p.AppID, UserID: p.UserID})
	if a := p.After; a != nil {
		where.Add(`(user_id, created_at, id) > (?, ?, ?)`, a.UserID, a.At, a.ID)
	}
	columns, fields := memoryColumns, memoryFields
	if p.Embeddings {
		columns, fields = memoryColumns+embeddingColumns, embeddedFields
	}
	err = s.db.Snapshot(ctx, func(q Querier) error {
		c := conn{q, s.dialect, s.fault}
		found, err := page(ctx, c, fields,
			`SELECT `+columns+` FROM agent_memories AS m{| INDEXED BY agent_memories_by_time} WHERE `,
			where, `user_id, created_at, id`, p.Limit)
		if err != nil {
			return err
		}
		events, relations, err := recorded(ctx, c, memory.Owner{AppID: p.AppID, UserID: p.UserID}, memory.IDs(found))
		records = exported(found, events, relations)
		return err
	})
	return records, s.fault(err, "export the memories")
}

func (s *Store) Recorded(
	ctx context.Context, owner memory.Owner, ids []string,
) (records map[string]db.Record, err error) {
	err = s.db.Snapshot(ctx, func(q Querier) error {
		records, err = recordedOf(ctx, conn{q, s.dialect, s.fault}, owner, ids)
		return err
	})
	return records, s.fault(err, "read what is recorded of the memories")
}

func (u *UserTx) Recorded(ctx context.Context, ids []string) (map[string]db.Record, error) {
	records, err := recordedOf(ctx, u.conn, u.Owner, ids)
	return records, u.fault(err, "read what is recorded of the memories")
}

// recordedOf reads memories of an owner with what is recorded of them, by id.
func recordedOf(ctx context.Context, c conn, owner memory.Owner, ids []string) (map[string]db.Record, error) {
	ids = validIDs(ids)
	found, err := collect(ctx, c, memoryFields, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2`, owner.AppID, owner.UserID, ids)
	if err != nil {
		return nil, err
	}
	events, relations, err := recorded(ctx, c, owner, ids)
	if err != nil {
		return nil, err
	}
	return recordsByID(found, events, relations), nil
}

// recorded reads the events and relations of memories of an owner, or of any
// user of the app if the owner has no user id.
func recorded(ctx context.Context, c conn, owner memory.Owner, ids []string) ([]memory.Event, []ends, error) {
	events, err := collect(ctx, c, eventFields, selectEvents+`memory_id = ANY($1::uuid[])
		AND {|+}app_id = $2 AND ($3::text = '' OR {|+}user_id = $3) ORDER BY at, id`, ids, owner.AppID, owner.UserID)
	if err != nil {
		return nil, nil, err
	}
	relations, err := collect(ctx, c, func(e *ends) []any {
		return []any{&e.From, &e.To, &e.Kind, &e.CreatedAt, &e.fromAt, &e.toAt}
	}, `SELECT r.from_id, r.to_id, r.kind, r.created_at, f.created_at, t.created_at FROM memory_relations AS r
			{|CROSS }JOIN agent_memories AS f ON f.id = r.from_id {|CROSS }JOIN agent_memories AS t ON t.id = r.to_id
		WHERE r.from_id = ANY($1::uuid[]) OR r.to_id = ANY($1::uuid[])
		ORDER BY r.created_at, r.from_id, r.kind{ COLLATE "C"|}, r.to_id`, ids)
	return events, relations, err
}

// ends is a relation with the times at which its two ends were created.
type ends struct {
	memory.Relation
	fromAt, toAt time.Time
}

// later is the end that comes later in (CreatedAt, ID) order.
func (e ends) later() string {
	if order := e.fromAt.Compare(e.toAt); order > 0 || order == 0 && e.From > e.To {
		return e.From
	}
	return e.To
}

// exported assembles a page of an export. Each relation goes to the later of its
// ends, or is omitted if that end is not on the page.
func exported(page []memory.Memory, events []memory.Event, relations []ends) []db.Record {
	records := make([]db.Record, len(page))
	places := make(map[string]*db.Record, len(page))
	for i, m := range page {
		records[i].Memory = m
		places[m.ID] = &records[i]
	}
	for _, e := range events {
		r := places[e.MemoryID]
		r.Events = append(r.Events, e)
	}
	for _, e := range relations {
		if r := places[e.later()]; r != nil {
			r.Relations = append(r.Relations, e.Relation)
		}
	}
	return records
}

// recordsByID assembles what is recorded under each id. Relations go to both of their
// ends, and the events of a purged memory make a record without a memory.
func recordsByID(memories []memory.Memory, events []memory.Event, relations []ends) map[string]db.Record {
	records := make(map[string]db.Record, len(memories))
	for _, m := range memories {
		records[m.ID] = db.Record{Memory: m}
	}
	for _, e := range events {
		r := records[e.MemoryID]
		r.Events = append(r.Events, e)
		records[e.MemoryID] = r
	}
	for _, e := range relations {
		for _, id := range []string{e.From, e.To} {
			if r, ok := records[id]; ok {
				r.Relations = append(r.Relations, e.Relation)
				records[id] = r
			}
		}
	}
	return records
}
