package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
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

// hiddenJob is of a kind that admins may not see.
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

func (f *fixture) jobs(query string) jobList {
	f.t.Helper()
	return fetch[jobList](f, 200, "GET", "/v1/jobs"+query, "")
}

func TestJobs_ListThoseOfAppAndServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.enqueue(forgettingJob{N: 1})                     // 1
	f.enqueue(purgeJob{AppID: "app", N: 2})            // 2
	f.enqueue(hiddenJob{AppID: "app", N: 3})           // 3
	f.enqueue(forgettingJob{AppID: "other-app", N: 4}) // 4
	f.enqueue(forgettingJob{AppID: "app", N: 5})       // 5
	for query, want := range map[string]string{
		"":                          "5 2 1 ",
		"?kind=purge":               "2 ",
		"?kind=forgetting&limit=3":  "5 1  next 1", // the limit counts hidden jobs also
		"?limit=2":                  "5  next 4",
		"?limit=2&cursor=4":         "2 1  next 1",
		"?limit=2&cursor=1":         "",
		"?kind=forgetting&cursor=5": "1 ",
	} {
		page, got := f.jobs(query), ""
		for _, job := range page.Jobs {
			got += job.ID + " "
		}
		if page.Next != "" {
			got += " next " + page.Next
		}
		if got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	for id, status := range map[string]int{"1": 200, "2": 200, "3": 404, "4": 404, "5": 200, "6": 404, "0": 404, "-1": 404,
		"x": 404, "99999999999999999999": 404} {
		f.want(status, "GET", "/v1/jobs/"+id, "")
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

// A job shows its result and its error, without users of other apps.
func TestJobs_ShowResults(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	type user struct {
		AppID  string `json:"app_id"`
		UserID string `json:"user_id"`
	}
	runner, err := jobs.New(f.store.Driver(), jobs.Options{
		Workers: 2, Poll: 10 * time.Millisecond, Timeout: time.Minute, Drain: time.Minute, Log: slog.New(slog.DiscardHandler),
		Processes: f.store,
	}, jobs.HandleResult(time.Minute, func(context.Context, forgettingJob) (any, error) {
		return map[string]any{"users": 2, "notes": []user{{"app", "ada"}, {"other-app", "hidden"}}, "ids": []string{"one"},
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
			job = fetch[jobBody](f, 200, "GET", "/v1/jobs/"+id, "")
			if !job.EndedAt.IsZero() || job.Error != "" {
				return job
			}
		}
		t.Fatalf("the job did not run: %+v", job)
		return job
	}
	const want = `{"app_id":"app","ids":["one"],"notes":[{"app_id":"app","user_id":"ada"}],"users":2}`
	if job := worked("1"); job.State != "completed" || job.Attempt != 1 || job.StartedAt.IsZero() || job.DurationMS < 0 ||
		string(job.Result) != want {
		t.Errorf("%+v with result %s", job, job.Result)
	}
	if job := worked("2"); job.Error != "the purge failed" || job.Attempt < 1 || !job.EndedAt.IsZero() ||
		job.Result != nil {
		t.Errorf("%+v", job)
	}
}
