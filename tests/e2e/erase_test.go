package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hippocampus/vectorstore/milvus/milvustest"
)

// A user is erased from every store, another user with a similar name is not, and
// the erased user can be written again.
func TestErasure_RemovesUserFromEveryStore(t *testing.T) {
	onEachSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for _, user := range []string{"a/da", "a"} {
			s.call("POST", "/v1/turns", turn(user, "I work as a marine biologist in Lisbon."), 200)
			s.call("POST", "/v1/memories", object{"user_id": user, "content": "Likes tea."}, 201)
		}
		s.call("POST", "/v1/recall", object{"user_id": "a/da", "query": "Where does Ada work?"}, 200)
		eventually(t, "all vectors in the store", func() string {
			if n := len(s.records(builtin)); n != 6 {
				return fmt.Sprintf("%d records", n)
			}
			return ""
		})
		r := s.erase("a/da")
		deleted, _ := r.body["deleted"].(map[string]any)
		if r.body["user_id"] != "a/da" || r.body["verified"] != true || deleted["memories"] != 3.0 ||
			deleted["turns"] != 1.0 ||
			deleted["vectors"] != 3.0 {
			t.Errorf("receipt %s", r.raw)
		}
		for _, record := range s.records(builtin) {
			if record.UserID != "a" {
				t.Errorf("remaining records of the user: %+v", record)
			}
		}
		if r := s.call("POST", "/v1/recall", object{"user_id": "a/da", "query": "Where does Ada work?"}, 200); len(
			r.list("memories")) != 0 {
			t.Errorf("recalled after the erasure: %s", r.raw)
		}
		if r := s.erase("a/da"); !strings.Contains(r.raw, `"memories":0`) {
			t.Errorf("second receipt %s", r.raw)
		}
		s.call("POST", "/v1/turns", turn("a/da", "I work as a nurse in Porto."), 200)
		if n := len(s.active("a/da")); n != 1 {
			t.Errorf("%d memories of the user after a new write", n)
		}
		s.storesEqual(builtin, "a", "a/da")
	})
}

// During a Milvus outage an erasure deletes the rows, and writes are refused, even if the
// server is killed. Afterwards the receipt counts everything.
func TestErasure_FinishesAfterMilvusOutage(t *testing.T) {
	t.Parallel()
	proxy := newProxy(t, milvustest.Addr(t))
	s := start(t, slices.Concat(large(t, proxy.Listen), impatient, unwaiting)...)
	s.call("POST", "/v1/turns", turn("ada", "I work as a marine biologist in Lisbon."), 200)
	eventually(t, "the fact and its message in Milvus", func() string {
		if n := len(s.records(builtin)); n != 2 {
			return fmt.Sprintf("%d records", n)
		}
		return ""
	})
	cut(t, proxy)
	if r := s.call("DELETE", "/v1/users/ada", nil, 503); r.header.Get("Retry-After") == "" {
		t.Errorf("no Retry-After: %v", r.header)
	}
	if n := len(s.active("ada")); n != 0 {
		t.Errorf("%d memories are left", n)
	}
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Likes tea."}, 409)
	s.call("POST", "/v1/turns", turn("ada", "I like skiing."), 409)
	s.call("POST", "/v1/memories", object{"user_id": "eve", "content": "Likes tea."}, 201)
	reconnect(t, proxy)
	s.kill()
	s.run()
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Likes tea."}, 409)
	receipt := s.erase("ada")
	if deleted, _ := receipt.body["deleted"].(map[string]any); deleted["memories"] != 2.0 || deleted["turns"] != 1.0 ||
		deleted["vectors"] != 2.0 {
		t.Errorf("receipt %s", receipt.raw)
	}
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Likes tea."}, 201)
	s.storesEqual(builtin, "ada", "eve")
}
