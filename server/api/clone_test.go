package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hippocampus/ingest"
)

func TestClone_CopiesAUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.keep(ingest.Write{Owner: owner("a"), Content: "Likes peanuts."})
	f.want(http.StatusForbidden, "POST", "/v1/users/a/clone", `{"into":"b"}`, "Authorization", "Bearer write")
	f.wantPaths("POST", "/v1/users/a/clone", `{"into":"a"}`, "into")
	f.wantPaths("POST", "/v1/users/a/clone", `{"into":""}`, "into")
	f.wantPaths("POST", "/v1/users/a/clone", `{"into":"`+strings.Repeat("x", 257)+`"}`, "into")
	for _, id := range []string{"a/b", "%", `" or user_id != "`, "用户", "{id}", "🧠", "../a"} {
		for round, want := range []int{1, 0} {
			receipt := fetch[clonedUserBody](f, 200, "POST", "/v1/users/a/clone", `{"into":`+strconv.Quote(id)+`}`)
			if receipt.Into != id || receipt.Copied["memories"] != want || receipt.Present["memories"] != 1-want {
				t.Errorf("%q, round %d: %+v", id, round, receipt)
			}
		}
		back := fetch[clonedUserBody](f, 200, "POST", erase(id)+"/clone", `{"into":"a"}`)
		if back.UserID != id || back.Copied["memories"] != 1 {
			t.Errorf("%q: back: %+v", id, back)
		}
		fetch[struct{}](f, 200, "DELETE", "/v1/users/a", "")
		f.keep(ingest.Write{Owner: owner("a"), Content: "Likes peanuts."})
	}
	nobody := fetch[clonedUserBody](f, 200, "POST", "/v1/users/nobody/clone", `{"into":"c"}`)
	if nobody.Copied["memories"] != 0 || nobody.Failed != 0 {
		t.Errorf("of nobody: %+v", nobody)
	}
}

// What exceeds a quota is in the receipt, and a later call copies it.
func TestClone_ObeysQuotas(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Memories = 5 })
	for i := range 3 {
		f.keep(ingest.Write{Owner: owner("a"), Content: fmt.Sprintf("I own %d boats.", i)})
		f.advance(time.Second)
	}
	receipt := fetch[clonedUserBody](f, 200, "POST", "/v1/users/a/clone", `{"into":"b"}`)
	if receipt.Copied["memories"] != 2 || receipt.Failed != 1 || len(receipt.Errors) != 1 ||
		!strings.Contains(receipt.Errors[0], "quotas.memories") {
		t.Errorf("the receipt: %+v", receipt)
	}
}
