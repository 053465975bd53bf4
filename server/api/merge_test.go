package api

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"hippocampus/ingest"
)

func TestMerge_MovesAUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.accept("visitor", "turn-1", "I live in Lisbon.")
	f.keep(ingest.Write{Owner: owner("visitor"), Content: "Likes peanuts."})
	f.keep(ingest.Write{Owner: owner("ada"), Content: "Likes tea."})
	f.want(http.StatusForbidden, "POST", "/v1/users/visitor/merge", `{"into":"ada"}`, "Authorization", "Bearer write")
	receipt := fetch[mergedUserBody](f, 200, "POST", "/v1/users/visitor/merge", `{"into":"ada"}`)
	if receipt.UserID != "visitor" || receipt.Into != "ada" || receipt.Moved.Memories != 1 || receipt.Moved.Turns != 1 {
		t.Errorf("the receipt: %+v", receipt)
	}
	if again := fetch[mergedUserBody](f, 200, "POST", "/v1/users/visitor/merge", `{"into":"ada"}`); again != receipt {
		t.Errorf("the second receipt: %+v", again)
	}
	for user, want := range map[string]int{"visitor": 0, "ada": 2} {
		if got := fetch[struct{ Memories []recalledBody }](f, 200, "POST", "/v1/recall",
			`{"user_id":"`+user+`","query":"peanuts and tea"}`); len(got.Memories) != want {
			t.Errorf("%s recalls %d memories, want %d", user, len(got.Memories), want)
		}
	}
}

func TestMerge_RefusesWrongUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.keep(ingest.Write{Owner: owner("a"), Content: "of a"})
	f.keep(ingest.Write{Owner: owner("b"), Content: "of b"})
	f.wantPaths("POST", "/v1/users/a/merge", `{"into":"a"}`, "into")
	f.wantPaths("POST", "/v1/users/a/merge", `{"into":""}`, "into")
	f.wantPaths("POST", "/v1/users/a/rename", `{"to":"`+strings.Repeat("x", 257)+`"}`, "to")
	if w := f.want(http.StatusConflict, "POST", "/v1/users/a/rename", `{"to":"b"}`); !strings.Contains(
		w.Body.String(), "exists already") {
		t.Errorf("a rename to a user who exists: %s", w.Body)
	}
	for _, id := range []string{"a/b", "%", `" or user_id != "`, "用户", "{id}", "🧠"} {
		receipt := fetch[mergedUserBody](f, 200, "POST", "/v1/users/a/rename", `{"to":`+strconv.Quote(id)+`}`)
		if receipt.Into != id || receipt.Moved.Memories != 1 {
			t.Errorf("%q: %+v", id, receipt)
		}
		back := fetch[mergedUserBody](f, 200, "POST", erase(id)+"/rename", `{"to":"a"}`)
		if back.UserID != id || back.Moved.Memories != 1 {
			t.Errorf("%q: %+v", id, back)
		}
	}
}
