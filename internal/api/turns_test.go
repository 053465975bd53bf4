package api

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

const aTurn = `{"user_id":"u","messages":[{"role":"user","content":"I moved to Lisbon."}]}`

func TestPostTurnHandsTheTurnOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	w := b.want(202, "POST", "/v1/turns", `{"id":"c-1","user_id":"用户","conversation_id":"chat","agent_id":"tutor",
		"messages":[{"role":"user","content":"Hi 🙂","name":"Ana"},{"role":"assistant","content":""}],
		"metadata":{ "b" : [1, {"c":null}] },"at":"2026-01-31T09:00:00.123456789+01:00"}`)
	want := memory.Turn{
		Owner: memory.Owner{AppID: "app", UserID: "用户"}, ClientID: "c-1", AgentID: "tutor", ConversationID: "chat",
		Messages: []memory.Message{{Role: "user", Content: "Hi 🙂", Name: "Ana"}, {Role: "assistant"}},
		Metadata: []byte(`{"b":[1,{"c":null}]}`), At: time.Date(2026, 1, 31, 8, 0, 0, 123456000, time.UTC),
	}
	if diff := cmp.Diff(want, b.turn); diff != "" {
		t.Error(diff)
	}
	if body := parse[turnBody](t, w); body.ID != someID || body.Status != memory.TurnAccepted || body.Candidates != nil {
		t.Errorf("%+v", body)
	}
}

func TestPostTurnWaits(t *testing.T) {
	t.Parallel()
	waiting := strings.Replace(aTurn, "{", `{"wait":true,`, 1)
	b := newBench(t, nil)
	body := parse[turnBody](t, b.want(200, "POST", "/v1/turns", waiting))
	if len(body.Candidates) != 1 || body.Candidates[0].Verdict != memory.Kept || body.Status != memory.TurnProcessed {
		t.Errorf("%+v", body)
	}
	b.status = memory.TurnFailed
	b.want(200, "POST", "/v1/turns", waiting)
	b.status = memory.TurnAccepted // the implementation gave up waiting
	b.want(202, "POST", "/v1/turns", waiting)

	slow := newBench(t, func(o *Options) { o.WaitTimeout = time.Millisecond })
	slow.hang = true
	if body := parse[turnBody](t, slow.want(202, "POST", "/v1/turns", waiting)); body.ID != someID {
		t.Errorf("%+v", body)
	}
}

func TestARepeatedTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	named := strings.Replace(aTurn, "{", `{"id":"c-1",`, 1)
	if parse[turnBody](t, b.want(202, "POST", "/v1/turns", named)).Repeated {
		t.Error("the first is told as repeated")
	}
	body := parse[turnBody](t, b.want(200, "POST", "/v1/turns", named))
	if !body.Repeated || len(body.Candidates) != 1 {
		t.Errorf("%+v", body)
	}
	b.status = memory.TurnAccepted
	if !parse[turnBody](t, b.want(202, "POST", "/v1/turns", named)).Repeated {
		t.Error("the repeat is not told")
	}
	b.err = memory.Errorf(memory.KindConflict, "the client id names another turn")
	b.want(409, "POST", "/v1/turns", named)
}

// A client id may hold anything but control characters, in paths too.
func TestTurnIDsInPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, id := range []string{"chat-1", "a/b", "100%", "%2F", "a b", "a+b", "名字", "a,b;c=d", `"'\`, "..", strings.Repeat("x", 256)} {
		b.want(200, "GET", "/v1/turns/"+url.PathEscape(id), "")
		if b.ref != id {
			t.Errorf("asked for %q, got %q", id, b.ref)
		}
		b.want(202, "POST", "/v1/turns/"+url.PathEscape(id)+"/replay", "")
	}
	for _, id := range []string{"a\nb", "\x00", "\xff", strings.Repeat("é", 129), strings.Repeat("x", 257)} {
		b.wantPaths("GET", "/v1/turns/"+url.PathEscape(id), "", "path.id")
	}
}

func TestGetTurn(t *testing.T) {
	t.Parallel()
	body := parse[turnBody](t, newBench(t, nil).want(200, "GET", "/v1/turns/c-1", ""))
	if len(body.Messages) != 1 || len(body.Candidates) != 1 || body.Candidates[0].MemoryID != someID {
		t.Errorf("%+v", body)
	}
}

func TestListTurnsFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.want(200, "GET", "/v1/turns", "")
	if b.listing.AppID != "app" || b.listing.Limit != defaultPage || b.listing.Before != nil || b.listing.Status != "" {
		t.Errorf("%+v", b.listing)
	}
	b.want(200, "GET", "/v1/turns?status=failed&user_id=u%201&limit=500", "")
	if b.listing.Status != memory.TurnFailed || b.listing.UserID != "u 1" || b.listing.Limit != 500 {
		t.Errorf("%+v", b.listing)
	}
}
