package sqlstore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *Store) Ages(ctx context.Context, appID string, f func(userID string, a db.Age) error) error {
	return s.long().eachAge(ctx, f, agesOf("user_id", `{|+}user_id <> $2`), appID, memory.PoolUser)
}

func (s *Store) OwnerAges(ctx context.Context, owner memory.Owner, f func(id string, a db.Age) error) error {
	return s.eachAge(ctx, f, agesOf("id", `user_id = $2`), owner.AppID, owner.UserID)
}

func (s *Store) OldAges(ctx context.Context, owner memory.Owner, o db.Old, f func(id string, a db.Age) error) error {
	args := []any{owner.AppID, owner.UserID, o.Messages}
	for _, instant := range o.Idle {
		args = append(args, instant)
	}
	return s.eachAge(ctx, f, agesOf("id", `user_id = $2 AND (
		{greatest|max}(updated_at, last_accessed_at) <= CASE access_count WHEN 0 THEN $4::timestamptz WHEN 1 THEN $5
			WHEN 2 THEN $6 WHEN 3 THEN $7 WHEN 4 THEN $8 WHEN 5 THEN $9 WHEN 6 THEN $10 ELSE $11 END
		OR memory_type = 'message' AND created_at <= $3)`), args...)
}

// agesOf is the query of the ages of active memories of an app, each with its key. SQLite's driver is slow at many
// rows. There, a row has all memories of a user, from an index alone: numbers of the function pack, and texts. The
// line break is a literal, since SQLite copies the result of a function, such as char(10), for each memory.
func agesOf(key, where string) string {
	lines := func(column string) string { return "group_concat(" + column + ", '\n')" }
	return `SELECT {` + key + `, created_at, updated_at, last_accessed_at, access_count, importance_score, pinned,
			memory_type, domain, agent_id
		|` + lines(key) + `,
			pack(created_at, updated_at, last_accessed_at, access_count, importance_score, pinned),
			` + lines("memory_type") + `, ` + lines("domain") + `, ` + lines("agent_id") + `}
		FROM agent_memories{| INDEXED BY agent_memories_ages}
		WHERE app_id = $1 AND status = 'active' AND ` + where + `{| GROUP BY user_id}`
}

// eachAge calls f with each key and age of a query of agesOf.
func (c conn) eachAge(ctx context.Context, f func(key string, a db.Age) error, query string, args ...any) error {
	var refused error
	each := func(key string, a db.Age) error {
		refused = f(key, a)
		return refused
	}
	row := ageOfRow(each)
	if c.dialect == SQLite {
		row = func(scan Scan) error { return agesOfRow(scan, each) }
	}
	err := c.on.Query(ctx, c.dialect.text(query), c.dialect.args(args), row)
	if refused != nil {
		return refused
	}
	return c.fault(err, "read the ages of memories")
}

// ageOfRow reads rows of one memory each. The driver is fastest with destinations of Go's own types.
func ageOfRow(f func(key string, a db.Age) error) func(Scan) error {
	var key string
	var a db.Age
	fields := []any{&key, &a.CreatedAt, &a.UpdatedAt, &a.LastAccessedAt, &a.AccessCount, &a.Importance, &a.Pinned,
		(*string)(&a.Type), (*string)(&a.Domain), &a.AgentID}
	return func(scan Scan) error {
		if err := scan(fields...); err != nil {
			return err
		}
		a.CreatedAt, a.UpdatedAt = a.CreatedAt.UTC(), a.UpdatedAt.UTC()
		a.LastAccessedAt = a.LastAccessedAt.UTC()
		return f(key, a)
	}
}

// agesOfRow reads a row of all memories of a user. Their texts are names and ids, which have no line breaks. If one
// had, each memory would get the age of another one, so that an unequal number of lines is an error.
func agesOfRow(scan Scan, f func(key string, a db.Age) error) error {
	var numbers sql.RawBytes
	var keys, types, domains, agents string // one a line
	if err := scan(&keys, &numbers, &types, &domains, &agents); err != nil {
		return err
	}
	const size = 6 * 8 // of the numbers of a memory
	for _, text := range []string{keys, types, domains, agents} {
		if lines := 1 + strings.Count(text, "\n"); lines != len(numbers)/size {
			return fmt.Errorf("%d memories have %d lines of texts: an id has a line break", len(numbers)/size, lines)
		}
	}
	line := func(text *string) string {
		first, rest, _ := strings.Cut(*text, "\n")
		*text = rest
		return first
	}
	for ; len(numbers) > 0; numbers = numbers[size:] {
		number := func(n int) int64 { return int64(binary.LittleEndian.Uint64(numbers[n*8:])) }
		at := func(n int) time.Time { return time.UnixMicro(number(n)).UTC() }
		if err := f(line(&keys), db.Age{
			CreatedAt: at(0), UpdatedAt: at(1), LastAccessedAt: at(2), AccessCount: int(number(3)),
			Importance: math.Float64frombits(uint64(number(4))), Pinned: number(5) != 0,
			Type: memory.Type(line(&types)), Domain: memory.Domain(line(&domains)), AgentID: line(&agents),
		}); err != nil {
			return err
		}
	}
	return nil
}
