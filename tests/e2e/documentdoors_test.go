package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Documents belong to one user of one app, and every door for writes holds for them.
func TestDocuments_PassEveryDoor(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		id := s.call("POST", "/v1/documents", give("handbook", leave), 201).body["id"].(string)
		other := s.call("POST", "/v1/documents", object{"user_id": "eve", "id": "handbook", "content": "Other."}, 201)
		if other.body["id"] == id || strings.Contains(s.recalled("eve", "How much holiday?"), "28") {
			t.Errorf("another user's document: %s", other.raw)
		}
		admin := s.key
		s.key = s.createKey("--app", "other", "--role", "admin")
		s.call("GET", "/v1/documents/"+id, nil, 404)
		s.call("DELETE", "/v1/documents/"+id, nil, 404)
		if listed := s.call("GET", "/v1/documents?user_id=ada", nil, 200).list("documents"); len(listed) != 0 {
			t.Errorf("another app lists %v", listed)
		}
		s.key = s.createKey("--app", "default", "--role", "write", "--user", "eve")
		s.call("GET", "/v1/documents/"+id, nil, 404)
		s.call("POST", "/v1/documents/"+id+"/restore", nil, 404)
		s.call("POST", "/v1/documents", give("x", "Mine."), 403)
		s.key = admin

		for field, value := range map[string]any{
			"title": "a\u001b[31m", "url": "javascript:alert(1)", "content_type": "application/pdf", "id": "a\nb",
			"metadata": object{"document_id": 1}, "content": " \n ", "tags": make([]string, 33),
		} {
			wrong := give("wrong", leave)
			wrong[field] = value
			if r := s.call("POST", "/v1/documents", wrong, 400); !strings.Contains(r.raw, field) {
				t.Errorf("%s: %s", field, r.raw)
			}
		}
		page := func(content string) object {
			return object{"user_id": "ada", "id": "page", "content_type": "text/html", "content": content}
		}
		for _, empty := range []string{"<script>a</script>", "<nav>" + leave, strings.Repeat("<div>", 100_000)} {
			s.call("POST", "/v1/documents", page(empty), 400)
		}
		var sections strings.Builder
		for i := range 2001 {
			fmt.Fprintf(&sections, "<h2>%d</h2>a", i)
		}
		if r, err := s.try("POST", "/v1/documents", page(sections.String())); err != nil || r.status != 400 {
			t.Errorf("too many passages: %v %.200s", err, r.raw)
		}
		if r, err := s.try("POST", "/v1/documents", page(strings.Repeat("a ", 1<<20))); err != nil || r.status != 400 {
			t.Errorf("a long content: %v %.200s", err, r.raw)
		}
		s.call("POST", "/v1/documents", page(strings.Repeat("<b>", 100_000)+"deep\u0000</table></p>"), 201)

		hidden := s.call("POST", "/v1/documents", page("The key is sk-proj-<b>Ab3dEf9hIj2kLm5nOp8qRs1tUv4wXy7z</b>0Q."), 201)
		if text := fmt.Sprint(s.passagesOf(hidden.body["id"])); strings.Contains(text, "Ab3dEf9h") {
			t.Errorf("a secret that a tag hides is kept: %s", text)
		}
		s.setPolicy(object{"never": object{"terms": []string{"hotel"}}})
		left := s.call("POST", "/v1/documents", give("handbook", leave+travel), 200, 201)
		if left.body["left_out"] != 1.0 || left.body["passage_count"] != 1.0 {
			t.Errorf("what the policy never keeps: %s", left.raw)
		}
		s.setMemory("ada", "off")
		s.call("POST", "/v1/documents", give("off", dogs), 409)
	})
}

// Documents follow an export, a clone, a rename, a merge and an erasure.
func TestDocuments_FollowTheirUser(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.call("POST", "/v1/documents", give("handbook", leave+travel), 201)
		s.call("POST", "/v1/documents", give("handbook", leave+travel2), 201)
		exported := s.exportOf(t, "ada")
		s.clone("ada", "bea")
		s.wantClone(t, "ada", "bea")
		if same := s.call("POST", "/v1/documents", func() object {
			d := give("handbook", leave+travel2)
			d["user_id"] = "bea"
			return d
		}(), 200); same.body["version"] != 2.0 {
			t.Errorf("sent to the clone: %s", same.raw)
		}
		s.call("POST", "/v1/users/bea/rename", object{"to": "cleo"}, 200)
		s.call("POST", "/v1/users/cleo/merge", object{"into": "ada"}, 200)
		if both := s.call("GET", "/v1/documents?user_id=ada", nil, 200).list("documents"); len(both) != 2 {
			t.Errorf("the documents after the merge: %v", both)
		}
		receipt := s.erase("ada")
		if deleted := receipt.body["deleted"].(map[string]any); deleted["documents"] != 2.0 {
			t.Errorf("the receipt: %s", receipt.raw)
		}
		if rows := s.rowsNaming("holiday"); len(rows) > 0 {
			t.Errorf("left: %v", rows)
		}
		head := `{"format":"hippocampus-export","version":2,"exported_at":"2026-01-01T00:00:00Z"}` + "\n"
		s.call("POST", "/v1/import", head+exported, 200)
		if again := s.exportOf(t, "ada"); again != exported {
			t.Errorf("the export is\n%s\nafter the import\n%s", exported, again)
		}
		if same := s.call("POST", "/v1/documents", give("handbook", leave+travel2), 200); same.body["kept"] != 2.0 {
			t.Errorf("sent again after the import: %s", same.raw)
		}
	})
}

// However often a document is sent, also at once and after a crash, it is there once.
func TestDocuments_AreThereOnce(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_API_MAX_INFLIGHT_WRITES=100")...) // no write is refused
		handbook, _ := readHandbook(t)
		var group sync.WaitGroup
		for i := range 6 {
			group.Go(func() {
				body := give("handbook", handbook)
				if i%2 == 1 {
					body["content"] = leave + travel
				}
				r, err := s.try("POST", "/v1/documents", body)
				if err != nil || r.status/100 != 2 && r.status != 409 {
					t.Errorf("sent at once: %v %s", err, r.raw)
				}
			})
		}
		group.Wait()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = s.try("POST", "/v1/documents", give("crash", handbook)) // the crash may come before, amid or after it
		}()
		s.kill()
		<-sent
		s.run()
		s.call("POST", "/v1/documents", give("handbook", handbook), 200, 201)
		last := s.call("POST", "/v1/documents", give("crash", handbook), 200, 201)
		want := 2 * int(last.body["passage_count"].(float64))
		if active := s.everything("ada"); len(active) != want {
			t.Errorf("%d memories are active, want %d", len(active), want)
		}
	})
}
