package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// A memory is recalled by the next request after its 201, although Milvus searches
// at Bounded consistency, as in production.
func TestRecall_ReadsOwnWrites(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		times := 150
		if long {
			times = 500
		}
		for i := range times {
			user := fmt.Sprintf("user-%d", i%7)
			id := s.call("POST", "/v1/memories", object{
				"user_id": user, "content": fmt.Sprintf("codeword number%d belongs to box%d", i, i*31),
			}, 201).body["id"]
			r := s.call("POST", "/v1/recall", object{
				"user_id": user, "query": fmt.Sprintf("codeword number%d box%d", i, i*31), "limit": 3, "route": false,
			}, 200)
			if found := r.list("memories"); len(found) == 0 || found[0]["id"] != id {
				t.Fatalf("write %d: %v is not recalled by the next request: %s", i, id, r.raw)
			}
		}
		var users []string
		for i := range 7 {
			users = append(users, fmt.Sprintf("user-%d", i))
		}
		s.storesEqual(builtin, users...)
	})
}

// The same fact written from two replicas at once is one memory.
func TestDedup_ReplicasKeepOneFact(t *testing.T) {
	t.Parallel()
	size := sizes[1]
	settings := size.settings(t)
	a, b := start(t, settings...), start(t, settings...)
	for round := range 10 {
		user := fmt.Sprintf("user-%d", round)
		var ids [4]any
		var group sync.WaitGroup
		for i := range ids {
			group.Go(func() {
				replica := []*server{a, b}[i%2]
				r, err := replica.try("POST", "/v1/memories", object{
					"user_id": user, "content": "I am allergic to peanuts", "dedup": true,
				})
				if err != nil || r.status/100 != 2 {
					t.Errorf("write: %v %s", err, r.raw)
					return
				}
				ids[i] = r.body["id"]
			})
		}
		group.Wait()
		if n := a.active(user); len(n) != 1 || ids != [4]any{n[0], n[0], n[0], n[0]} {
			t.Errorf("%s has memories %v; the writes returned %v", user, n, ids)
		}
	}
}

func TestMemory_LifeCycle(t *testing.T) {
	onEachSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		created := s.call("POST", "/v1/memories", object{
			"user_id": "ada", "content": "Ada lives in Beijing", "importance": 0.8, "domain": "lifestyle_and_interests",
			"metadata": object{"source": "form"}, "at": "2025-01-02T03:04:05Z",
		}, 201)
		path := "/v1/memories/" + created.body["id"].(string)
		if created.body["created_at"] != "2025-01-02T03:04:05Z" {
			t.Errorf("backdated to %v", created.body["created_at"])
		}
		recalls := func(query string) []string {
			return contents(
				s.call("POST", "/v1/recall", object{"user_id": "ada", "query": query, "route": false}, 200).list("memories"))
		}

		s.call("PATCH", path, object{"content": "Ada lives in Shanghai", "pinned": true}, 200)
		if got := recalls("Where does Ada live?"); !slices.Equal(got, []string{"Ada lives in Shanghai"}) {
			t.Errorf("after a change %v", got)
		}
		s.call("DELETE", path, nil, 200)
		if got := recalls("Where does Ada live?"); len(got) != 0 {
			t.Errorf("recall returns a forgotten memory: %v", got)
		}
		s.storesEqual(builtin, "ada")
		s.call("PATCH", path, object{"content": "Ada lives in Paris"}, 409)
		s.call("POST", path+"/restore", nil, 200)
		if got := recalls("Where does Ada live?"); !slices.Equal(got, []string{"Ada lives in Shanghai"}) {
			t.Errorf("after restoring %v", got)
		}
		s.storesEqual(builtin, "ada")

		var kinds []string
		for _, e := range s.call("GET", path+"/history", nil, 200).list("events") {
			kinds = append(kinds, e["kind"].(string))
		}
		if !slices.Equal(kinds, []string{"created", "updated", "forgotten", "restored"}) {
			t.Errorf("history %v", kinds)
		}
	})
}

func TestBatch_AnswersEachWrite(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		var batch []object
		for i := range 300 {
			batch = append(batch, object{"user_id": fmt.Sprintf("user-%d", i%3), "content": fmt.Sprintf("note number %d", i)})
		}
		batch[7]["content"] = ""
		batch[9]["importance"] = 1.5
		results := s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200).list("results")
		for i, r := range results {
			if bad := i == 7 || i == 9; bad != (r["error"] != nil) || bad == (r["id"] != nil) {
				t.Errorf("result %d: %v", i, r)
			}
		}
		s.storesEqual(builtin, "user-0", "user-1", "user-2")
		if n := len(s.active("user-0")) + len(s.active("user-1")) + len(s.active("user-2")); n != 298 {
			t.Errorf("%d memories, want 298", n)
		}
	})
}
