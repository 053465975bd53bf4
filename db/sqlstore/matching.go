package sqlstore

import (
	"context"
	"strings"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// A filter means what its Go function does. SQL reduces the rows that are read:
// Postgres by an index on what metadata contains, SQLite by one on whether there
// is metadata. Both compare parts of the content.

// addRequirement adds a condition that every memory meets that a filter chooses.
func (c *Conditions) addRequirement(where *filter.Filter, d Dialect) {
	required := where.Requirement()
	if required.Metadata {
		c.Add(`metadata IS NOT NULL`)
	}
	for _, part := range required.Parts {
		if !part.Folded {
			c.Add(`{strpos|instr}(content, ?) > 0`, part.Text)
			continue
		}
		term, text := `(strpos(lower(content COLLATE "C"), ?) > 0`, part.Text
		if d == SQLite { // whose LIKE ignores the case of ASCII, and is faster than lower
			term, text = `(content LIKE ? ESCAPE '\'`, `%`+likeSpecial.Replace(text)+`%`
		}
		for _, foreign := range filter.Foreign {
			if strings.ContainsAny(part.Text, strings.ToLower(foreign)) {
				term += ` OR {strpos|instr}(content, '` + foreign + `') > 0`
			}
		}
		c.Add(term+`)`, text)
	}
	if d == Postgres {
		for _, objects := range required.Contains {
			c.Add(`metadata::jsonb @> ANY(?::text[]::jsonb[])`, objects)
		}
	}
}

var likeSpecial = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// indexOf names the index by which SQLite reads the filtered memories of a user.
func indexOf(where *filter.Filter) string {
	if where.Requirement().Metadata {
		return `{| INDEXED BY agent_memories_metadata}`
	}
	return ""
}

// listMatching lists the memories that f.Where chooses.
func (s *Store) listMatching(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	matching, wanted := []memory.Memory{}, f.Limit
	for {
		rows, err := s.listMemories(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if f.Where.Matches(&rows[i]) {
				if matching = append(matching, rows[i]); len(matching) == wanted {
					return matching, nil
				}
			}
		}
		if len(rows) < f.Limit {
			return matching, nil
		}
		last := rows[len(rows)-1]
		f.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
		f.Limit = min(2*f.Limit, memory.MaxPage) // few match: read more at once
	}
}

func (s *Store) MatchingIDs(ctx context.Context, owner memory.Owner, where *filter.Filter) ([]string, error) {
	var rows Conditions
	rows.Add(`app_id = ? AND user_id = ? AND {|+}status = 'active'`, owner.AppID, owner.UserID)
	rows.addRequirement(where, s.dialect)
	matching := []string{}
	var m memory.Memory
	err := s.each(ctx, filteredFields(&m), func() error {
		if where.Matches(&m) {
			matching = append(matching, m.ID)
		}
		return nil
	}, `SELECT `+filteredColumns+` FROM agent_memories`+indexOf(where)+` WHERE `+rows.SQL(), rows.Args...)
	return matching, s.fault(err, "filter the memories")
}

// filteredColumns are the columns that a filter may depend on.
const filteredColumns = `id, agent_id, conversation_id, content, memory_type, domain, tags, importance_score,
	metadata, pinned, created_at, updated_at`

func filteredFields(m *memory.Memory) []any {
	return []any{&m.ID, &m.AgentID, &m.ConversationID, &m.Content, &m.Type, &m.Domain, &m.Tags, &m.Importance,
		&m.Metadata, &m.Pinned, &m.CreatedAt, &m.UpdatedAt}
}
