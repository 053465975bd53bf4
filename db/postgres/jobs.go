package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
)

// Enqueue stores a job, or finds the kept one of its kind and payload.
func (s *Store) Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error) {
	stored, err := s.jobs.Insert(ctx, job, rowcodec.Once())
	if err != nil {
		return info, false, fault(err, "enqueue the job")
	}
	return rowcodec.JobInfo(stored.Job), !stored.UniqueSkippedAsDuplicate, nil
}

// Job returns a job.
func (s *Store) Job(ctx context.Context, id int64) (db.JobInfo, error) {
	row, err := s.jobs.JobGet(ctx, id)
	if errors.Is(err, river.ErrNotFound) {
		return db.JobInfo{}, notFound("job", strconv.FormatInt(id, 10))
	}
	if err != nil {
		return db.JobInfo{}, fault(err, "read the job")
	}
	return rowcodec.JobInfo(row), nil
}

// ListJobs pages through the jobs of some kinds, newest first.
func (s *Store) ListJobs(ctx context.Context, f db.JobFilter) ([]db.JobInfo, error) {
	found, err := s.jobs.JobList(ctx, rowcodec.JobList(f))
	if err != nil {
		return nil, fault(err, "list the jobs")
	}
	return rowcodec.JobInfos(found.Jobs), nil
}
