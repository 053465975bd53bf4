package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// relexBatch is how many memories are read at a time.
const relexBatch = 1000

// relexed is a migration that recomputes the lexemes of all memories, after a change of text.Lexemes.
func relexed(version int64) *goose.Migration {
	return goose.NewGoMigration(version, &goose.GoFunc{RunTx: relex}, nil)
}

// relex recomputes the lexemes of all memories.
func relex(ctx context.Context, tx *sql.Tx) error {
	for after := "00000000-0000-0000-0000-000000000000"; ; {
		batch, err := nextToRelex(ctx, tx, after)
		if err != nil {
			return fmt.Errorf("read the memories after %s: %w", after, err)
		}
		if len(batch) == 0 {
			return nil
		}
		for i := range batch {
			m := &batch[i]
			lexemes := lexemesOf(m)
			if lexemes == m.Lexemes {
				continue
			}
			if _, err := tx.ExecContext(ctx, `UPDATE agent_memories SET lexemes = $1
				WHERE id = $2 AND app_id = $3 AND user_id = $4`, lexemes, m.ID, m.AppID, m.UserID); err != nil {
				return fmt.Errorf("write the lexemes of memory %s: %w", m.ID, err)
			}
		}
		after = batch[len(batch)-1].ID
	}
}

func nextToRelex(ctx context.Context, tx *sql.Tx, after string) (batch []memory.Memory, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, app_id, user_id, content, memory_type, speaker, asked, lexemes
		FROM agent_memories WHERE id > $1 ORDER BY id LIMIT $2`, after, relexBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m memory.Memory
		err := rows.Scan(&m.ID, &m.AppID, &m.UserID, &m.Content, &m.Type, &m.Speaker, &m.Asked, &m.Lexemes)
		if err != nil {
			return nil, err
		}
		batch = append(batch, m)
	}
	return batch, rows.Err()
}

// lexemesOf returns the lexemes of a memory. A message keeps its day.
func lexemesOf(m *memory.Memory) string {
	lexemes := text.Lexemes(m.EmbeddedText())
	if m.Type == memory.TypeMessage {
		day := text.Split(m.Lexemes)
		lexemes = append(day[:min(memory.DayLexemes, len(day))], lexemes...)
	}
	return text.Join(lexemes)
}
