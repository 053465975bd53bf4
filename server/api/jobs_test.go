package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// forgettingJob and purgeJob are of kinds that admins may see, and belong to one
// app or to the whole server.
type forgettingJob struct {
	AppID string `json:"app_id,omitempty"`
	N     int    `json:"n"`
}

func (forgettingJob) Kind() string { return "forgetting" }

type purgeJob forgettingJob

func (purgeJob) Kind() string { return "purge" }

// hiddenJob is of a kind that no key may see.
type hiddenJob forgettingJob

func (hiddenJob) Kind() string { return "process_turn" }

type jobList struct {
	Jobs []jobBody
	Next string `json:"next_cursor"`
}

func (f *fixture) enqueue(job db.Job) {
	f.t.Helper()
	_, fresh, err := f.store.Enqueue(f.t.Context(), job)
	f.must(err)
	if !fresh {
		f.t.Fatalf("%+v exists", job)
	}
}

// listedJobs returns the ids of the jobs of a page, and its cursor.
func (f *fixture) listedJobs(query, key string) (got string) {
	f.t.Helper()
	page := fetch[jobList](f, 200, "GET", "/v1/jobs"+query, "", "Authorization", "Bearer "+key)
	for _, job := range page.Jobs {
		got += job.ID + " "
	}
	if page.Next != "" {
		got += " next " + page.Next
	}
	return got
}

func TestJobs_AdminSeesThoseOfItsAppAndOperatorAll(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("server-wide", "", memory.RoleOperator)
	f.enqueue(forgettingJob{N: 1})                     // 1
	f.enqueue(purgeJob{AppID: "app", N: 2})            // 2
	f.enqueue(hiddenJob{AppID: "app", N: 3})           // 3
	f.enqueue(forgettingJob{AppID: "other-app", N: 4}) // 4
	f.enqueue(forgettingJob{AppID: "app", N: 5})       // 5
	for _, c := range []struct{ query, admin, operator string }{
		{"", "5 2 ", "5 4 2 1 "},
		{"?kind=purge", "2 ", "2 "},
		{"?kind=forgetting&limit=3", "5  next 1", "5 4 1  next 1"}, // the limit counts hidden jobs also
		{"?limit=2", "5  next 4", "5 4  next 4"},
		{"?limit=2&cursor=4", "2  next 1", "2 1  next 1"},
		{"?limit=2&cursor=1", "", ""},
		{"?kind=forgetting&cursor=5", "", "4 1 "},
	} {
		for key, want := range map[string]string{"admin": c.admin, "operator": c.operator, "server-wide": c.operator} {
			if got := f.listedJobs(c.query, key); got != want {
				t.Errorf("%q with the key %s: %q, want %q", c.query, key, got, want)
			}
		}
	}
	for id, statuses := range map[string][2]int{
		"1": {403, 200}, "2": {200, 200}, "3": {404, 404}, "4": {404, 200}, "5": {200, 200}, "6": {404, 404},
		"0": {404, 404}, "-1": {404, 404}, "x": {404, 404}, "99999999999999999999": {404, 404},
	} {
		w := f.want(statuses[0], "GET", "/v1/jobs/"+id, "")
		if w.Code == http.StatusForbidden && !strings.Contains(w.Body.String(), "role operator") {
			t.Errorf("the refusal does not name the role: %s", w.Body)
		}
		f.want(statuses[1], "GET", "/v1/jobs/"+id, "", "Authorization", "Bearer server-wide")
	}
	one := fetch[jobBody](f, 200, "GET", "/v1/jobs/2", "")
	if one.ID != "2" || one.Kind != "purge" || one.State != "available" || one.Attempt != 0 || one.EnqueuedAt.IsZero() ||
		!one.StartedAt.IsZero() || one.Result != nil {
		t.Errorf("%+v", one)
	}
	for query, path := range map[string]string{"kind=process_turn": "query.kind", "cursor=x": "query.cursor",
		"cursor=0": "query.cursor", "limit=0": "query.limit", "state=done": "query.state"} {
		f.wantPaths("GET", "/v1/jobs?"+query, "", path)
	}
	for _, path := range []string{"/v1/jobs", "/v1/jobs/1"} {
		f.want(http.StatusForbidden, "GET", path, "", "Authorization", "Bearer write")
	}
	f.must(f.store.Close())
	f.want(http.StatusServiceUnavailable, "GET", "/v1/jobs", "")
	f.want(http.StatusServiceUnavailable, "GET", "/v1/jobs/1", "")
}

func TestJobs_ShowResults(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	type user struct {
		AppID  string `json:"app_id"`
		UserID string `json:"user_id"`
	}
	runner, err := jobs.New(f.store.Driver(), jobs.Options{
		Workers: 2, Poll: 10 * time.Millisecond, Timeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		Processes: f.store,
	}, jobs.HandleResult(time.Minute, func(context.Context, forgettingJob) (any, error) {
		return map[string]any{"users": 2, "notes": []user{{"app", "ada"}, {"other-app", "bob"}}, "ids": []string{"one"},
			"app_id": "app"}, nil
	}), jobs.HandleResult(time.Minute, func(context.Context, purgeJob) (any, error) {
		return nil, errors.New("the purge failed")
	}))
	f.must(err)
	f.must(runner.Start(t.Context()))
	t.Cleanup(func() { _ = runner.Stop(context.Background()) })
	f.enqueue(forgettingJob{})
	f.enqueue(purgeJob{})
	worked := func(id string) (job jobBody) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			job = fetch[jobBody](f, 200, "GET", "/v1/jobs/"+id, "", "Authorization", "Bearer operator")
			if !job.EndedAt.IsZero() || job.Error != "" {
				return job
			}
		}
		t.Fatalf("the job did not run: %+v", job)
		return job
	}
	const want = `{"app_id":"app","ids":["one"],"notes":[{"app_id":"app","user_id":"ada"},` +
		`{"app_id":"other-app","user_id":"bob"}],"users":2}`
	if job := worked("1"); job.State != "completed" || job.Attempt != 1 || job.StartedAt.IsZero() || job.DurationMS < 0 ||
		string(job.Result) != want {
		t.Errorf("%+v with result %s", job, job.Result)
	}
	if job := worked("2"); job.Error != "the purge failed" || job.Attempt < 1 || !job.EndedAt.IsZero() ||
		job.Result != nil {
		t.Errorf("%+v", job)
	}
}
