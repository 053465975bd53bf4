package sqlstore

import (
	"context"
	"errors"
	"strconv"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
)

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

// Enqueue stores a job, or finds the kept one of its kind and payload.
func (j *Jobs[DriverTx]) Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error) {
	stored, err := j.writer.Insert(ctx, job, rowcodec.Once())
	if err != nil {
		return info, false, j.fault(err, "enqueue the job")
	}
	return rowcodec.JobInfo(stored.Job), !stored.UniqueSkippedAsDuplicate, nil
}

// Job returns a job.
func (j *Jobs[DriverTx]) Job(ctx context.Context, id int64) (db.JobInfo, error) {
	row, err := j.reader.JobGet(ctx, id)
	if errors.Is(err, river.ErrNotFound) {
		return db.JobInfo{}, NotFound("job", strconv.FormatInt(id, 10))
	}
	if err != nil {
		return db.JobInfo{}, j.fault(err, "read the job")
	}
	return rowcodec.JobInfo(row), nil
}

// ListJobs pages through the jobs of some kinds, newest first.
func (j *Jobs[DriverTx]) ListJobs(ctx context.Context, f db.JobFilter) ([]db.JobInfo, error) {
	found, err := j.reader.JobList(ctx, rowcodec.JobList(f))
	if err != nil {
		return nil, j.fault(err, "list the jobs")
	}
	return rowcodec.JobInfos(found.Jobs), nil
}
