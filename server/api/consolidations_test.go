package api

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/conversation/consolidation"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

type consolidationsAnswer struct {
	Consolidations []wire.Consolidation
	Next           string `json:"next_cursor"`
}

// finishEnd runs the consolidations that an end has queued.
func (f *fixture) finishEnd(userID, id string) {
	f.t.Helper()
	job := consolidation.ConsolidateConversation{AppID: "app", UserID: userID, ConversationID: id,
		Trigger: memory.TriggerEnd}
	_, err := f.consolidate.Work(f.t.Context(), job)
	f.must(err)
}

func TestConsolidations_EndConversations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.talk("u", "c", hello, `{"role":"user","content":"I moved to Porto."}`,
		`{"role":"user","kind":"decision","content":"We meet on Monday."}`)
	f.advance(time.Minute)
	ended := fetch[endedBody](f, http.StatusAccepted, "POST", "/v1/conversations/c/end", `{"user_id":"u"}`)
	if c := ended.Conversation; c.State != "ended" || c.EndReason != "client" || !c.EndedAt.Equal(noon.Add(time.Minute)) ||
		c.Kept != 0 {
		t.Errorf("%+v", c)
	}
	if len(ended.Consolidations) != 3 {
		t.Fatalf("%+v", ended)
	}
	f.finishEnd("u", "c")
	again := fetch[endedBody](f, http.StatusOK, "POST", "/v1/conversations/c/end", `{"wait":true}`)
	if again.Conversation.Kept != 3 || len(again.Consolidations) != 3 {
		t.Errorf("%+v", again)
	}
	states := map[memory.ConsolidationType]string{}
	for cursor := ""; ; {
		page := fetch[consolidationsAnswer](f, http.StatusOK, "GET",
			"/v1/conversations/c/consolidations?user_id=u&limit=2"+cursor, "")
		for _, one := range page.Consolidations {
			states[one.Type] = string(one.State) + " " + string(one.Counts)
			if one.Trigger != "end" || one.From != 1 || one.Through != 3 || one.EndedAt.IsZero() || one.StartedAt.IsZero() {
				t.Errorf("%+v", one)
			}
		}
		if page.Next == "" {
			break
		}
		cursor = "&cursor=" + page.Next
	}
	if states["events"] != `done {"events":1,"kept":1,"merged":0,"refused":0}` ||
		states["fast_replay"] != `done {"summaries":1}` || states["deep_reflection"] != "skipped " {
		t.Errorf("%q", states)
	}
	f.talk("u", "c", hello)
	reopened := fetch[conversationAnswer](f, http.StatusOK, "GET", "/v1/conversations/c", "")
	if reopened.Conversation.State != "open" {
		t.Error("a turn does not reopen the conversation")
	}
}

func TestConsolidations_WithoutAnEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.talk("u", "c", hello, `{"role":"user","kind":"decision","content":"We meet on Monday."}`)
	const path = "/v1/conversations/c/consolidate"
	begun := fetch[endedBody](f, http.StatusAccepted, "POST", path, `{"user_id":"u","mode":"fast"}`, "Authorization",
		"Bearer write")
	if begun.Conversation.State != "open" || len(begun.Consolidations) != 2 {
		t.Errorf("%+v", begun)
	}
	f.finishEnd("u", "c")
	done := fetch[endedBody](f, http.StatusOK, "POST", path, `{"mode":"fast","wait":true}`)
	states := map[memory.ConsolidationType]memory.ConsolidationState{}
	for _, one := range done.Consolidations {
		states[one.Type] = one.State
		if one.Trigger != memory.TriggerRequest {
			t.Errorf("the trigger of %s is %s", one.Type, one.Trigger)
		}
	}
	if want := map[memory.ConsolidationType]memory.ConsolidationState{
		memory.ConsolidateEvents: memory.ConsolidationDone, memory.FastReplay: memory.ConsolidationDone,
	}; !maps.Equal(states, want) || done.Conversation.State != "open" || done.Conversation.Kept != 2 {
		t.Errorf("%+v", done)
	}
	f.want(http.StatusAccepted, "POST", path, `{"mode":"full"}`) // the deep step is left
	f.finishEnd("u", "c")
	f.want(http.StatusOK, "POST", path, `{"mode":"deep"}`)

	f.talk("v", "c", hello)
	f.want(http.StatusConflict, "POST", path, `{"mode":"fast"}`)
	f.want(http.StatusNotFound, "POST", path, `{"mode":"fast","user_id":"w"}`)
	f.want(http.StatusNotFound, "POST", "/v1/conversations/none/consolidate", `{"mode":"fast"}`)
	f.want(http.StatusForbidden, "POST", path, `{"mode":"fast"}`, "Authorization", "Bearer read")
	for body, field := range map[string]string{
		`{}`:                              "mode",
		`{"mode":null}`:                   "mode",
		`{"mode":"slow"}`:                 "mode",
		`{"mode":["fast"]}`:               "mode",
		`{"mode":"fast","wait":1}`:        "wait",
		`{"mode":"fast","user_id":"a\n"}`: "user_id",
		`{"mode":"fast","end":true}`:      "end",
	} {
		f.wantPaths("POST", path, body, field)
	}
}

func TestConsolidations_CheckRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.talk("ada", "c", hello)
	f.talk("ben", "c", hello)
	f.want(http.StatusConflict, "POST", "/v1/conversations/c/end", `{}`)
	f.want(http.StatusOK, "POST", "/v1/conversations/c/end", `{"user_id":"ben"}`) // too few events for a summary
	f.want(http.StatusNotFound, "POST", "/v1/conversations/none/end", `{}`)
	f.want(http.StatusNotFound, "POST", "/v1/conversations/c/end", `{"user_id":"eve"}`)
	f.want(http.StatusConflict, "GET", "/v1/conversations/c/consolidations", "")
	f.want(http.StatusNotFound, "GET", "/v1/conversations/none/consolidations", "")
	for _, body := range []string{`{"wait":"yes"}`, `{"user":"ada"}`, `{"user_id":""}`, `{"user_id":"a\nb"}`, `[]`,
		`{"user_id":"` + strings.Repeat("a", 257) + `"}`} {
		f.want(http.StatusBadRequest, "POST", "/v1/conversations/c/end", body)
	}
	f.want(http.StatusBadRequest, "GET", "/v1/conversations/c/consolidations?cursor=x", "")
}
