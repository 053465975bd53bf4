package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// fading writes six fresh memories of the user "u", one of 40 days ago, one
// pinned then, and one of 40 days ago for another user of the same name.
func (b *fixture) fading() (old, pinned memory.Memory) {
	b.t.Helper()
	for _, content := range []string{"one", "two", "three", "four", "five", "six"} {
		b.keep(ingest.Write{Owner: owner("u"), Content: content})
	}
	then := noon.AddDate(0, 0, -40)
	old = b.keep(ingest.Write{Owner: owner("u"), Content: "old", At: then})
	pinned = b.keep(ingest.Write{Owner: owner("u"), Content: "pinned", At: then, Pinned: true})
	b.keep(ingest.Write{Owner: memory.Owner{AppID: "other-app", UserID: "u"}, Content: "theirs", At: then})
	return old, pinned
}

func TestForgetTellsThenForgets(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	old, pinned := b.fading()
	dry := parse[forgetBody](t, b.want(200, "POST", "/v1/forget", `{"user_id":"u","limit":2}`))
	if !dry.DryRun || !dry.At.Equal(noon) || dry.Active != 8 || dry.Due != 1 || dry.Stopped != "" || len(dry.Forgotten) != 0 || len(dry.Memories) != 2 {
		t.Fatalf("%+v", dry)
	}
	first, second := dry.Memories[0], dry.Memories[1]
	if first.ID != old.ID || first.Content != "old" || !first.Faded || first.Retention >= 0.1 || !first.FadesAt.Before(noon) {
		t.Errorf("%+v", first)
	}
	if second.Faded || second.Retention < 0.8 || !second.FadesAt.After(noon.AddDate(0, 0, 10)) {
		t.Errorf("%+v", second)
	}
	if b.stored(old.ID).Status != memory.Active {
		t.Error("a dry run forgets")
	}
	done := parse[forgetBody](t, b.want(200, "POST", "/v1/forget", `{"user_id":"u","dry_run":false}`, "Authorization", "Bearer write"))
	if done.DryRun || len(done.Forgotten) != 1 || done.Forgotten[0] != old.ID || len(done.Memories) != 8 {
		t.Errorf("%+v", done)
	}
	if last := done.Memories[7]; last.ID != pinned.ID || !last.FadesAt.IsZero() || last.Faded {
		t.Errorf("%+v", last)
	}
	if b.stored(old.ID).Status != memory.Forgotten || b.stored(pinned.ID).Status != memory.Active {
		t.Error("not the old one alone is forgotten")
	}
	b.want(200, "POST", "/v1/memories/"+old.ID+"/restore", "")
	if b.stored(old.ID).Status != memory.Active {
		t.Error("it is not restored")
	}
}

func TestForgetStopsBeforeItTakesTooMuch(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.fading()
	later := noon.AddDate(1, 0, 0)
	dry := parse[forgetBody](t, b.want(200, "POST", "/v1/forget", `{"user_id":"u","at":"`+later.Format(time.RFC3339)+`"}`))
	if !dry.At.Equal(later) || dry.Due != 7 || !strings.HasPrefix(dry.Stopped, "7 of 8 active memories") {
		t.Errorf("%+v", dry)
	}
	b.advance(later.Sub(noon))
	if stopped := parse[forgetBody](t, b.want(200, "POST", "/v1/forget", `{"user_id":"u","dry_run":false}`)); stopped.Stopped == "" || len(stopped.Forgotten) != 0 {
		t.Errorf("%+v", stopped)
	}
	if whole := parse[forgetBody](t, b.want(200, "POST", "/v1/forget", `{"user_id":"u","dry_run":false,"whole":true}`)); whole.Stopped != "" || len(whole.Forgotten) != 7 {
		t.Errorf("%+v", whole)
	}
}

func TestForgetRequestsAreChecked(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	for body, path := range map[string]string{
		`{}`:                                          "user_id",
		`{"user_id":"a\u0007"}`:                       "user_id",
		`{"user_id":"u","dry_run":"yes"}`:             "dry_run",
		`{"user_id":"u","limit":0}`:                   "limit",
		`{"user_id":"u","limit":501}`:                 "limit",
		`{"user_id":"u","at":"soon"}`:                 "at",
		`{"user_id":"u","at":"2500-01-01T00:00:00Z"}`: "at",
		`{"user_id":"u","at":"2026-01-01T00:00:00Z","dry_run":false}`: "at",
		`{"user_id":"u","threshold":1}`:                               "threshold",
	} {
		b.wantPaths("POST", "/v1/forget", body, path)
	}
	b.want(http.StatusForbidden, "POST", "/v1/forget", `{"user_id":"u"}`, "Authorization", "Bearer read")
	b.must(b.store.Close())
	b.want(http.StatusServiceUnavailable, "POST", "/v1/forget", `{"user_id":"u"}`)
}

func TestStatsCountRetention(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.fading()
	count := func() retentionBody {
		t.Helper()
		return parse[statsBody](t, b.want(200, "GET", "/v1/stats", "")).Retention
	}
	first := count()
	if len(first.Bands) != 6 || first.Exempt != 1 || !first.At.Equal(noon) {
		t.Fatalf("%+v", first)
	}
	if low, high := first.Bands[0], first.Bands[5]; low != (bandBody{0, 0.1, 1}) || high != (bandBody{0.8, 1, 6}) {
		t.Errorf("%+v", first)
	}
	b.keep(ingest.Write{Owner: owner("u"), Content: "seven"})
	b.advance(retentionTTL - time.Second)
	if again := count(); again.Bands[5].Memories != 6 || !again.At.Equal(noon) {
		t.Errorf("counted again within a minute: %+v", again)
	}
	b.advance(time.Second)
	if again := count(); again.Bands[5].Memories != 7 {
		t.Errorf("not counted again after a minute: %+v", again)
	}
}
