package postgres

import (
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// BenchmarkAcceptTurn compares accepting a turn with a bare INSERT of it.
func BenchmarkAcceptTurn(b *testing.B) {
	s, err := Open(b.Context(), Options{URL: postgrestest.URL(b)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	const said = "I moved to Lisbon last spring and work at a bakery now"
	owner := memory.Owner{AppID: "bench", UserID: "u"}
	b.Run("insert", func(b *testing.B) {
		for b.Loop() {
			_, err := s.pool.Exec(b.Context(), `
				INSERT INTO turns (id, app_id, user_id, agent_id, conversation_id, messages, said_at, hash, status, attempts,
					last_error, accepted_at, queued_at, due_at)
				VALUES ($1, $2, $3, '', '', $4, $5, 'hash', 'accepted', 0, '', $5, $5, $5)`,
				memory.NewID(), owner.AppID, owner.UserID, `[{"role":"user","content":"`+said+`"}]`, time.Now())
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("accept", func(b *testing.B) {
		for b.Loop() {
			now := time.Now()
			_, fresh, err := s.AcceptTurn(b.Context(), memory.Turn{
				ID: memory.NewID(), Owner: owner, Messages: []memory.Message{{Role: "user", Content: said}}, Hash: "hash",
				Status: memory.TurnAccepted, At: now, AcceptedAt: now, QueuedAt: now,
			}, now, nil)
			if err != nil || !fresh {
				b.Fatal(fresh, err)
			}
		}
	})
}
