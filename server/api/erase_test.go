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

// erase is the path that erases a user.
func erase(userID string) string { return "/v1/users/" + url.PathEscape(userID) }

func TestEraseUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.accept("u", "turn-1", "I live in Lisbon.")
	kept := b.peanuts()
	b.keep(ingest.Write{Owner: memory.Owner{AppID: "other-app", UserID: "u"}, Content: "theirs"})
	b.keep(ingest.Write{Owner: owner("v"), Content: "v's"})

	b.want(http.StatusForbidden, "DELETE", "/v1/users/u", "", "Authorization", "Bearer write")
	b.want(http.StatusNotFound, "DELETE", "/v1/users/", "")
	receipt := parse[erasedBody](t, b.want(200, "DELETE", "/v1/users/u", ""))
	want := erasedBody{"u", noon, noon, db.Erased{Memories: 1, Turns: 1, Events: 1, Announcements: 1, Jobs: 1, Vectors: 1}, true}
	if diff := cmp.Diff(want, receipt); diff != "" {
		t.Errorf("the receipt (-want +got):\n%s", diff)
	}
	b.want(http.StatusNotFound, "GET", "/v1/memories/"+kept.ID, "")
	b.want(http.StatusNotFound, "GET", "/v1/memories/"+kept.ID+"/history", "")
	b.want(http.StatusNotFound, "GET", "/v1/turns/turn-1", "")
	if left := parse[struct{ Memories []recalledBody }](t, b.want(200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts"}`)); len(left.Memories) != 0 {
		t.Errorf("%d memories come back", len(left.Memories))
	}
	want.Deleted = db.Erased{}
	if diff := cmp.Diff(want, parse[erasedBody](t, b.want(200, "DELETE", "/v1/users/u", ""))); diff != "" {
		t.Errorf("the second receipt (-want +got):\n%s", diff)
	}
	for _, o := range []memory.Owner{{AppID: "other-app", UserID: "u"}, owner("v")} {
		if n, err := b.vectors.CountOwner(t.Context(), o); err != nil || n != 1 {
			t.Errorf("%q has %d vectors, %v", o, n, err)
		}
	}
	b.want(202, "POST", "/v1/turns", aTurn) // is welcome again, with ids of before too
	b.accept("u", "turn-1", "I live in Porto.")
}

// Ids that mean something in a path, in SQL, in JSON, or in a filter.
func TestEraseHostileUsers(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	ids := []string{
		"a/b", "a", "b", "a%2Fb", "%", "%25", "%2F", "..", ".", "a?b=c", "a#b", "a;b", "a b", "+", `"`, `'`, `\`, `" or user_id != "`, "{id}", ":id", "*",
		"用户", "é", "e\u0301", "🧠", "\u202e", strings.Repeat("中", 85), strings.Repeat("x", 256),
	}
	for _, id := range ids {
		b.keep(ingest.Write{Owner: owner(id), Content: "of " + id})
	}
	for i, id := range ids {
		receipt := parse[erasedBody](t, b.want(200, "DELETE", erase(id), ""))
		if receipt.UserID != id || receipt.Deleted != (db.Erased{Memories: 1, Events: 1, Announcements: 1, Vectors: 1}) {
			t.Errorf("%q: %+v", id, receipt)
		}
		for _, other := range ids[i+1:] {
			if n, err := b.vectors.CountOwner(t.Context(), owner(other)); err != nil || n != 1 {
				t.Fatalf("after %q was erased %q has %d vectors, %v", id, other, n, err)
			}
		}
	}
	for _, id := range []string{"\x00", "a\nb", "\u0085", "\xff", strings.Repeat("x", 257), strings.Repeat("中", 86)} {
		b.wantPaths("DELETE", erase(id), "", "path.user_id")
	}
	b.wantPaths("DELETE", "/v1/users/u?dry_run=true", "", "query.dry_run")
}

// While a store is away the user is as good as erased and writes are refused.
func TestEraseWhileTheVectorStoreIsAway(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	turn := b.accept("u", "", "I live in Lisbon.")
	b.must(b.store.FailTurn(t.Context(), turn.ID, 1, "bad", b.now(), nil))
	kept := b.peanuts()
	b.must(b.vectors.Close())
	if w := b.want(http.StatusServiceUnavailable, "DELETE", "/v1/users/u", ""); w.Header().Get("Retry-After") != "30" {
		t.Errorf("try again after %q seconds", w.Header().Get("Retry-After"))
	}
	b.want(http.StatusNotFound, "GET", "/v1/memories/"+kept.ID, "")
	for target, body := range map[string]string{"/v1/turns": aTurn, "/v1/memories": `{"user_id":"u","content":"Likes tea."}`} {
		if w := b.send("POST", target, body); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "being erased") {
			t.Errorf("POST %s: %d %s", target, w.Code, w.Body)
		}
	}
	batch := b.want(200, "POST", "/v1/memories/batch", `{"memories":[{"user_id":"u","content":"Likes tea."}]}`)
	if !strings.Contains(batch.Body.String(), "being erased") {
		t.Errorf("a batch: %s", batch.Body)
	}
	b.want(http.StatusServiceUnavailable, "DELETE", "/v1/users/u", "")
	if jobs := b.want(200, "GET", "/v1/jobs?kind=erase_user", ""); !strings.Contains(jobs.Body.String(), "scheduled") || strings.Contains(jobs.Body.String(), `"u"`) {
		t.Errorf("the job that goes on: %s", jobs.Body)
	}
	err := b.store.InUser(t.Context(), owner("v"), func(context.Context, db.UserTx) error { return nil })
	if errors.Is(err, db.ErrErasing) {
		t.Error("another user is marked, too")
	}
}
