package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// erase is the path of a user.
func erase(userID string) string { return "/v1/users/" + url.PathEscape(userID) }

func TestErase_RemovesUserEverywhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	turn := f.accept("u", "turn-1", "I live in Lisbon.")
	f.enqueue(ingest.ProcessTurn{TurnID: turn.ID}) // as an older version did
	kept := f.peanuts()
	f.keep(ingest.Write{Owner: memory.Owner{AppID: "other-app", UserID: "u"}, Content: "theirs"})
	f.keep(ingest.Write{Owner: owner("v"), Content: "v's"})

	f.want(http.StatusForbidden, "DELETE", "/v1/users/u", "", "Authorization", "Bearer write")
	f.want(http.StatusNotFound, "DELETE", "/v1/users/", "")
	receipt := fetch[erasedBody](f, 200, "DELETE", "/v1/users/u", "")
	want := erasedBody{"u", noon, noon, db.Erased{Memories: 1, Turns: 1, Events: 1, Announcements: 1, Jobs: 1, Vectors: 1},
		true}
	if diff := cmp.Diff(want, receipt); diff != "" {
		t.Errorf("the receipt (-want +got):\n%s", diff)
	}
	f.want(http.StatusNotFound, "GET", "/v1/memories/"+kept.ID, "")
	f.want(http.StatusNotFound, "GET", "/v1/memories/"+kept.ID+"/history", "")
	f.want(http.StatusNotFound, "GET", "/v1/turns/turn-1", "")
	if left := fetch[struct{ Memories []recalledBody }](f, 200, "POST", "/v1/recall",
		`{"user_id":"u","query":"peanuts"}`); len(left.Memories) != 0 {
		t.Errorf("%d memories come back", len(left.Memories))
	}
	want.Deleted = db.Erased{}
	if diff := cmp.Diff(want, fetch[erasedBody](f, 200, "DELETE", "/v1/users/u", "")); diff != "" {
		t.Errorf("the second receipt (-want +got):\n%s", diff)
	}
	for _, o := range []memory.Owner{{AppID: "other-app", UserID: "u"}, owner("v")} {
		if n, err := f.vectors.CountOwner(t.Context(), o); err != nil || n != 1 {
			t.Errorf("%q has %d vectors, %v", o, n, err)
		}
	}
	f.want(202, "POST", "/v1/turns", aTurn) // the user may return, and may reuse ids
	f.accept("u", "turn-1", "I live in Porto.")
}

// The ids contain characters with a meaning in a path, in SQL, in JSON or in a filter.
func TestErase_TakesAnyUserID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ids := []string{
		"a/b", "a", "b", "a%2Fb", "%", "%25", "%2F", "..", ".", "a?b=c", "a#b", "a;b", "a b", "+", `"`, `'`, `\`,
		`" or user_id != "`, "{id}", ":id", "*",
		"用户", "é", "e\u0301", "🧠", "\u202e", strings.Repeat("中", 85), strings.Repeat("x", 256),
	}
	for _, id := range ids {
		f.keep(ingest.Write{Owner: owner(id), Content: "of " + id})
	}
	for i, id := range ids {
		receipt := fetch[erasedBody](f, 200, "DELETE", erase(id), "")
		if receipt.UserID != id || receipt.Deleted != (db.Erased{Memories: 1, Events: 1, Announcements: 1, Vectors: 1}) {
			t.Errorf("%q: %+v", id, receipt)
		}
		for _, other := range ids[i+1:] {
			if n, err := f.vectors.CountOwner(t.Context(), owner(other)); err != nil || n != 1 {
				t.Fatalf("after %q was erased %q has %d vectors, %v", id, other, n, err)
			}
		}
	}
	for _, id := range []string{"\x00", "a\nb", "\u0085", "\xff", strings.Repeat("x", 257), strings.Repeat("中", 86)} {
		f.wantPaths("DELETE", erase(id), "", "path.user_id")
	}
	f.wantPaths("DELETE", "/v1/users/u?dry_run=true", "", "query.dry_run")
}

// While a store is unavailable, the user appears erased and writes are refused.
func TestErase_ResumesAfterVectorStoreFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	turn := f.accept("u", "", "I live in Lisbon.")
	f.must(f.store.FailTurn(t.Context(), turn.ID, 1, "bad", f.now(), nil))
	kept := f.peanuts()
	f.must(f.vectors.Close())
	if w := f.want(http.StatusServiceUnavailable, "DELETE", "/v1/users/u", ""); w.Header().Get("Retry-After") != "30" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
	f.want(http.StatusNotFound, "GET", "/v1/memories/"+kept.ID, "")
	for target, body := range map[string]string{"/v1/turns": aTurn,
		"/v1/memories": `{"user_id":"u","content":"Likes tea."}`} {
		if w := f.send("POST", target, body); w.Code != http.StatusConflict ||
			!strings.Contains(w.Body.String(), "being erased") {
			t.Errorf("POST %s: %d %s", target, w.Code, w.Body)
		}
	}
	batch := f.want(200, "POST", "/v1/memories/batch", `{"memories":[{"user_id":"u","content":"Likes tea."}]}`)
	if !strings.Contains(batch.Body.String(), "being erased") {
		t.Errorf("a batch: %s", batch.Body)
	}
	f.want(http.StatusServiceUnavailable, "DELETE", "/v1/users/u", "")
	if jobs := f.want(200, "GET", "/v1/jobs?kind=erase_user", ""); !strings.Contains(jobs.Body.String(), "scheduled") ||
		strings.Contains(jobs.Body.String(), `"u"`) {
		t.Errorf("the job that completes the erasure: %s", jobs.Body)
	}
	err := f.store.InUser(t.Context(), owner("v"), func(context.Context, db.UserTx) error { return nil })
	if errors.Is(err, db.ErrErasing) {
		t.Error("another user is marked also")
	}
}
