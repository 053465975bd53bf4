package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func TestAdmin_EnqueuesJobs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Jobs.Kinds = append(o.Jobs.Kinds, Verification, Repair, Rebuild) })
	for path, kind := range map[string]string{"verify": Verification, "repair": Repair, "rebuild": Rebuild} {
		path := "/v1/admin/" + path
		for _, key := range []string{"read", "write"} {
			f.want(http.StatusForbidden, "POST", path, "", "Authorization", "Bearer "+key)
		}
		asked := f.want(http.StatusAccepted, "POST", path, "", "Authorization", "Bearer admin")
		var job jobBody
		if err := json.Unmarshal(asked.Body.Bytes(), &job); err != nil || job.Kind != kind || job.State != "available" {
			t.Fatalf("%s: %v %s", path, err, asked.Body)
		}
		f.want(http.StatusOK, "GET", "/v1/jobs/"+job.ID, "", "Authorization", "Bearer admin")
	}
	f.restart(func(o *Options) {
		o.Jobs.Enqueue = func(context.Context, string) (db.JobInfo, error) {
			return db.JobInfo{}, memory.Errorf(memory.KindUnavailable, "enqueue the job: %w", errors.New("refused"))
		}
	})
	f.want(http.StatusServiceUnavailable, "POST", "/v1/admin/verify", "", "Authorization", "Bearer admin")
}
