package api

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

func TestState_ShowsPartsLagAndSchedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.restart(func(o *Options) {
		o.State.Backlog = func(context.Context) (db.Backlog, error) {
			return db.Backlog{Pending: 1, Oldest: f.now().Add(-3 * time.Second)}, nil
		}
	})
	want := `{"readiness":{"database":{"status":"ready","since":"T"},"vector_store":{"status":"ready","since":"T"},` +
		`"status":"ready"},"projection":{"pending":1,"removing":0,"lag_ms":3000},` +
		`"drift":{"at":"2026-01-31T12:00:00Z","missing":1,"orphaned":2,"different":3},"turns_lag_ms":1500,` +
		`"schedule":[{"kind":"forgetting","next_at":"2026-02-01T03:00:00Z"}]}`
	got := parse[map[string]any](t, f.want(200, "GET", "/v1/admin/state", ""))
	ready := got["readiness"].(map[string]any)
	for _, part := range []string{"database", "vector_store"} {
		ready[part].(map[string]any)["since"] = "T"
	}
	if diff := cmp.Diff(parseText(t, want), got); diff != "" {
		t.Error(diff)
	}
	f.want(403, "GET", "/v1/admin/state", "", as("write")...)
	f.issue("root", "", memory.RoleOperator)
	f.want(200, "GET", "/v1/admin/state", "", as("root")...)

	f.restart(func(o *Options) {
		o.State.Backlog = func(context.Context) (db.Backlog, error) { return db.Backlog{}, errors.New("unavailable") }
		o.State.Drift = func() (Drift, bool) { return Drift{}, false }
	})
	less := parse[map[string]any](t, f.want(200, "GET", "/v1/admin/state", ""))
	if less["projection"] != nil || less["drift"] != nil {
		t.Errorf("unknown counts are shown: %v", less)
	}
}

func TestForgetNext_CountsByUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	low := 0.0
	for _, user := range []string{"ada", "bob", "eve"} {
		for i := range 5 {
			f.keep(ingest.Write{
				Owner: owner(user), Content: string(rune('a'+i)) + " of " + user, Importance: &low,
				Pinned: user == "bob" || i == 4,
			})
		}
	}
	f.advance(15 * 24 * time.Hour) // a retention of 0.103 now, and of 0.096 at the next run
	next := noon.Add(15*24*time.Hour + 15*time.Hour)
	f.restart(func(o *Options) {
		o.State.Schedule = func() map[string]time.Time { return map[string]time.Time{"forgetting": next} }
	})
	first := fetch[nextForgettingBody](f, 200, "GET", "/v1/forget/next?limit=2", "")
	due := func(user string) []dueBody {
		return []dueBody{{UserID: user, Active: 5, Due: 4, Forgets: 1, DueByType: map[memory.Type]int{memory.TypeFact: 4}}}
	}
	want := nextForgettingBody{At: next, Scheduled: true, Users: due("ada"), Next: first.Next}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	rest := fetch[nextForgettingBody](f, 200, "GET", "/v1/forget/next?limit=2&cursor="+first.Next, "")
	if diff := cmp.Diff(due("eve"), rest.Users); diff != "" || rest.Next != "" {
		t.Errorf("%s, next %q", diff, rest.Next)
	}
	f.issue("foreign", "other", memory.RoleRead)
	if other := fetch[nextForgettingBody](f, 200, "GET", "/v1/forget/next", "", as("foreign")...); len(other.Users) > 0 {
		t.Errorf("another app sees %+v", other)
	}
	f.restart(func(o *Options) { o.State.Schedule = func() map[string]time.Time { return nil } })
	now := fetch[nextForgettingBody](f, 200, "GET", "/v1/forget/next", "")
	if now.Scheduled || !now.At.Equal(f.now()) || len(now.Users) > 0 {
		t.Errorf("without a schedule: %+v", now)
	}
}

func TestFacts_ListsAllTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, body := range []string{
		`{"user_id":"u","type":"profile","key":"city","value":"Oslo","valid_from":"2020-01-01T00:00:00Z"}`,
		`{"user_id":"u","type":"profile","key":"city","value":"Lisbon","valid_from":"2025-01-01T00:00:00Z"}`,
		`{"user_id":"u","type":"profile","key":"city","value":"Rome","valid_from":"2029-01-01T00:00:00Z"}`,
	} {
		f.want(200, "PUT", "/v1/facts", body)
	}
	values := func(query string) []string {
		page := fetch[struct{ Facts []struct{ Value string } }](f, 200, "GET", "/v1/facts?user_id=u"+query, "")
		got := []string{}
		for _, fact := range page.Facts {
			got = append(got, fact.Value)
		}
		return got
	}
	for query, want := range map[string][]string{
		"":                               {"Lisbon"},
		"&all=false":                     {"Lisbon"},
		"&all=true":                      {"Rome", "Lisbon", "Oslo"},
		"&all=true&type=work":            {},
		"&all=true&type=profile&limit=1": {"Rome"},
	} {
		if diff := cmp.Diff(want, values(query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	f.wantPaths("GET", "/v1/facts?user_id=u&all=true&at=2026-01-01T00:00:00Z", "", "query.at")
}

func parseText(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
