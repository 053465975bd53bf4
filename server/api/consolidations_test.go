package api

import (
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

// finishEnd works what an end has queued.
func (b *fixture) finishEnd(userID, id string) {
	b.t.Helper()
	job := consolidation.ConsolidateConversation{AppID: "app", UserID: userID, ConversationID: id, Trigger: memory.TriggerEnd}
	_, err := b.consolidate.Work(b.t.Context(), job)
	b.must(err)
}

func TestConversationEnds(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.talk("u", "c", hello, `{"role":"user","content":"I moved to Porto."}`, `{"role":"user","kind":"decision","content":"We meet on Monday."}`)
	b.advance(time.Minute)
	ended := parse[endedBody](t, b.want(http.StatusAccepted, "POST", "/v1/conversations/c/end", `{"user_id":"u"}`))
	if c := ended.Conversation; c.State != "ended" || c.EndReason != "client" || !c.EndedAt.Equal(noon.Add(time.Minute)) || c.Kept != 0 {
		t.Errorf("%+v", c)
	}
	if len(ended.Consolidations) != 3 {
		t.Fatalf("%+v", ended)
	}
	b.finishEnd("u", "c")
	again := parse[endedBody](t, b.want(http.StatusOK, "POST", "/v1/conversations/c/end", `{"wait":true}`))
	if again.Conversation.Kept != 3 || len(again.Consolidations) != 3 {
		t.Errorf("%+v", again)
	}
	states := map[memory.ConsolidationType]string{}
	for cursor := ""; ; {
		page := parse[consolidationsAnswer](t, b.want(http.StatusOK, "GET", "/v1/conversations/c/consolidations?user_id=u&limit=2"+cursor, ""))
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
	if states["events"] != `done {"events":1,"kept":1,"merged":0,"refused":0}` || states["fast_replay"] != `done {"summaries":1}` || states["deep_reflection"] != "skipped " {
		t.Errorf("%q", states)
	}
	if b.talk("u", "c", hello); parse[conversationAnswer](t, b.want(http.StatusOK, "GET", "/v1/conversations/c", "")).Conversation.State != "open" {
		t.Error("a turn does not open it again")
	}
}

func TestBadEnds(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.talk("ada", "c", hello)
	b.talk("ben", "c", hello)
	b.want(http.StatusConflict, "POST", "/v1/conversations/c/end", `{}`)
	b.want(http.StatusOK, "POST", "/v1/conversations/c/end", `{"user_id":"ben"}`) // too little was said
	b.want(http.StatusNotFound, "POST", "/v1/conversations/none/end", `{}`)
	b.want(http.StatusNotFound, "POST", "/v1/conversations/c/end", `{"user_id":"eve"}`)
	b.want(http.StatusConflict, "GET", "/v1/conversations/c/consolidations", "")
	b.want(http.StatusNotFound, "GET", "/v1/conversations/none/consolidations", "")
	for _, body := range []string{`{"wait":"yes"}`, `{"user":"ada"}`, `{"user_id":""}`, `{"user_id":"a\nb"}`, `[]`, `{"user_id":"` + strings.Repeat("a", 257) + `"}`} {
		b.want(http.StatusBadRequest, "POST", "/v1/conversations/c/end", body)
	}
	b.want(http.StatusBadRequest, "GET", "/v1/conversations/c/consolidations?cursor=x", "")
}
