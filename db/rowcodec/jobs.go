package rowcodec

import (
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"hippocampus/db"
)

// JobAttempts limits the attempts at a job. River takes it from the client that
// inserts the job.
const JobAttempts = 3

// Once returns the options with which River keeps one job of a kind and payload,
// whatever the state of that job.
func Once() *river.InsertOpts {
	return &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()}}
}

// JobInfo converts a row of River's table.
func JobInfo(row *rivertype.JobRow) db.JobInfo {
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

// JobInfos converts rows of River's table.
func JobInfos(rows []*rivertype.JobRow) []db.JobInfo {
	infos := make([]db.JobInfo, len(rows))
	for i, row := range rows {
		infos[i] = JobInfo(row)
	}
	return infos
}

// JobList converts a filter to River's parameters.
func JobList(f db.JobFilter) *river.JobListParams {
	params := river.NewJobListParams().States().Kinds(f.Kinds...).
		OrderBy(river.JobListOrderByID, river.SortOrderDesc).First(f.Limit)
	if f.Before > 0 {
		params = params.Where(`id < @before`, river.NamedArgs{"before": f.Before})
	}
	return params
}
