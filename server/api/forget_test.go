package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// fading writes six new memories of the user "u", one of 40 days ago, a pinned one
// of that time, and one of 40 days ago for a user of the same name in another app.
func (f *fixture) fading() (old, pinned memory.Memory) {
	f.t.Helper()
	for _, content := range []string{"one", "two", "three", "four", "five", "six"} {
		f.keep(ingest.Write{Owner: owner("u"), Content: content})
	}
	then := noon.AddDate(0, 0, -40)
	old = f.keep(ingest.Write{Owner: owner("u"), Content: "old", At: then})
	pinned = f.keep(ingest.Write{Owner: owner("u"), Content: "pinned", At: then, Pinned: true})
	f.keep(ingest.Write{Owner: memory.Owner{AppID: "other-app", UserID: "u"}, Content: "theirs", At: then})
	return old, pinned
}

func TestForget_PreviewsThenForgets(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	old, pinned := f.fading()
	dry := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","limit":2}`)
	if !dry.DryRun || !dry.At.Equal(noon) || dry.Active != 8 || dry.Due != 1 || dry.Stopped != "" ||
		len(dry.Forgotten) != 0 || len(dry.Memories) != 2 {
		t.Fatalf("%+v", dry)
	}
	first, second := dry.Memories[0], dry.Memories[1]
	if first.ID != old.ID || first.Content != "old" || !first.Faded || first.Retention >= 0.1 ||
		!first.FadesAt.Before(noon) {
		t.Errorf("%+v", first)
	}
	if second.Faded || second.Retention < 0.8 || !second.FadesAt.After(noon.AddDate(0, 0, 10)) {
		t.Errorf("%+v", second)
	}
	if f.stored(old.ID).Status != memory.Active {
		t.Error("a dry run forgot a memory")
	}
	done := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","dry_run":false}`, "Authorization",
		"Bearer write")
	if done.DryRun || len(done.Forgotten) != 1 || done.Forgotten[0] != old.ID || len(done.Memories) != 8 {
		t.Errorf("%+v", done)
	}
	if last := done.Memories[7]; last.ID != pinned.ID || !last.FadesAt.IsZero() || last.Faded {
		t.Errorf("%+v", last)
	}
	if f.stored(old.ID).Status != memory.Forgotten || f.stored(pinned.ID).Status != memory.Active {
		t.Error("more or less than the old memory was forgotten")
	}
	f.want(200, "POST", "/v1/memories/"+old.ID+"/restore", "")
	if f.stored(old.ID).Status != memory.Active {
		t.Error("the memory is not restored")
	}
}

func TestForget_StopsAtMaxShare(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fading()
	later := noon.AddDate(1, 0, 0)
	dry := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","at":"`+later.Format(time.RFC3339)+`"}`)
	if !dry.At.Equal(later) || dry.Due != 7 || !strings.HasPrefix(dry.Stopped, "7 of 8 active memories") {
		t.Errorf("%+v", dry)
	}
	f.advance(later.Sub(noon))
	if stopped := fetch[forgetBody](f, 200, "POST", "/v1/forget",
		`{"user_id":"u","dry_run":false}`); stopped.Stopped == "" || len(stopped.Forgotten) != 0 {
		t.Errorf("%+v", stopped)
	}
	if whole := fetch[forgetBody](f, 200, "POST", "/v1/forget",
		`{"user_id":"u","dry_run":false,"whole":true}`); whole.Stopped != "" || len(whole.Forgotten) != 7 {
		t.Errorf("%+v", whole)
	}
}

func TestForget_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
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
		f.wantPaths("POST", "/v1/forget", body, path)
	}
	f.want(http.StatusForbidden, "POST", "/v1/forget", `{"user_id":"u"}`, "Authorization", "Bearer read")
	f.must(f.store.Close())
	f.want(http.StatusServiceUnavailable, "POST", "/v1/forget", `{"user_id":"u"}`)
}

func TestStats_CountRetention(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fading()
	count := func() retentionBody {
		t.Helper()
		return fetch[statsBody](f, 200, "GET", "/v1/stats", "").Retention
	}
	first := count()
	if len(first.Bands) != 6 || first.Exempt != 1 || !first.At.Equal(noon) {
		t.Fatalf("%+v", first)
	}
	if low, high := first.Bands[0], first.Bands[5]; low != (bandBody{0, 0.1, 1}) || high != (bandBody{0.8, 1, 6}) {
		t.Errorf("%+v", first)
	}
	f.keep(ingest.Write{Owner: owner("u"), Content: "seven"})
	f.advance(retentionTTL - time.Second)
	if again := count(); again.Bands[5].Memories != 6 || !again.At.Equal(noon) {
		t.Errorf("counted again within a minute: %+v", again)
	}
	f.advance(time.Second)
	if again := count(); again.Bands[5].Memories != 7 {
		t.Errorf("not counted again after a minute: %+v", again)
	}
}
