package api

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/server/frame"
)

func TestTurns_PostAccepts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	w := f.want(202, "POST", "/v1/turns", `{"id":"c-1","user_id":"用户","conversation_id":"chat","agent_id":"tutor",
		"messages":[{"role":"user","content":"Hi 🙂","name":"Ana"},{"role":"assistant","content":""}],
		"metadata":{ "b" : [1, {"c":null}] },"at":"2026-01-31T09:00:00.123456789+01:00"}`)
	got, err := f.store.Turn(t.Context(), "app", "c-1")
	f.must(err)
	want := memory.Turn{
		ID: got.ID, Hash: got.Hash, Status: memory.TurnAccepted, AcceptedAt: noon, QueuedAt: noon,
		Owner: owner("用户"), ClientID: "c-1", AgentID: "tutor", ConversationID: "chat", FirstEvent: 1,
		Messages: []memory.Message{{Role: "user", Content: "Hi 🙂", Name: "Ana", Tokens: 2}, {Role: "assistant"}},
		Metadata: []byte(`{"b":[1,{"c":null}]}`), At: time.Date(2026, 1, 31, 8, 0, 0, 123456000, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if body := parse[turnBody](t, w); body.ID != got.ID || body.Status != memory.TurnAccepted || body.Candidates != nil {
		t.Errorf("%+v", body)
	}
}

// unsure is a scorer whose answers are unusable.
type unsure struct{ scorer.Scorer }

func (unsure) Score(context.Context, memory.Turn, []memory.Message) ([]scorer.Fact, error) {
	return nil, &scorer.BadAnswer{Answer: "well", Err: memory.Errorf(memory.KindBadAnswer, "the answer is not JSON")}
}

// erased is an ingester whose user is erased while a request waits for a turn.
type erased struct{ TurnIngester }

func (erased) Await(context.Context, string, string) (ingest.Outcome, error) {
	return ingest.Outcome{}, memory.Errorf(memory.KindNotFound, "there is no such turn")
}

func TestTurns_ErasedDuringWaitIsConflict(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Turns.Ingester = erased{o.Turns.Ingester} })
	f.want(409, "POST", "/v1/turns", strings.Replace(aTurn, "{", `{"wait":true,`, 1))
}

// hanging is an ingester that never reports that a turn was processed.
type hanging struct{ TurnIngester }

func (hanging) Await(ctx context.Context, _, _ string) (ingest.Outcome, error) {
	<-ctx.Done()
	return ingest.Outcome{}, ctx.Err()
}

func TestTurns_PostWaits(t *testing.T) {
	t.Parallel()
	waiting := strings.Replace(aTurn, "{", `{"wait":true,`, 1)
	f := newFixture(t, nil)
	f.work()
	body := fetch[turnBody](f, 200, "POST", "/v1/turns", waiting)
	if len(body.Candidates) != 1 || body.Candidates[0].Verdict != memory.Kept || body.Status != memory.TurnProcessed {
		t.Errorf("%+v", body)
	}

	refused := newFixture(t, nil)
	refused.service.Scorer = unsure{refused.service.Scorer}
	refused.work()
	body = fetch[turnBody](refused, 200, "POST", "/v1/turns", waiting)
	if len(body.Candidates) != 1 || body.Candidates[0].Verdict != memory.InvalidAnswer ||
		body.Status != memory.TurnFailed || body.LastError == "" {
		t.Errorf("%+v", body)
	}

	slow := newFixture(t, func(o *Options) { o.Wait = 50 * time.Millisecond }) // no worker runs
	for range 2 {
		body := fetch[turnBody](slow, 202, "POST", "/v1/turns", waiting)
		if stored, err := slow.store.Turn(t.Context(), "app", body.ID); err != nil || stored.Status != memory.TurnAccepted ||
			body.Status != stored.Status || body.Candidates != nil {
			t.Errorf("%+v, stored %+v, %v", body, stored, err)
		}
		slow.restart(func(o *Options) { o.Turns.Ingester = hanging{o.Turns.Ingester} })
	}
}

func TestTurns_RepeatedIsReturned(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	named := strings.Replace(aTurn, "{", `{"id":"c-1",`, 1)
	first := fetch[turnBody](f, 202, "POST", "/v1/turns", named)
	if first.Repeated {
		t.Error("the first turn is marked as repeated")
	}
	if again := fetch[turnBody](f, 202, "POST", "/v1/turns", named); !again.Repeated || again.ID != first.ID {
		t.Errorf("%+v", again)
	}
	f.work()
	f.settle(first.ID)
	body := fetch[turnBody](f, 200, "POST", "/v1/turns", named)
	if !body.Repeated || body.ID != first.ID || len(body.Candidates) != 1 {
		t.Errorf("%+v", body)
	}
	f.want(409, "POST", "/v1/turns", strings.Replace(named, "Lisbon", "Porto", 1))
}

// A client id may have any characters except control characters, also in a path.
func TestTurns_ClientIDsInPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, id := range []string{"chat-1", "a/b", "100%", "%2F", "a b", "a+b", "名字", "a,b;c=d", `"'\`, "..",
		strings.Repeat("x", 256)} {
		f.accept("u", id, "I moved to Lisbon.")
		if got := fetch[turnBody](f, 200, "GET", "/v1/turns/"+url.PathEscape(id), "").ClientID; got != id {
			t.Errorf("asked for %q, got %q", id, got)
		}
		f.want(202, "POST", "/v1/turns/"+url.PathEscape(id)+"/replay", "")
	}
	for _, id := range []string{"a\nb", "\x00", "\xff", strings.Repeat("é", 129), strings.Repeat("x", 257)} {
		f.wantPaths("GET", "/v1/turns/"+url.PathEscape(id), "", "path.id")
	}
}

func TestTurns_Get(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.work()
	turn := f.accept("u", "c-1", "I moved to Lisbon.")
	kept := f.settle(turn.ID).Candidates[0].MemoryID
	for _, ref := range []string{turn.ID, "c-1"} {
		body := fetch[turnBody](f, 200, "GET", "/v1/turns/"+ref, "")
		if body.ID != turn.ID || len(body.Messages) != 1 || len(body.Candidates) != 1 ||
			body.Candidates[0].MemoryID != kept ||
			f.stored(kept).SourceTurnID != turn.ID {
			t.Errorf("%+v", body)
		}
	}
}

// turnsListed records the filter of the latest list.
type turnsListed struct {
	TurnLister
	filter db.TurnFilter
}

func (l *turnsListed) ListTurns(ctx context.Context, f db.TurnFilter) ([]memory.Turn, error) {
	l.filter = f
	return l.TurnLister.ListTurns(ctx, f)
}

func TestTurns_ListFilters(t *testing.T) {
	t.Parallel()
	var listed turnsListed
	f := newFixture(t, func(o *Options) { listed.TurnLister = o.Turns.Lister; o.Turns.Lister = &listed })
	one := f.accept("u 1", "", "one")
	two := f.accept("u 1", "", "two")
	other := f.accept("v", "", "three")
	for _, turn := range []memory.Turn{one, other} {
		f.must(f.store.FailTurn(t.Context(), turn.ID, 1, "no answer", f.now(), nil))
	}
	for query, c := range map[string]struct {
		filter db.TurnFilter
		want   []string
	}{
		"": {db.TurnFilter{AppID: "app", Limit: frame.DefaultPage},
			[]string{other.ID, two.ID, one.ID}},
		"?status=failed&user_id=u%201&limit=500": {db.TurnFilter{AppID: "app", UserID: "u 1", Status: memory.TurnFailed,
			Limit: 500}, []string{one.ID}},
	} {
		answer := fetch[struct{ Turns []turnBody }](f, 200, "GET", "/v1/turns"+query, "")
		var got []string
		for _, turn := range answer.Turns {
			got = append(got, turn.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		if diff := cmp.Diff(c.filter, listed.filter); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}
