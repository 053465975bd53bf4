package mem0_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMount_TakesAMemoryThroughItsLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	same(t, "ping", f.want("GET", "/mem0/v1/ping/", nil).raw,
		`{"org_id":"mine","project_id":"mine","status":"ok","user_email":null}`+"\n")

	id := f.store("ada", "Lives in Lisbon.", map[string]any{
		"agent_id": "tutor", "run_id": "chat-1", "app_id": "mine", "metadata": map[string]any{"source": "form"},
		"timestamp": 1769846400, "field_of_another_release": []any{1},
	})
	want := f.want("GET", "/v1/memories/"+id, nil).object
	got := f.want("GET", "/mem0/v1/memories/"+id+"/", nil).object
	for name, of := range map[string]string{
		"id": "id", "memory": "content", "user_id": "user_id", "agent_id": "agent_id", "run_id": "conversation_id",
		"metadata": "metadata", "categories": "tags", "created_at": "created_at", "updated_at": "updated_at", "type": "type",
	} {
		same(t, name, got[name], want[of])
	}
	same(t, "app_id", got["app_id"], "mine")
	same(t, "created_at", got["created_at"], "2026-01-31T08:00:00Z")

	search := map[string]any{"query": "Where does she live?", "filters": map[string]any{"user_id": "ada"}, "top_k": 5}
	recalled := f.want("POST", "/v1/recall", map[string]any{
		"user_id": "ada", "query": "Where does she live?", "limit": 5, "min_confidence": 0.1, "touch": false,
	}).object
	best := field(t, f.want("POST", "/mem0/v3/memories/search/", search).object, "results", 0).(map[string]any)
	same(t, "found", best["id"], id)
	same(t, "score", best["score"], field(t, recalled, "memories", 0, "confidence"))
	same(t, "semantic", field(t, best, "score_breakdown", "semantic"), field(t, recalled, "memories", 0, "similarity"))
	search["threshold"] = 1
	same(t, "above the threshold", f.want("POST", "/mem0/v3/memories/search/", search).raw, `{"results":[]}`+"\n")

	changed := f.want("PUT", "/mem0/v1/memories/"+id+"/", map[string]any{"text": "Lives in Porto."}).object
	same(t, "changed", changed["memory"], "Lives in Porto.")
	same(t, "metadata", changed["metadata"], map[string]any{"source": "form"})
	same(t, "list", f.found(map[string]any{"user_id": "ada"}), "Lives in Porto.")

	same(t, "deleted", f.want("DELETE", "/mem0/v1/memories/"+id+"/", nil).raw,
		`{"message":"Memory deleted successfully!"}`+"\n")
	f.refused(f.send(f.write, "GET", "/mem0/v1/memories/"+id+"/", nil), 404, "no memory with this id")
	f.refused(f.send(f.write, "DELETE", "/mem0/v1/memories/"+id+"/", nil), 404, "no memory with this id")
	same(t, "list", f.found(map[string]any{"user_id": "ada"}), "")
	var events []string
	for _, e := range f.want("GET", "/mem0/v1/memories/"+id+"/history/", nil).list {
		event := e.(map[string]any)
		events = append(events, fmt.Sprint(event["event"], event["old_memory"], event["new_memory"]))
	}
	same(t, "history", events, []string{
		"ADD<nil>Lives in Lisbon.", "UPDATELives in Lisbon.Lives in Porto.", "DELETELives in Porto.<nil>",
	})
	same(t, "status in /v1", f.want("GET", "/v1/memories/"+id, nil).object["status"], "forgotten")
}

func TestAdd_SendsMessagesThroughTheGate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	body := map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": "I live in Lisbon.", "id": 7}},
		"filters":  map[string]any{"user_id": "ada", "run_id": "chat-1"},
	}
	a := f.want("POST", "/mem0/v3/memories/add/", body).object
	same(t, "status", a["status"], "PENDING")
	event := "/mem0/v1/event/" + a["event_id"].(string) + "/"
	var done map[string]any
	for deadline := time.Now().Add(longTime); done["status"] != "SUCCEEDED"; time.Sleep(10 * time.Millisecond) {
		done = f.want("GET", event, nil).object
		if time.Now().After(deadline) {
			t.Fatalf("the turn is not processed: %v", done)
		}
	}
	id := field(t, done, "results", 0, "id").(string)
	m := f.want("GET", "/mem0/v1/memories/"+id, nil).object
	same(t, "run_id", m["run_id"], "chat-1")
	same(t, "memory", m["memory"], field(t, done, "results", 0, "data", "memory"))
	listed := f.want("GET", "/mem0/v1/events/?page_size=1", nil).object
	same(t, "events", field(t, listed, "results", 0, "id"), a["event_id"])

	// The older APIs and mem0's own server answer once the messages are processed.
	body = map[string]any{"messages": "I work as a nurse.", "user_id": "ada"}
	same(t, "v1", field(t, f.want("POST", "/mem0/v1/memories/", body).list, 0, "event"), "ADD")
	body["messages"] = "My name is Ada Silva."
	same(t, "own", field(t, f.want("POST", "/mem0/memories", body).object, "results", 0, "event"), "ADD")
	body["async_mode"], body["output_format"] = true, "v1.1"
	a = f.want("POST", "/mem0/v1/memories", body).object
	same(t, "asynchronous", field(t, a, "results", 0, "status"), "PENDING")
}

func TestList_HasPagesAndAliases(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 5 {
		f.store("ada", fmt.Sprintf("Likes number %d.", i), map[string]any{"timestamp": 1769846400 + i})
	}
	f.store("bob", "Likes tea.", map[string]any{"timestamp": 1769846402})
	filters := map[string]any{"filters": map[string]any{"user_id": "ada"}}
	first := f.want("POST", "/mem0/v3/memories/?page=1&page_size=2", filters).object
	same(t, "first", texts(first["results"]), "Likes number 4.|Likes number 3.")
	same(t, "count", first["count"], 5)
	same(t, "previous", first["previous"], nil)
	second := f.want("POST", first["next"].(string), filters).object
	same(t, "second", texts(second["results"]), "Likes number 2.|Likes number 1.")
	same(t, "previous", second["previous"], "/mem0/v3/memories/?page=1&page_size=2")
	filters["page"], filters["page_size"] = 3, 2
	last := f.want("POST", "/mem0/v3/memories/", filters).object
	same(t, "last", texts(last["results"]), "Likes number 0.")
	same(t, "next", last["next"], nil)

	both := map[string]any{"user_id": map[string]any{"in": []string{"bob", "ada"}}}
	if got := f.found(both); !strings.HasPrefix(got, "Likes number 4.|Likes number 3.|") || !strings.Contains(got, "tea") {
		t.Errorf("two users: %s", got)
	}
	for _, path := range []string{
		"/mem0/v1/memories/?user_id=bob", "/mem0/memories?user_id=bob&top_k=3", "/mem0/v1/memories?user_id=bob&page=1",
	} {
		a := f.want("GET", path, nil)
		if path[6] == 'v' && a.list != nil {
			same(t, path, texts(a.list), "Likes tea.")
		} else {
			same(t, path, texts(a.object["results"]), "Likes tea.")
		}
	}
	query := map[string]any{"query": "What does he like?", "user_id": "bob"}
	same(t, "v1", texts(any(f.want("POST", "/mem0/v1/memories/search/", query).list)), "Likes tea.")
	same(t, "own", texts(f.want("POST", "/mem0/search", query).object["results"]), "Likes tea.")
	query["output_format"] = "v1.1"
	same(t, "v1.1", texts(f.want("POST", "/mem0/v2/memories/search/", query).object["results"]), "Likes tea.")

	f.want("DELETE", "/mem0/v1/memories/?user_id=ada", nil)
	same(t, "after delete_all", f.found(both), "Likes tea.")
}

func TestBatch_ChangesSeveral(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tea, jam := f.store("ada", "Likes tea.", nil), f.store("ada", "Likes jam.", map[string]any{
		"metadata": map[string]any{"n": 1},
	})
	a := f.want("PUT", "/mem0/v1/batch/", map[string]any{"memories": []any{
		map[string]any{"memory_id": tea, "text": "Likes coffee."}, map[string]any{"memory_id": "unknown", "text": "x"},
	}})
	same(t, "updated", a.object["message"], "Successfully updated 1 memories")
	same(t, "failed", field(t, a.object, "errors", 0, "memory_id"), "unknown")
	same(t, "list", f.found(map[string]any{"user_id": "ada"}), "Likes jam.|Likes coffee.")

	f.want("POST", "/mem0/v1/feedback/", map[string]any{
		"memory_id": jam, "feedback": "NEGATIVE", "feedback_reason": "too sweet",
	})
	same(t, "feedback", f.want("GET", "/v1/memories/"+jam, nil).object["metadata"],
		map[string]any{"n": 1, "feedback": "NEGATIVE", "feedback_reason": "too sweet"})
	same(t, "counted", f.want("GET", "/v1/memories/"+jam, nil).object["feedback"],
		map[string]any{"used": 0, "irrelevant": 1, "wrong": 0})
	f.want("POST", "/mem0/v1/feedback/", `{"memory_id":"`+jam+`","feedback":null,"feedback_reason":null}`)
	same(t, "feedback", f.want("GET", "/v1/memories/"+jam, nil).object["metadata"], map[string]any{"n": 1})
	same(t, "counted", f.want("GET", "/v1/memories/"+jam, nil).object["feedback"], nil)
	f.refused(f.send(f.write, "POST", "/mem0/v1/feedback/", map[string]any{"memory_id": jam, "feedback": "GOOD"}), 400,
		"feedback must be null or one of POSITIVE")

	both := map[string]any{"memories": []any{map[string]any{"memory_id": tea}, map[string]any{"memory_id": jam}}}
	same(t, "deleted", f.want("DELETE", "/mem0/v1/batch/", both).object["message"], "Successfully deleted 2 memories")
	same(t, "list", f.found(map[string]any{"user_id": "ada"}), "")
	f.refused(f.send(f.stranger, "DELETE", "/mem0/v1/batch/", both), 404, "no memory was deleted: there is no memory")
}

func TestEntities_AreUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, user := range []string{"ada", "bob", "a/b", "bob"} {
		f.store(user, "Likes tea.", nil)
	}
	list := f.want("GET", "/mem0/v1/entities/?page=2&page_size=2", nil).object
	same(t, "count", list["count"], 3)
	same(t, "second page", field(t, list, "results", 0, "name"), "bob")
	same(t, "memories", field(t, list, "results", 0, "total_memories"), 2)
	same(t, "previous", list["previous"], "/mem0/v1/entities/?page=1&page_size=2")
	same(t, "own", field(t, f.want("GET", "/mem0/entities", nil).list, 1, "id"), "ada")

	f.refused(f.send(f.write, "DELETE", "/mem0/v2/entities/user/ada/", nil), 403, "role admin")
	f.refused(f.send(f.admin, "DELETE", "/mem0/v2/entities/agent/x/", nil), 501, "agent_id=x")
	f.refused(f.send(f.admin, "DELETE", "/mem0/v2/entities/city/x/", nil), 404, "type of entity")
	if a := f.send(f.stranger, "DELETE", "/mem0/v2/entities/user/ada/", nil); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	same(t, "after another app's deletion", f.found(map[string]any{"user_id": "ada"}), "Likes tea.")
	if a := f.send(f.admin, "DELETE", "/mem0/v2/entities/user/a%2Fb/", nil); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	same(t, "left", f.want("GET", "/mem0/v1/entities/", nil).object["count"], 2)
	f.refused(f.send(f.write, "POST", "/mem0/reset", nil), 403, "role admin")
	if a := f.send(f.admin, "POST", "/mem0/reset", nil); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	same(t, "left", f.want("GET", "/mem0/v1/entities/", nil).object["count"], 0)
}
