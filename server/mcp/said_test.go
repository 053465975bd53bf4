package mcp_test

import (
	"net/http"
	"strings"
	"testing"
)

// v1 sends a body to a route of /v1 as a writing key.
func (f *fixture) v1(method, path, body string) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	f.must(err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+f.write)
	response, err := f.client.Do(request)
	f.must(err)
	f.must(response.Body.Close())
	if response.StatusCode >= http.StatusMultipleChoices {
		f.t.Fatalf("%s %s: status %d", method, path, response.StatusCode)
	}
}

// Texts state days in the user's zone, as contexts do.
func TestTools_StateTheDaysOfTheUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	c := f.connect(f.write, "")
	where := args{"user_id": "ada", "query": "Where does Ada live?"}
	for _, at := range []string{"2026-01-31T22:30:00Z", "2026-03-05T20:00:00Z"} {
		f.v1("POST", "/v1/memories", `{"user_id":"ada","content":"Lives in Lisbon.","dedup":true,"at":"`+at+`"}`)
	}
	text, listed := c.call("list_memories", args{"user_id": "ada"})
	contains(t, text, "Lives in Lisbon. (fact, 2026-01-31, last said 2026-03-05)")
	f.v1("PUT", "/v1/users/ada", `{"time_zone":"Asia/Tokyo"}`)
	text, _ = c.call("list_memories", args{"user_id": "ada"})
	contains(t, text, "Lives in Lisbon. (fact, 2026-02-01, last said 2026-03-06)")
	text, _ = c.call("search_memories", where)
	contains(t, text, "Lives in Lisbon. (fact, 2026-02-01, last said 2026-03-06, confidence ")
	text, _ = c.call("get_memory_history", args{"memory_id": listed.Memories[0].ID})
	contains(t, text, "+09:00 created (api)")
	text, _ = c.call("update_memory", args{"memory_id": listed.Memories[0].ID, "importance": 1})
	contains(t, text, "Changed: ", "(fact, 2026-02-01")
	text, _ = c.call("add_memory", args{"user_id": "ada", "content": "Has a dentist.", "expires_at": "2027-05-03"})
	contains(t, text, "Has a dentist. (fact, ", ", until 2027-05-03)")
	text, listed = c.call("search_memories", args{"user_id": "ada", "query": "dentist"})
	contains(t, text, ", until 2027-05-03, confidence ")
	id := listed.Memories[0].ID
	text, _ = c.call("update_memory", args{"memory_id": id, "expires_at": "2020-01-31T12:00:00Z"})
	contains(t, text, ", until 2020-01-31)")
	text, _ = c.call("list_memories", args{"user_id": "ada"})
	contains(t, text, "Has a dentist. (fact, ", ", until 2020-01-31)")
	text, _ = c.call("search_memories", args{"user_id": "ada", "query": "dentist"})
	if strings.Contains(text, "Has a dentist.") {
		t.Errorf("what has ended is found: %s", text)
	}
	if text, _ = c.call("update_memory", args{"memory_id": id, "expires_at": ""}); strings.Contains(text, "until") {
		t.Errorf("with its end removed: %s", text)
	}
	contains(t, c.refused("update_memory", args{"memory_id": id, "expires_at": "May"}), "expires_at")
}

// A tool names the secrets that were cut out of its arguments, and a context says how much did not fit.
func TestTools_NameWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	c := f.connect(f.write, "")
	const notice = "\nA secret (password) was cut out of content: [secret] stands in its place."
	text, added := c.call("add_memory", args{"user_id": "ada", "content": "My password is Tr0ub4dor&3x!"})
	contains(t, text, "Remembered: ", "My password is [secret]", notice)
	text, _ = c.call("update_memory", args{"memory_id": added.Memory.ID, "content": "The password is Xk9#mQ2$vL"})
	contains(t, text, "Changed: ", notice)

	for _, content := range []string{
		"Lives in Lisbon near the river.", "Lives with a dog called Pixel.", "Lives on tea.",
	} {
		c.call("add_memory", args{"user_id": "bob", "content": content})
	}
	ask := args{"user_id": "bob", "query": "How does Bob live?", "max_tokens": 25}
	text, short := c.call("get_context", ask)
	contains(t, text, " more that is known did not fit: a larger max_tokens has room for more.\n")
	if len(short.LeftOut) == 0 || short.LeftOut[0].Part != "memories" || short.LeftOut[0].Reason != "no room" {
		t.Errorf("left out %+v", short.LeftOut)
	}
	delete(ask, "max_tokens")
	text, whole := c.call("get_context", ask)
	if strings.Contains(text, "did not fit") || len(whole.LeftOut) > 0 {
		t.Errorf("with room for all: %s", text)
	}
}

// A tool names the arguments with characters that cannot be stored, over HTTP and by stdio.
func TestTools_NameWhatIsCleaned(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	c := f.connect(f.write, "")
	const notice = "\nIn content, 1 characters could not be stored: U+FFFD stands in the place of each."
	text, added := c.call("add_memory", args{"user_id": "ada", "content": "I own a drum\x00."})
	contains(t, text, "Remembered: ", "I own a drum\uFFFD.", notice)
	if len(added.Cleaned) != 1 || added.Cleaned[0].Path != "content" || added.Cleaned[0].Count != 1 {
		t.Errorf("cleaned %+v", added.Cleaned)
	}
	change := args{"memory_id": added.Memory.ID, "content": "I own two drums\x00."}
	text, _ = c.call("update_memory", change)
	contains(t, text, "Changed: ", notice)
	change["content"] = "I own three drums."
	text, whole := c.call("update_memory", change)
	if strings.Contains(text, "U+FFFD") || len(whole.Cleaned) > 0 {
		t.Errorf("a whole text: %s", text)
	}
}
