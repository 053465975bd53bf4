// Package pgsession bounds how long a session of Postgres blocks others and keeps
// its caller waiting:
//
//	statement, wait for a lock    -> Postgres ends it after the statement timeout
//	answer that does not arrive   -> this process gives the connection up shortly after
//	transaction without statement -> Postgres ends the session, and with it the locks
//	host that has vanished        -> TCP keepalive ends the connection, on both sides
//
// The settings are made by SET after a connection is made, since PgBouncer refuses
// them as parameters of the start of a session.
package pgsession

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric/noop"

	"hippocampus/internal/tracing"
)

// A connection is dead if its peer acknowledges nothing for idle + count*interval
// or, with data under way, for userTimeout. Whole seconds.
const (
	keepaliveIdle     = 5 * time.Second
	keepaliveInterval = 2 * time.Second
	keepaliveCount    = 3
	userTimeout       = 10 * time.Second
)

// Limits bound the sessions of a pool.
type Limits struct {
	Statement time.Duration // of a statement, a wait for a lock, and a wait for a connection; 0: no limit
	Idle      time.Duration // of a transaction between two statements; 0: no limit
}

// patience is how much longer than Postgres this process waits, as a part of the limit,
// so that a Postgres that works ends the statement itself and the connection survives.
const patience = 8

// Apply gives the sessions of config these limits, and spans if ctx has a provider of them. It adds to AfterConnect.
func Apply(ctx context.Context, config *pgxpool.Config, l Limits) {
	KeepAlive(config)
	if l.Statement > 0 {
		config.ConnConfig.Tracer = deadlines{l.Statement + l.Statement/patience}
	}
	if provider := tracing.Provider(ctx); provider != nil {
		spans := otelpgx.NewTracer(otelpgx.WithTracerProvider(provider),
			otelpgx.WithMeterProvider(noop.NewMeterProvider()), otelpgx.WithDisableConnectionDetailsInAttributes())
		if l.Statement > 0 {
			config.ConnConfig.Tracer = multitracer.New(config.ConnConfig.Tracer, spans)
		} else {
			config.ConnConfig.Tracer = spans
		}
	}
	after := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, l.statements()); err != nil {
			return fmt.Errorf("set the limits of the session: %w", err)
		}
		if after == nil {
			return nil
		}
		return after(ctx, conn)
	}
}

// KeepAlive makes this process notice that the host of Postgres has vanished.
func KeepAlive(config *pgxpool.Config) {
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepaliveIdle, Interval: keepaliveInterval, Count: keepaliveCount,
	}}
	config.ConnConfig.DialFunc = dialer.DialContext
}

// statements sets the limits of a session. Postgres ignores settings of TCP on a Unix socket.
func (l Limits) statements() string {
	var all []string
	set := func(name string, value int64) { all = append(all, fmt.Sprintf(`SET %s = %d`, name, value)) }
	set("statement_timeout", l.Statement.Milliseconds())
	set("lock_timeout", l.Statement.Milliseconds())
	set("idle_in_transaction_session_timeout", l.Idle.Milliseconds())
	set("tcp_keepalives_idle", int64(keepaliveIdle.Seconds()))
	set("tcp_keepalives_interval", int64(keepaliveInterval.Seconds()))
	set("tcp_keepalives_count", keepaliveCount)
	set("tcp_user_timeout", userTimeout.Milliseconds())
	return strings.Join(all, "; ")
}

// Unbounded returns a context whose statements have no deadline of this package. The
// caller sets statement_timeout.
func Unbounded(ctx context.Context) context.Context {
	return context.WithValue(ctx, unbounded{}, true)
}

type unbounded struct{}

// deadlines is a tracer of pgx that gives each statement, and each wait for a
// connection, a deadline: what a tracer returns is the context of the call.
type deadlines struct{ after time.Duration }

type cancelKey struct{}

func (d deadlines) start(ctx context.Context) context.Context {
	if ctx.Value(unbounded{}) != nil {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, d.after)
	return context.WithValue(ctx, cancelKey{}, cancel)
}

func (d deadlines) end(ctx context.Context) {
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// The methods of pgx.QueryTracer, pgx.BatchTracer, pgx.CopyFromTracer and pgxpool.AcquireTracer.

func (d deadlines) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return d.start(ctx)
}

func (d deadlines) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	d.end(ctx)
}

func (d deadlines) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return d.start(ctx)
}

func (d deadlines) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (d deadlines) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) {
	d.end(ctx)
}

func (d deadlines) TraceCopyFromStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData,
) context.Context {
	return d.start(ctx)
}

func (d deadlines) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromEndData) {
	d.end(ctx)
}

func (d deadlines) TraceAcquireStart(
	ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData,
) context.Context {
	return d.start(ctx)
}

func (d deadlines) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireEndData) {
	d.end(ctx)
}
