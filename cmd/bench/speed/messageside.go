package speed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// messagesBench is one server with its stores' clients.
type messagesBench struct {
	*target.Server
	stores              *floor
	accepted, processed measure.Times
	next                int // number of the next turn
}

// turn is the n-th turn: a statement or a question of the user, and an answer of about 280 characters.
func (o MessagesOptions) turn(n int, wait bool) map[string]any {
	random := rand.New(rand.NewPCG(uint64(n), 11))
	some := func() string { return content.Word(random.IntN(20_000)) }
	said := content.Statement(n)
	if n%2 == 1 {
		said = fmt.Sprintf("What should I know about %s before I buy a %s?", some(), some())
	}
	answer := ""
	for range 4 {
		answer += content.Sentence(random, 14) + ". "
	}
	user := n % o.Users
	return map[string]any{
		"user_id": content.Data{}.User(user), "conversation_id": fmt.Sprintf("c%d-%d", user, n/o.Users/20), "wait": wait,
		"messages": []map[string]string{{"role": "user", "content": said}, {"role": "assistant", "content": answer}},
	}
}

// process reports turns one by one, each after the previous turn was processed.
func (m *messagesBench) process(ctx context.Context, o MessagesOptions, turns int) error {
	for range turns {
		if err := m.processed.Call(func() error {
			_, err := m.Do(ctx, "POST", "/v1/turns", target.Body(o.turn(m.next, true)))
			return err
		}); err != nil {
			return err
		}
		m.next++
	}
	return nil
}

// drain waits until all turns are processed and all vectors pushed.
func (m *messagesBench) drain(ctx context.Context) error {
	for {
		var accepted int
		err := m.stores.database.QueryRow(ctx, `SELECT count(*) FROM turns WHERE status = 'accepted'`).Scan(&accepted)
		if err != nil {
			return err
		}
		if accepted == 0 {
			return m.Settle(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// count counts the rows and bytes that turns have left in both stores. before has the sizes of the empty tables.
func (m *messagesBench) count(ctx context.Context, turns int, before map[string]int64) (side MessagesSide, err error) {
	if err := m.drain(ctx); err != nil {
		return side, err
	}
	side.Rows = map[string]float64{}
	for _, table := range []string{
		"turns", "candidates", "agent_memories", "embeddings", "memory_events", "memory_relations", "announcements",
	} {
		var rows int
		if err := m.stores.database.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&rows); err != nil {
			return side, err
		}
		side.Rows[table] = float64(rows) / float64(turns)
	}
	after, err := m.bytes(ctx)
	if err != nil {
		return side, err
	}
	side.Tables = map[string]float64{}
	for table, size := range after {
		if grown := float64(size-before[table]) / float64(turns); grown > 0 {
			side.Tables[table] = grown
			side.Bytes += grown
		}
	}
	found, err := m.stores.milvus.Query(ctx, m.stores.collection, nil, "", []string{"count(*)"},
		client.WithSearchQueryConsistencyLevel(entity.ClStrong))
	if err != nil {
		return side, err
	}
	entities, err := found.GetColumn("count(*)").GetAsInt64(0)
	side.Vectors = float64(entities) / float64(turns)
	return side, err
}

// bytes are the sizes of all tables, each with its partitions and indexes and without dead rows.
func (m *messagesBench) bytes(ctx context.Context) (map[string]int64, error) {
	rows, err := m.stores.database.Query(ctx, `
		SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		if _, err := m.stores.database.Exec(ctx, "VACUUM FULL "+pgx.Identifier{table}.Sanitize()); err != nil {
			return nil, err
		}
	}
	rows, err = m.stores.database.Query(ctx, `
		SELECT coalesce(pg_partition_root(oid), oid)::regclass::text, sum(pg_total_relation_size(oid))::bigint
		FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace GROUP BY 1`)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	var table string
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&table, &size}, func() error {
		sizes[table] = size
		return nil
	})
	return sizes, err
}
