package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

func TestUsers_HaveATimeZone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	want := func(got, want settingsBody) {
		t.Helper()
		want.Memory = "on"
		if want.UserID = "u"; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	get := func() settingsBody { return fetch[settingsBody](f, http.StatusOK, "GET", "/v1/users/u", "") }
	put := func(name string) settingsBody {
		return fetch[settingsBody](f, http.StatusOK, "PUT", "/v1/users/u", `{"time_zone":"`+name+`"}`)
	}
	want(get(), settingsBody{Zone: "UTC"})
	f.want(http.StatusAccepted, "POST", "/v1/turns",
		`{"user_id":"u","messages":[{"role":"user","content":"hi"}],"at":"2026-01-30T22:30:00-08:00"}`)
	want(get(), settingsBody{Offset: "-08:00", Zone: "-08:00"})
	want(put("Asia/Shanghai"), settingsBody{TimeZone: "Asia/Shanghai", Offset: "-08:00", Zone: "Asia/Shanghai"})
	f.want(http.StatusAccepted, "POST", "/v1/turns",
		`{"user_id":"u","messages":[{"role":"user","content":"ho","at":"2026-01-30T22:30:00+01:00"},
			{"role":"assistant","content":"ha","at":"2026-01-30T21:30:00Z"}]}`)
	want(get(), settingsBody{TimeZone: "Asia/Shanghai", Offset: "+01:00", Zone: "Asia/Shanghai"})
	want(put(""), settingsBody{Offset: "+01:00", Zone: "+01:00"})
	if refused := f.want(400, "PUT", "/v1/users/u", `{}`).Body.String(); !strings.Contains(refused, "memory, time_zone") {
		t.Errorf("without a field: %s", refused)
	}
	for _, body := range []string{`{"time_zone":"Mars/Olympus"}`, `{"time_zone":"Local"}`, `{}`, `{"time_zone":null}`} {
		f.want(http.StatusBadRequest, "PUT", "/v1/users/u", body)
	}
}

// What a user far from UTC says late in the evening belongs to the user's day: in headings, in the times that a query
// names, and in the words by which it is found.
func TestTurns_AreOfTheDayOfTheUser(t *testing.T) {
	t.Parallel()
	for name, zone := range map[string]string{"by its offset": "", "by the zone of the user": "America/Los_Angeles"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			if zone != "" {
				f.want(http.StatusOK, "PUT", "/v1/users/u", `{"time_zone":"`+zone+`"}`)
			} else {
				f.want(http.StatusAccepted, "POST", "/v1/turns",
					`{"user_id":"u","messages":[{"role":"user","content":"hi"}],"at":"2026-01-30T22:30:00-08:00"}`)
			}
			f.keep(ingest.Write{
				Owner: owner("u"), Content: "We ate paella.", Type: memory.TypeMessage,
				At: time.Date(2026, 1, 31, 6, 30, 0, 0, time.UTC),
			})
			got := f.contextOf(`"user_id":"u","query":"What did we eat yesterday?","route":false,"at":"2026-01-31T20:00:00Z"`)
			if !strings.Contains(got.Text, "2026-01-30:\n") {
				t.Errorf("the day of the message is not the user's: %s", got.Text)
			}
			if len(got.When) != 1 || got.When[0].From.Format(time.RFC3339) != "2026-01-30T00:00:00-08:00" {
				t.Errorf("yesterday is %+v", got.When)
			}
			list, err := f.store.ListMemories(t.Context(), db.MemoryFilter{
				Owner: owner("u"), Types: []memory.Type{memory.TypeMessage}, Limit: 10,
			})
			if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Lexemes, "2026 01 30 ") {
				t.Errorf("the message is found by other words: %+v, %v", list, err)
			}
		})
	}
}
