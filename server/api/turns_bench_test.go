package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// instant is an ingester that accepts every turn without storing it.
type instant struct{ TurnIngester }

func (instant) Accept(_ context.Context, turn memory.Turn) (memory.Turn, bool, error) {
	turn.ID, turn.Status = someID, memory.TurnAccepted
	return turn, true, nil
}

// BenchmarkPostTurn reads and checks a turn of two messages, and of ten; it stores nothing.
func BenchmarkPostTurn(b *testing.B) {
	f := newFixture(b, func(o *Options) { o.Turns.Ingester = instant{o.Turns.Ingester} })
	for _, pairs := range []int{1, 5} {
		body := `{"user_id":"u","conversation_id":"c","messages":[` + strings.Repeat(
			`{"role":"user","content":"I moved to Lisbon last week, and I am looking for a quiet flat near the river."},`+
				`{"role":"assistant","content":"Congratulations! Shall I list areas near the river that are quiet?"},`, pairs)
		body = strings.TrimSuffix(body, ",") + `]}`
		b.Run(fmt.Sprint(2*pairs), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/v1/turns", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer write")
				w := httptest.NewRecorder()
				f.ServeHTTP(w, r)
				if w.Code != http.StatusAccepted {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
