package sqlstore

import (
	"context"
	"slices"
	"strings"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const fadedOf = ` FROM agent_memories{| INDEXED BY agent_memories_faded}
	WHERE app_id = $1 AND user_id = $2 AND faded AND {|+}status = 'forgotten'`

// maxParts is the most parts of words that a statement looks for. For more parts, which only long queries have, it
// reads all memories.
const maxParts = 24

func (s *Store) FadedWords(ctx context.Context, owner memory.Owner, parts []string, limit int) (
	found []db.FadedWords, all int, err error,
) {
	if s.dialect == SQLite {
		return s.fadedWordsWith(ctx, owner, parts, limit)
	}
	has := Conditions{Args: []any{owner.AppID, owner.UserID, limit}}
	if len(parts) <= maxParts {
		for _, part := range parts {
			has.Add(`strpos(lexemes, ?) > 0`, part)
		}
	}
	some := `true`
	if len(has.Terms) > 0 {
		some = strings.Join(has.Terms, ` OR `)
	}
	type row struct {
		words db.FadedWords
		all   int
	}
	rows, err := collect(ctx, s.conn, func(r *row) []any { return []any{&r.all, &r.words.ID, &r.words.Lexemes} }, `
		WITH latest AS (SELECT id, lexemes, last_accessed_at`+fadedOf+`
			ORDER BY last_accessed_at DESC, id DESC LIMIT $3)
		SELECT number.n, coalesce(words.id::text, ''), coalesce(lexemes, '')
		FROM (SELECT count(*) AS n FROM (SELECT 1`+fadedOf+` LIMIT $3) AS counted) AS number
			LEFT JOIN (SELECT * FROM latest WHERE `+some+`) AS words ON true
		ORDER BY last_accessed_at DESC, words.id DESC`, has.Args...)
	for _, r := range rows {
		all = r.all
		if r.words.ID != "" {
			found = append(found, r.words)
		}
	}
	return found, all, s.fault(err, "read the words of what has faded")
}

// fadedWordsWith reads the words of all and looks for the parts here. SQLite's instr takes longer than reading a row.
func (s *Store) fadedWordsWith(ctx context.Context, owner memory.Owner, parts []string, limit int) (
	found []db.FadedWords, all int, err error,
) {
	found, err = collect(ctx, s.conn, func(w *db.FadedWords) []any { return []any{&w.ID, &w.Lexemes} },
		`SELECT id, lexemes`+fadedOf+` ORDER BY last_accessed_at DESC, id DESC LIMIT $3`, owner.AppID, owner.UserID, limit)
	all = len(found)
	if len(parts) > 0 {
		found = slices.DeleteFunc(found, func(w db.FadedWords) bool {
			return !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(w.Lexemes, part) })
		})
	}
	return found, all, s.fault(err, "read the words of what has faded")
}

func (s *Store) Faded(ctx context.Context, owner memory.Owner) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+fadedOf+` ORDER BY last_accessed_at, id`,
		owner.AppID, owner.UserID)
	return found, s.fault(err, "read what has faded")
}

func (s *Store) Recollectable(ctx context.Context, owner memory.Owner, ids []string) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+` FROM agent_memories AS m
		WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2 AND faded AND {|+}status = 'forgotten'
			AND NOT EXISTS (SELECT 1 FROM memory_relations AS r JOIN agent_memories AS s ON s.id = r.from_id
				WHERE r.to_id = m.id AND r.kind = 'derived_from' AND s.status = 'superseded')`,
		owner.AppID, owner.UserID, validIDs(ids))
	return found, s.fault(err, "read what may be recollected")
}
