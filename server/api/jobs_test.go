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

// forgettingJob and purgeJob have the kinds that the bench shows, with the payload
// of a job of one app, or none of the whole server.
type forgettingJob struct {
	AppID string `json:"app_id,omitempty"`
	N     int    `json:"n"`
}

func (forgettingJob) Kind() string { return "forgetting" }

type purgeJob forgettingJob

func (purgeJob) Kind() string { return "purge" }

// hiddenJob is of a kind that is not shown.
type hiddenJob forgettingJob

func (hiddenJob) Kind() string { return "process_turn" }

type jobList struct {
	Jobs []jobBody
	Next string `json:"next_cursor"`
}

func (b *fixture) enqueue(job db.Job) {
	b.t.Helper()
	_, fresh, err := b.store.Enqueue(b.t.Context(), job)
	b.must(err)
	if !fresh {
		b.t.Fatalf("%+v exists", job)
	}
}

func (b *fixture) jobs(query string) jobList {
	b.t.Helper()
	return parse[jobList](b.t, b.want(200, "GET", "/v1/jobs"+query, ""))
}

func TestJobsOfTheAppAndTheServerAreListed(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.enqueue(forgettingJob{N: 1})                     // 1
	b.enqueue(purgeJob{AppID: "app", N: 2})            // 2
	b.enqueue(hiddenJob{AppID: "app", N: 3})           // 3
	b.enqueue(forgettingJob{AppID: "other-app", N: 4}) // 4
	b.enqueue(forgettingJob{AppID: "app", N: 5})       // 5
	for query, want := range map[string]string{
		"":                          "5 2 1 ",
		"?kind=purge":               "2 ",
		"?kind=forgetting&limit=3":  "5 1  next 1", // as many as asked for were looked at
		"?limit=2":                  "5  next 4",
		"?limit=2&cursor=4":         "2 1  next 1",
		"?limit=2&cursor=1":         "",
		"?kind=forgetting&cursor=5": "1 ",
	} {
		page, got := b.jobs(query), ""
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
	for id, status := range map[string]int{"1": 200, "2": 200, "3": 404, "4": 404, "5": 200, "6": 404, "0": 404, "-1": 404, "x": 404, "99999999999999999999": 404} {
		b.want(status, "GET", "/v1/jobs/"+id, "")
	}
	one := parse[jobBody](t, b.want(200, "GET", "/v1/jobs/2", ""))
	if one.ID != "2" || one.Kind != "purge" || one.State != "available" || one.Attempt != 0 || one.EnqueuedAt.IsZero() || !one.StartedAt.IsZero() || one.Result != nil {
		t.Errorf("%+v", one)
	}
	for query, path := range map[string]string{"kind=process_turn": "query.kind", "cursor=x": "query.cursor", "cursor=0": "query.cursor", "limit=0": "query.limit", "state=done": "query.state"} {
		b.wantPaths("GET", "/v1/jobs?"+query, "", path)
	}
	for _, path := range []string{"/v1/jobs", "/v1/jobs/1"} {
		b.want(http.StatusForbidden, "GET", path, "", "Authorization", "Bearer write")
	}
	b.must(b.store.Close())
	b.want(http.StatusServiceUnavailable, "GET", "/v1/jobs", "")
	b.want(http.StatusServiceUnavailable, "GET", "/v1/jobs/1", "")
}

// A job shows what it did and what went wrong, but no other app's users.
func TestJobsShowTheirResults(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	type user struct {
		AppID  string `json:"app_id"`
		UserID string `json:"user_id"`
	}
	runner, err := jobs.New(b.store.Driver(), jobs.Options{
		Workers: 2, Poll: 10 * time.Millisecond, Timeout: time.Minute, Drain: time.Minute, Log: slog.New(slog.DiscardHandler),
	}, jobs.HandleResult(time.Minute, func(context.Context, forgettingJob) (any, error) {
		return map[string]any{"users": 2, "notes": []user{{"app", "ada"}, {"other-app", "hidden"}}, "ids": []string{"one"}, "app_id": "app"}, nil
	}), jobs.HandleResult(time.Minute, func(context.Context, purgeJob) (any, error) {
		return nil, errors.New("the purge failed")
	}))
	b.must(err)
	b.must(runner.Start(t.Context()))
	t.Cleanup(func() { _ = runner.Stop(context.Background()) })
	b.enqueue(forgettingJob{})
	b.enqueue(purgeJob{})
	worked := func(id string) (job jobBody) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if job = parse[jobBody](t, b.want(200, "GET", "/v1/jobs/"+id, "")); !job.EndedAt.IsZero() || job.Error != "" {
				return job
			}
		}
		t.Fatalf("the job is not worked: %+v", job)
		return job
	}
	const want = `{"app_id":"app","ids":["one"],"notes":[{"app_id":"app","user_id":"ada"}],"users":2}`
	if job := worked("1"); job.State != "completed" || job.Attempt != 1 || job.StartedAt.IsZero() || job.DurationMS < 0 || string(job.Result) != want {
		t.Errorf("%+v with result %s", job, job.Result)
	}
	if job := worked("2"); job.Error != "the purge failed" || job.Attempt < 1 || !job.EndedAt.IsZero() || job.Result != nil {
		t.Errorf("%+v", job)
	}
}
