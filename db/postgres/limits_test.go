package postgres

import (
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
)

func TestOpen_LimitsEverySession(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: postgrestest.URL(t), Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for name, want := range map[string]string{
		"statement_timeout": "2s", "lock_timeout": "2s", "idle_in_transaction_session_timeout": "2s",
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
	} {
		var got string
		if err := s.pool.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
}

// A count over many rows takes as long as its context allows.
func TestLong_OutlastsTheTimeoutOfStatements(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: postgrestest.URL(t), Timeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	d := database{statements{s.pool}, s}
	const slow = `SELECT pg_sleep(1.5)`
	if err := d.Query(t.Context(), slow, nil, nil); err == nil {
		t.Error("a statement outlasted its timeout")
	}
	if err := d.Long().Query(t.Context(), slow, nil, func(func(...any) error) error { return nil }); err != nil {
		t.Error(err)
	}
}
