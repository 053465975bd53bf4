package postgres

import (
	"fmt"
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
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

// limited opens a store with a short timeout of statements.
func limited(t *testing.T, url string, timeout time.Duration, conns int32) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url, Timeout: timeout, MaxConns: conns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func noRow(func(...any) error) error { return nil }

// A count over many rows takes as long as its context allows, also while it uses the last connection.
func TestLong_OutlastsTheTimeoutOfStatements(t *testing.T) {
	t.Parallel()
	s := limited(t, postgrestest.URL(t), 3*time.Second, 1) // longer than a busy machine takes to begin a transaction
	d := database{statements{s.pool}, s}
	const slow = `SELECT pg_sleep(4)`
	if err := d.Query(t.Context(), slow, nil, nil); err == nil {
		t.Error("a statement outlasted its timeout")
	}
	if err := d.Long().Query(t.Context(), slow, nil, noRow); err != nil {
		t.Error(err)
	}
}

// Postgres hangs while the query runs. Nothing else ends the wait: neither the query nor the context has a deadline.
func TestLong_EndsWhenPostgresHangs(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	url := postgrestest.URL(t)
	proxy := postgrestest.NewProxy(t, url)
	s, direct := limited(t, proxy.URL, timeout, 2), limited(t, url, timeout, 2)
	slow := fmt.Sprintf(`SELECT pg_sleep(600) /* through %s */`, proxy.Addr)
	ended := make(chan error, 1)
	go func() { ended <- database{statements{s.pool}, s}.Long().Query(t.Context(), slow, nil, noRow) }()
	running := func() (n int) {
		err := direct.pool.QueryRow(t.Context(),
			`SELECT count(*) FROM pg_stat_activity WHERE query = $1 AND state = 'active'`, slow).Scan(&n)
		if err != nil {
			t.Log(err) // a busy machine can exceed the timeout
		}
		return n
	}
	for running() == 0 {
		select {
		case err := <-ended:
			t.Fatalf("before Postgres hangs: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	began := time.Now()
	proxy.Hang()
	err := <-ended
	if err = fault(err, "count"); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("got %v, want an error of kind unavailable", err)
	}
	t.Logf("ended %s after Postgres hung: %v", time.Since(began), err)
}
