package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func TestOperator_EnqueuesJobs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Jobs.Kinds = append(o.Jobs.Kinds, Verification, Repair, Rebuild) })
	for path, kind := range map[string]string{"verify": Verification, "repair": Repair, "rebuild": Rebuild} {
		path := "/v1/admin/" + path
		for _, key := range []string{"read", "write", "admin"} {
			w := f.want(http.StatusForbidden, "POST", path, "", "Authorization", "Bearer "+key)
			if !strings.Contains(w.Body.String(), "key create --role operator") {
				t.Errorf("the refusal does not say how to make the key that is needed: %s", w.Body)
			}
		}
		asked := f.want(http.StatusAccepted, "POST", path, "", "Authorization", "Bearer operator")
		var job jobBody
		if err := json.Unmarshal(asked.Body.Bytes(), &job); err != nil || job.Kind != kind || job.State != "available" {
			t.Fatalf("%s: %v %s", path, err, asked.Body)
		}
		f.want(http.StatusOK, "GET", "/v1/jobs/"+job.ID, "", "Authorization", "Bearer operator")
	}
	f.restart(func(o *Options) {
		o.Jobs.Enqueue = func(context.Context, string) (db.JobInfo, error) {
			return db.JobInfo{}, memory.Errorf(memory.KindUnavailable, "enqueue the job: %w", errors.New("refused"))
		}
	})
	f.want(http.StatusServiceUnavailable, "POST", "/v1/admin/verify", "", "Authorization", "Bearer operator")
}
