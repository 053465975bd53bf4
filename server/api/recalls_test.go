package api

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap/zaptest"

	"hippocampus/recall"
)

type recallList struct {
	Recalls []loggedRecallBody
	Next    string `json:"next_cursor"`
}

// logRecalls makes the API log its recalls. flush writes the log.
func (f *fixture) logRecalls() (flush func()) {
	log := recall.NewLog(f.store, time.Hour, zaptest.NewLogger(f.t))
	logged := recall.Logged{Service: f.options.Recall.Recaller.(*recall.Service), Log: log}
	f.restart(func(o *Options) { o.Recall.Recaller = logged })
	return func() {
		ctx, cancel := context.WithCancel(f.t.Context())
		cancel()
		log.Run(ctx) // flushes when it ends
	}
}

func TestRecalls_ListsTheLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	flush := f.logRecalls()
	known := f.peanuts()
	f.want(200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts","agent_id":"chef","at":"2025-01-01T00:00:00Z"}`)
	f.advance(time.Second)
	f.want(200, "POST", "/v1/context", `{"user_id":"u","query":"hello"}`)
	f.want(200, "POST", "/v1/recall", `{"user_id":"v","query":"theirs"}`)
	f.want(400, "POST", "/v1/recall", `{"user_id":"u","query":""}`)
	flush()

	first := fetch[recallList](f, 200, "GET", "/v1/recalls?user_id=u&limit=1", "", "Authorization", "Bearer read")
	if len(first.Recalls) != 1 || first.Next == "" {
		t.Fatalf("%+v", first)
	}
	if e := first.Recalls[0]; e.Query != "hello" || len(e.Memories) != 0 || !e.At.Equal(noon.Add(time.Second)) {
		t.Errorf("%+v", e)
	}
	second := fetch[recallList](f, 200, "GET", "/v1/recalls?user_id=u&limit=5&cursor="+first.Next, "").Recalls
	if len(second) != 1 {
		t.Fatalf("%+v", second)
	}
	want := loggedRecallBody{
		ID: second[0].ID, UserID: "u", AgentID: "chef", Query: "peanuts", Degraded: []string{}, At: noon,
	}
	want.Memories = append(want.Memories, second[0].Memories...)
	if diff := cmp.Diff(want, second[0]); diff != "" || len(want.Memories) != 1 || want.Memories[0].ID != known.ID ||
		want.Memories[0].Relevance != 1 {
		t.Errorf("%+v %s", want.Memories, diff)
	}
	f.wantPaths("GET", "/v1/recalls", "", "query.user_id")
}
