package mem0_test

import (
	"fmt"
	"slices"
	"testing"
)

// A message may have a time of its own. A value that is not a time is ignored, since mem0 has no such field.
func TestAdd_KeepsTheTimesOfMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := func(content string, timestamp any) map[string]any {
		return map[string]any{"role": "user", "content": content, "timestamp": timestamp}
	}
	body := map[string]any{
		"user_id": "ada", "timestamp": 1769846400, "messages": []any{
			said("I planted seven tulips.", "2025-03-01T22:30:00-08:00"),
			said("I sold the red bicycle.", 1748736000),
			said("I painted the kitchen.", 1751328000000),
			said("I fixed the roof.", "quarter past ten"),
			said("I cleaned the cellar.", nil),
		},
	}
	const turn = "2026-01-31T08:00:00Z" // 1769846400
	want := []string{
		"2025-03-02T06:30:00Z I planted seven tulips.", "2025-06-01T00:00:00Z I sold the red bicycle.",
		"2025-07-01T00:00:00Z I painted the kitchen.", turn + " I cleaned the cellar.", turn + " I fixed the roof.",
	}
	for user, infer := range map[string]bool{"ada": true, "bob": false} {
		body["user_id"], body["infer"] = user, infer
		f.want("POST", "/mem0/memories", body)
		var got []string
		filters := map[string]any{
			"filters": map[string]any{"user_id": user}, "fields": []string{"memory", "created_at", "type"},
		}
		for _, m := range f.want("POST", "/mem0/v3/memories/", filters).object["results"].([]any) {
			m := m.(map[string]any)
			if infer == (m["type"] == "message") {
				got = append(got, fmt.Sprint(m["created_at"], " ", m["memory"]))
			}
		}
		slices.Sort(got)
		same(t, fmt.Sprintf("the memories with infer=%v", infer), got, want)
	}
	zone := f.want("GET", "/v1/users/ada", nil).object
	same(t, "the offset of the user", zone["last_offset"], "-08:00")
}

// The answer to an addition names the secrets that were cut out, and what is not remembered.
func TestAdd_NamesWhatIsNotKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const secret = "My password is Tr0ub4dor&3x!"
	body := map[string]any{"user_id": "ada", "messages": []any{
		map[string]any{"role": "system", "content": "Be brief."}, map[string]any{"role": "user", "content": secret},
	}}
	a := f.want("POST", "/mem0/memories", body)
	same(t, "left out", a.object["left_out"], []any{map[string]any{"message": 0, "reason": "role", "characters": 8}})
	cut := []any{map[string]any{"kind": "password", "path": "messages[1].content"}}
	same(t, "secrets of a turn", a.object["secrets"], cut)

	events := f.want("GET", "/mem0/v1/events/", nil).object
	event := f.want("GET", "/mem0/v1/event/"+field(t, events, "results", 0, "id").(string)+"/", nil).object
	same(t, "left out of the event", event["left_out"], a.object["left_out"])
	queued := f.want("POST", "/mem0/v3/memories/add/", body).object
	same(t, "secrets of a queued turn", queued["secrets"], cut)

	body["infer"] = false
	same(t, "secrets of memories", f.want("POST", "/mem0/v3/memories/add/", body).object["secrets"], cut)
	id := f.store("ada", "Likes tea.", nil)
	changed := f.want("PUT", "/mem0/v1/memories/"+id+"/", map[string]any{"text": secret}).object
	same(t, "secrets of an update", changed["secrets"], []any{map[string]any{"kind": "password", "path": "text"}})
	same(t, "the text", changed["memory"], "My password is [secret]!")
}

// The answer to a write names the texts with characters that cannot be stored, by their paths in the request.
func TestWrites_NameWhatIsCleaned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	cleaned := func(path string) []any { return []any{map[string]any{"path": path, "count": 1}} }
	for _, infer := range []string{"true", "false"} {
		body := `{"user_id":"ada","infer":` + infer + `,"messages":[
			{"role":"user","content":"I own a kayak."},{"role":"user","content":"I own a drum\u0000."}]}`
		for _, path := range []string{"/mem0/memories", "/mem0/v3/memories/add/"} {
			same(t, path, f.want("POST", path, body).object["cleaned"], cleaned("messages[1].content"))
		}
	}
	text := f.want("POST", "/mem0/memories", `{"user_id":"ada","messages":"I own a boat\ud83d."}`)
	same(t, "one text", text.object["cleaned"], cleaned("messages"))

	id := f.store("ada", "Likes tea.", nil)
	changed := f.want("PUT", "/mem0/v1/memories/"+id+"/", `{"text":"Likes tea\ud83d."}`).object
	same(t, "an update", changed["cleaned"], cleaned("text"))
	batch := f.want("PUT", "/mem0/v1/batch/", `{"memories":[{"memory_id":"`+id+
		`","text":"Likes milk\u0000. My password is Tr0ub4dor&3x!"}]}`).object
	same(t, "a batch", batch["cleaned"], cleaned("memories[0].text"))
	same(t, "secrets of a batch", batch["secrets"],
		[]any{map[string]any{"kind": "password", "path": "memories[0].text"}})
	whole := f.want("PUT", "/mem0/v1/memories/"+id+"/", `{"text":"Likes coffee."}`).object
	same(t, "a whole text", whole["cleaned"], nil)
}

// mem0's expiration date ends the shelf life of a memory, in each way in which it is given.
func TestExpirationDate_EndsWhatIsFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const past, ahead = "2020-05-03", "2199-05-03"
	for _, infer := range []bool{true, false} {
		for _, day := range []string{past, ahead} {
			f.want("POST", "/mem0/memories", map[string]any{
				"user_id": "u" + day, "messages": "I work for Maersk.", "infer": infer, "expiration_date": day,
			})
		}
	}
	for day, isFound := range map[string]bool{past: false, ahead: true} {
		query := map[string]any{"query": "Maersk", "filters": map[string]any{"user_id": "u" + day}, "threshold": 0}
		found := f.want("POST", "/mem0/v3/memories/search/", query).object["results"].([]any)
		if (len(found) > 0) != isFound {
			t.Errorf("%s: found %v", day, found)
		}
		query["show_expired"] = true
		if all := f.want("POST", "/mem0/v3/memories/search/", query).object["results"].([]any); len(all) == 0 {
			t.Errorf("%s: nothing is found with show_expired", day)
		}
		listed := f.want("GET", "/mem0/memories?user_id=u"+day, nil).object["results"].([]any)
		if (len(listed) > 0) != isFound {
			t.Errorf("%s: listed %v", day, listed)
		}
		all := f.want("GET", "/mem0/memories?show_expired=True&user_id=u"+day, nil).object["results"].([]any)
		if len(all) == 0 {
			t.Errorf("%s: nothing is listed with show_expired", day)
		}
		for _, m := range all {
			if got := field(t, m, "expiration_date"); got != day {
				t.Errorf("%s: listed with %v", day, got)
			}
		}
	}
}
