package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// talk reports a turn with some messages, each as JSON.
func (f *fixture) talk(userID, id string, messages ...string) turnBody {
	f.t.Helper()
	w := f.want(http.StatusAccepted, "POST", "/v1/turns",
		fmt.Sprintf(`{"user_id":%q,"conversation_id":%q,"messages":[%s]}`, userID, id, strings.Join(messages, ",")))
	return parse[turnBody](f.t, w)
}

const hello = `{"role":"user","content":"Hello there"}`

type conversationAnswer struct {
	Conversation conversationBody
	Turns        []turnBody
	Next         string `json:"next_cursor"`
}

func TestConversations_BeginWithTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	first := f.talk("u", "c 1/ü", hello, `{"role":"tool","content":"42","name":"sum","kind":"tool_use",`+
		`"tags":["math"],"context":{"action_taken":true,"mentioned_me":false}}`)
	f.advance(time.Minute)
	second := f.talk("u", "c 1/ü", `{"role":"user","content":"bye","kind":"chat"}`)
	if first.FirstEvent != 1 || second.FirstEvent != 3 {
		t.Errorf("first events %d and %d, want 1 and 3", first.FirstEvent, second.FirstEvent)
	}
	path := "/v1/conversations/" + url.PathEscape("c 1/ü")
	got := fetch[conversationAnswer](f, http.StatusOK, "GET", path, "")
	want := conversationBody{
		ID: "c 1/ü", UserID: "u", Title: "Hello there", State: "open", Turns: 2, Events: 3, Tokens: 4, StartedAt: noon,
		LastAt: noon.Add(time.Minute), Memory: "on",
	}
	if diff := cmp.Diff(want, got.Conversation); diff != "" {
		t.Errorf("conversation (-want +got):\n%s", diff)
	}
	messages := []memory.Message{
		{Role: "user", Content: "Hello there", Tokens: 2},
		{Role: "tool", Content: "42", Name: "sum", Kind: memory.ToolUse, Tags: []string{"math"},
			Context: memory.MessageContext{ActionTaken: true}, Tokens: 1},
	}
	if len(got.Turns) != 2 || got.Turns[0].ID != first.ID || got.Next != "" {
		t.Fatalf("turns: %+v", got)
	}
	if diff := cmp.Diff(messages, got.Turns[0].Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	page := fetch[conversationAnswer](f, http.StatusOK, "GET", path+"?limit=1", "")
	if len(page.Turns) != 1 || page.Next != "2" {
		t.Fatalf("the first page: %+v", page)
	}
	page = fetch[conversationAnswer](f, http.StatusOK, "GET", path+"?limit=1&cursor="+page.Next, "")
	if len(page.Turns) != 1 || page.Turns[0].ID != second.ID {
		t.Errorf("the second page: %+v", page)
	}
	titled := fetch[conversationBody](f, http.StatusOK, "PATCH", path, `{"title":"Sums 和"}`)
	want.Title = "Sums 和"
	if titled != want {
		t.Errorf("titled: %+v", titled)
	}
}

func TestConversations_AreListed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ids := []string{strings.Repeat("长", 85), "b", "a.c", "a"}
	for _, id := range ids {
		f.talk("u", id, hello)
		f.advance(time.Second)
	}
	f.talk("another", "b", hello)
	ended, err := f.store.Conversation(t.Context(), "app", "u", "b")
	f.must(err)
	_, _, err = f.store.EndConversation(t.Context(), ended, noon, "client")
	f.must(err)
	list := func(query string) (got []string, next string) {
		t.Helper()
		page := fetch[struct {
			Conversations []conversationBody
			Next          string `json:"next_cursor"`
		}](f, http.StatusOK, "GET", "/v1/conversations?user_id=u"+query, "")
		for _, c := range page.Conversations {
			got = append(got, c.ID)
		}
		return got, page.Next
	}
	var all []string
	for cursor := ""; ; {
		got, next := list("&limit=1" + cursor)
		all = append(all, got...)
		if next == "" {
			break
		}
		cursor = "&cursor=" + next
	}
	if diff := cmp.Diff([]string{"a", "a.c", "b", ids[0]}, all); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if got, _ := list("&state=open"); len(got) != 3 {
		t.Errorf("open ones: %q", got)
	}
	if got, _ := list("&state=ended"); len(got) != 1 || got[0] != "b" {
		t.Errorf("ended ones: %q", got)
	}
}

// Two users may have the same conversation id, and then a request must name the user.
func TestConversations_RequireUserIfAmbiguous(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.talk("ada", "c", hello)
	f.talk("ben", "c", hello)
	f.issue("stranger", "other", memory.RoleAdmin)
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/v1/conversations/c", ""}, {"GET", "/v1/conversations/c/working", ""},
		{"PATCH", "/v1/conversations/c", `{"title":"x"}`}, {"DELETE", "/v1/conversations/c", ""},
	} {
		p := fetch[frame.Problem](f, http.StatusConflict, r.method, r.path, r.body)
		if !strings.Contains(p.Detail, "user_id") {
			t.Errorf("%s %s: %q does not say what to do", r.method, r.path, p.Detail)
		}
		f.want(http.StatusNotFound, r.method, r.path+"?user_id=carol", r.body)
		f.want(http.StatusNotFound, r.method, r.path, r.body, "Authorization", "Bearer stranger")
		f.want(http.StatusOK, r.method, r.path+"?user_id=ada", r.body)
	}
	f.want(http.StatusOK, "GET", "/v1/conversations/c", "") // only ben's is left
}

func TestConversations_DeleteTurnsAndCandidates(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	turn := f.talk("u", "c", hello, hello)
	f.want(http.StatusOK, "GET", "/v1/conversations/c/working", "")
	got := fetch[deletedConversationBody](f, http.StatusOK, "DELETE", "/v1/conversations/c", "")
	if got != (deletedConversationBody{ID: "c", UserID: "u", Turns: 1, Kept: keptMemories}) {
		t.Errorf("deleted: %+v", got)
	}
	f.want(http.StatusNotFound, "GET", "/v1/turns/"+turn.ID, "")
	for _, path := range []string{"/v1/conversations/c", "/v1/conversations/c/working"} {
		f.want(http.StatusNotFound, "GET", path, "")
	}
	f.want(http.StatusNotFound, "DELETE", "/v1/conversations/c", "")
	f.talk("u", "c", `{"role":"user","content":"anew"}`)
	working := fetch[workingBody](f, http.StatusOK, "GET", "/v1/conversations/c/working", "")
	if len(working.Events) != 1 || working.Events[0].Content != "anew" || working.Events[0].Number != 1 {
		t.Errorf("after it was deleted and started again: %+v", working.Events)
	}
}

func TestConversations_FilterWorkingMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.talk("u", "c", hello, `{"role":"tool","content":"boom","kind":"error","tags":["build","ci"]}`)
	f.advance(time.Minute)
	f.talk("u", "c", `{"role":"assistant","content":"seen","kind":"observation","tags":["ci"]}`,
		`{"role":"user","content":"Ada, look","context":{"mentioned_me":true,"direct_message":true}}`)
	get := func(query string) workingBody {
		return fetch[workingBody](f, http.StatusOK, "GET", "/v1/conversations/c/working?"+query, "")
	}
	whole := get("")
	if whole.Held != 4 || whole.Fill != 0.2 || whole.Conversation.Events != 4 {
		t.Errorf("held %d, filled %v of %+v", whole.Held, whole.Fill, whole.Conversation)
	}
	for query, want := range map[string][]string{
		"":                                 {"Hello there 0.6", "boom 0.9", "seen 0.4", "Ada, look 0.95"},
		"kind=error&kind=observation":      {"boom 0.9", "seen 0.4"},
		"tag=ci":                           {"boom 0.9", "seen 0.4"},
		"tag=build&tag=none":               {"boom 0.9"},
		"min_importance=0.6&kind=chat":     {"Hello there 0.6", "Ada, look 0.95"},
		"limit=2":                          {"seen 0.4", "Ada, look 0.95"},
		"limit=1&kind=error":               {"boom 0.9"},
		"since=2026-01-31T12:00:30Z":       {"seen 0.4", "Ada, look 0.95"},
		"since=2026-01-31T13:00:00%2B0000": nil,
	} {
		if want == nil {
			f.wantPaths("GET", "/v1/conversations/c/working?"+query, "", "query.since")
			continue
		}
		var got []string
		for _, e := range get(query).Events {
			got = append(got, fmt.Sprint(e.Content, " ", e.Importance))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	f.advance(time.Hour) // unimportant events expire
	if w := get(""); w.Held != 3 || len(get("kind=observation").Events) != 0 {
		t.Errorf("after an hour: %+v", w)
	}
}

func TestConversations_CheckRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.talk("u", "c", hello)
	turn := func(message string) string {
		return `{"user_id":"u","conversation_id":"c","messages":[` + message + `]}`
	}
	say := func(fields string) string { return turn(`{"role":"user","content":"x",` + fields + `}`) }
	tags := strings.TrimSuffix(strings.Repeat(`"t",`, 33), ",")
	for body, path := range map[string]string{
		say(`"kind":"gossip"`): "messages[0].kind",
		say(`"kind":""`):       "messages[0].kind",
		say(`"kind":7`):        "messages[0].kind",
		say(`"tags":"t"`):      "messages[0].tags",
		say(`"tags":[""]`):     "messages[0].tags[0]",
		say(`"tags":["` + strings.Repeat("t", 65) + `"]`): "messages[0].tags[0]",
		say(`"tags":[" "]`):                     "messages[0].tags",
		say(`"tags":[` + tags + `]`):            "messages[0].tags",
		say(`"context":[]`):                     "messages[0].context",
		say(`"context":{"urgent":true}`):        "messages[0].context.urgent",
		say(`"context":{"mentioned_me":"yes"}`): "messages[0].context.mentioned_me",
		say(`"tokens":3`):                       "messages[0].tokens",
		say(`"importance":1`):                   "messages[0].importance",
	} {
		f.wantPaths("POST", "/v1/turns", body, path)
	}
	for target, path := range map[string]string{
		"/v1/conversations":                                         "query.user_id",
		"/v1/conversations?user_id=u&state=closed":                  "query.state",
		"/v1/conversations?user_id=u&limit=0":                       "query.limit",
		"/v1/conversations?user_id=u&cursor=zzz":                    "query.cursor",
		"/v1/conversations/c?cursor=0":                              "query.cursor",
		"/v1/conversations/c?cursor=x":                              "query.cursor",
		"/v1/conversations/c?limit=501":                             "query.limit",
		"/v1/conversations/c?user_id=%00":                           "query.user_id",
		"/v1/conversations/a%0Ab":                                   "path.id",
		"/v1/conversations/c/working?kind=gossip":                   "query.kind[0]",
		"/v1/conversations/c/working?tag=":                          "query.tag",
		"/v1/conversations/c/working?min_importance=2":              "query.min_importance",
		"/v1/conversations/c/working?since=yesterday":               "query.since",
		"/v1/conversations/c/working?limit=0":                       "query.limit",
		"/v1/conversations/c/working?order=up":                      "query.order",
		"/v1/conversations/c/working?limit=99999999999999999999999": "query.limit",
	} {
		f.wantPaths("GET", target, "", path)
	}
	for body, path := range map[string]string{
		`{}`:             "title",
		`{"title":""}`:   "title",
		`{"title":" "}`:  "title",
		`{"title":null}`: "title",
		`{"title":"` + strings.Repeat("界", 201) + `"}`: "title",
		`{"title":"a\nb"}`:               "title",
		`{"title":"a","summary":"mine"}`: "summary",
	} {
		f.wantPaths("PATCH", "/v1/conversations/c", body, path)
	}
	for _, r := range []struct{ method, path string }{{"PATCH", "/v1/conversations/c"},
		{"DELETE", "/v1/conversations/c"}} {
		f.want(http.StatusForbidden, r.method, r.path, `{"title":"x"}`, "Authorization", "Bearer read")
	}
}
