package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// workReprocess works on the job of a run.
func (f *fixture) workReprocess(id string, undo bool) {
	f.t.Helper()
	_, _ = f.service.WorkReprocess(f.t.Context(), ingest.ReprocessTurns{AppID: "app", RunID: id, Undo: undo})
}

func TestReprocess_RunsAndIsUndone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.work()
	const target = "/v1/turns/reprocess"
	f.settle(f.accept("ada", "", "I live in Groningen.").ID)
	type preview struct {
		Turns []rescoredBody
		Next  string `json:"next_cursor"`
	}
	tried := fetch[preview](f, 200, "POST", target, `{"user_id":"ada","dry_run":true,"limit":1}`)
	if len(tried.Turns) != 1 || tried.Next == "" {
		t.Fatalf("%+v", tried)
	}
	next := fetch[preview](f, 200, "POST", target,
		fmt.Sprintf(`{"user_id":"ada","dry_run":true,"cursor":%q}`, tried.Next))
	if len(next.Turns) != 0 || next.Next != "" {
		t.Errorf("%+v", next)
	}
	f.wantPaths("POST", target, fmt.Sprintf(`{"user_id":"bob","dry_run":true,"cursor":%q}`, tried.Next), "cursor")
	run := fetch[reprocessingBody](f, 202, "POST", target, `{"user_id":"ada"}`)
	f.want(http.StatusConflict, "POST", target, `{"user_id":"ada"}`)
	f.want(http.StatusConflict, "POST", target, `{}`)
	f.workReprocess(run.ID, false)
	path := "/v1/reprocessings/" + run.ID
	if read := fetch[reprocessingBody](f, 200, "GET", path, ""); read.State != "done" || read.Counts.Turns != 1 {
		t.Errorf("%+v", read)
	}
	listed := fetch[struct{ Reprocessings []reprocessingBody }](f, 200, "GET", "/v1/reprocessings?user_id=ada", "")
	if len(listed.Reprocessings) != 1 {
		t.Errorf("%+v", listed)
	}
	fetch[reprocessingBody](f, 202, "POST", path+"/undo", "")
	f.workReprocess(run.ID, true)
	if read := fetch[reprocessingBody](f, 202, "POST", path+"/undo", ""); read.State != "undone" {
		t.Errorf("%+v", read)
	}
}

func TestReprocess_RefusesHostileRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	const target = "/v1/turns/reprocess"
	id := memory.NewID()
	for _, body := range []string{
		`{"user_id":""}`, `{"user_id":"a\u0000"}`, `{"user_id":"a","from":"yesterday"}`,
		`{"user_id":"a","scorer":""}`, `{"user_id":"a","policy_version":-1}`, `{"user_id":"a","limit":1}`,
		`{"user_id":"a","policy_version":1,"older_policy":true}`, `{"user_id":"a","dry_run":true,"limit":51}`,
		`{"user_id":"a","dry_run":true,"cursor":"x"}`, `{"user_id":"a","dry_run":true,"cursor":"1.` + id + `"}`,
		`{"user_id":"a","scorer":"` + strings.Repeat("r", 257) + `"}`, `{"user_id":"a","unknown":1}`, `[]`,
	} {
		f.want(http.StatusBadRequest, "POST", target, body)
	}
	f.want(http.StatusBadRequest, "POST", target, `{}`, "Authorization", "Bearer write")
	f.want(http.StatusNotFound, "GET", "/v1/reprocessings/"+id, "")
	f.want(http.StatusNotFound, "POST", "/v1/reprocessings/"+id+"/undo", "")
	f.want(http.StatusNotFound, "GET", "/v1/reprocessings/no-id", "")
}

// A run of an app is unknown to other apps, and one over all users needs an admin.
func TestReprocess_KeepsAppsAndRolesApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("stranger", "other", memory.RoleAdmin)
	run := fetch[reprocessingBody](f, 202, "POST", "/v1/turns/reprocess", `{}`)
	path := "/v1/reprocessings/" + run.ID
	for _, c := range []struct {
		key, method, target, body string
		want                      int
	}{
		{"stranger", "GET", path, "", http.StatusNotFound},
		{"stranger", "POST", path + "/undo", "", http.StatusNotFound},
		{"write", "POST", path + "/undo", "", http.StatusForbidden},
		{"read", "POST", "/v1/turns/reprocess", `{"user_id":"a"}`, http.StatusForbidden},
		{"read", "GET", path, "", http.StatusOK},
	} {
		f.want(c.want, c.method, c.target, c.body, "Authorization", "Bearer "+c.key)
	}
}
