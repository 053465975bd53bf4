package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"hippocampus/db"
	"hippocampus/internal/tracing"
)

// JobAttempts limits the attempts at a job. River takes it from the client that
// inserts the job.
const JobAttempts = 3

// JobMiddleware returns the middleware of clients that insert jobs. A job that is enqueued within a span keeps the id
// of the span.
func JobMiddleware() []rivertype.Middleware {
	return []rivertype.Middleware{river.JobInsertMiddlewareFunc(func(
		ctx context.Context, jobs []*rivertype.JobInsertParams,
		insert func(context.Context) ([]*rivertype.JobInsertResult, error),
	) ([]*rivertype.JobInsertResult, error) {
		if parent := tracing.Header(ctx); parent != "" {
			metadata, err := json.Marshal(db.JobOrigin{Parent: parent})
			if err != nil {
				return nil, fmt.Errorf("write the origin of a job: %w", err)
			}
			for _, job := range jobs {
				job.Metadata = metadata
			}
		}
		return insert(ctx)
	})}
}

// once returns the options with which River keeps one job of a kind and payload,
// whatever the state of that job.
func once() *river.InsertOpts {
	return &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()}}
}

// Jobs implements db.Jobs with River, whose clients take the transactions of
// the adapter's driver.
type Jobs[DriverTx any] struct {
	writer, reader *river.Client[DriverTx]
	fault          func(err error, doing string) error
}

// NewJobs returns the jobs of a database. The clients may be the same.
func NewJobs[DriverTx any](
	writer, reader *river.Client[DriverTx], fault func(err error, doing string) error,
) Jobs[DriverTx] {
	return Jobs[DriverTx]{writer, reader, fault}
}

func (j *Jobs[DriverTx]) Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error) {
	stored, err := j.writer.Insert(ctx, job, once())
	if err != nil {
		return info, false, j.fault(err, "enqueue the job")
	}
	return jobInfo(stored.Job), !stored.UniqueSkippedAsDuplicate, nil
}

func (j *Jobs[DriverTx]) Job(ctx context.Context, id int64) (db.JobInfo, error) {
	row, err := j.reader.JobGet(ctx, id)
	if errors.Is(err, river.ErrNotFound) {
		return db.JobInfo{}, NotFound("job", strconv.FormatInt(id, 10))
	}
	if err != nil {
		return db.JobInfo{}, j.fault(err, "read the job")
	}
	return jobInfo(row), nil
}

func (j *Jobs[DriverTx]) ListJobs(ctx context.Context, f db.JobFilter) ([]db.JobInfo, error) {
	params := river.NewJobListParams().States().Kinds(f.Kinds...).
		OrderBy(river.JobListOrderByID, river.SortOrderDesc).First(f.Limit)
	if f.Before > 0 {
		params = params.Where(`id < @before`, river.NamedArgs{"before": f.Before})
	}
	found, err := j.reader.JobList(ctx, params)
	if err != nil {
		return nil, j.fault(err, "list the jobs")
	}
	infos := make([]db.JobInfo, len(found.Jobs))
	for i, row := range found.Jobs {
		infos[i] = jobInfo(row)
	}
	return infos, nil
}

// jobInfo converts a row of River's table.
func jobInfo(row *rivertype.JobRow) db.JobInfo {
	info := db.JobInfo{
		ID: row.ID, Kind: row.Kind, State: string(row.State), Payload: row.EncodedArgs, Attempt: row.Attempt,
		EnqueuedAt: row.CreatedAt.UTC(), Result: row.Output(),
	}
	if row.AttemptedAt != nil {
		info.StartedAt = row.AttemptedAt.UTC()
	}
	if row.FinalizedAt != nil {
		info.EndedAt = row.FinalizedAt.UTC()
	}
	if n := len(row.Errors); n > 0 {
		info.Error = row.Errors[n-1].Error
	}
	return info
}
