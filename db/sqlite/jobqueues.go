package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"hippocampus/db"
)

// jobDriver is River's driver with a listener:
//
//	job -> commit -> arrivals -> listener -> River's client, which fetches the job
//
// SQLite cannot announce a new job as Postgres does, but the process that enqueues it is also the one that runs it.
// With River's own driver a client would have to look for jobs many times a second.
type jobDriver struct {
	*riversqlite.Driver
	arrivals arrivals
}

func (jobDriver) SupportsListener() bool { return true }

func (d jobDriver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return listener{d.arrivals}
}

// arrivals has the names of queues that have new jobs.
type arrivals chan string

// enoughArrivals is the number of names that are kept while no client listens.
const enoughArrivals = 64

// announce never blocks: clients also look for jobs at intervals.
func (a arrivals) announce(queues ...string) {
	for _, queue := range queues {
		select {
		case a <- queue:
		default:
		}
	}
}

// queueOf is the queue that River chooses for a job.
func queueOf(job db.Job) string {
	chosen := ""
	if j, ok := job.(river.JobArgsWithInsertOpts); ok {
		chosen = j.InsertOpts().Queue
	}
	return cmp.Or(chosen, river.QueueDefault)
}

// insertTopic is the topic on which River expects the payload {"queue": name}.
const insertTopic = "river_insert"

// listener passes arrivals to one client.
type listener struct{ arrivals arrivals }

func (l listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case queue := <-l.arrivals:
		payload, err := json.Marshal(map[string]string{"queue": queue})
		return &riverdriver.Notification{Topic: insertTopic, Payload: string(payload)}, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (listener) Connect(context.Context) error          { return nil }
func (listener) Close(context.Context) error            { return nil }
func (listener) Ping(context.Context) error             { return nil }
func (listener) Listen(context.Context, string) error   { return nil }
func (listener) Unlisten(context.Context, string) error { return nil }
func (listener) Schema() string                         { return "" }
func (listener) SetAfterConnectExec(string)             {}

// Enqueue documents db.Jobs.
func (s *Store) Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error) {
	info, fresh, err = s.Jobs.Enqueue(ctx, job)
	if fresh {
		s.arrivals.announce(queueOf(job))
	}
	return info, fresh, err
}

// enqueueing is write for changes that may enqueue jobs, which are announced once they are committed.
func (s *Store) enqueueing(ctx context.Context, f func(tx transaction) error) error {
	var queues []string
	err := s.write(ctx, func(tx *sql.Tx) error { return f(transaction{tx, s.jobs, &queues}) })
	if err == nil {
		s.arrivals.announce(queues...)
	}
	return err
}
