package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// heldRecaller is a recaller whose recalls run until they are released.
type heldRecaller struct {
	Recaller
	entered, release chan struct{}
}

func (h heldRecaller) Recall(ctx context.Context, q recall.Query) (recall.Answer, error) {
	h.entered <- struct{}{}
	<-h.release
	return h.Recaller.Recall(ctx, q)
}

func TestRecall_IsRefusedIfTheServerIsBusy(t *testing.T) {
	t.Parallel()
	const query = `{"user_id":"u","query":"peanuts"}`
	held := heldRecaller{entered: make(chan struct{}), release: make(chan struct{})}
	f := newFixture(t, func(o *Options) {
		held.Recaller = o.Recall.Recaller
		o.Recall.Recaller = held
		o.MaxInflight = 2
	})
	statuses := make(chan int, 2)
	for _, path := range []string{"/v1/recall", "/v1/context"} {
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(query))
			r.Header.Set("Authorization", "Bearer read")
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			statuses <- w.Code
		}()
		<-held.entered
	}
	for _, path := range []string{"/v1/recall", "/v1/context"} {
		w := f.want(503, "POST", path, query)
		p := parse[frame.Problem](t, w)
		if w.Header().Get("Retry-After") != "1" || p.Type != "urn:hippocampus:problem:busy" ||
			!strings.Contains(p.Detail, "2 recalls") || !strings.Contains(p.Detail, "api.max_inflight") {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
	related := "/v1/memories/" + memory.NewID() + "/related"
	if p := parse[frame.Problem](t, f.want(503, "GET", related, "")); p.Type != "urn:hippocampus:problem:busy" {
		t.Errorf("%+v", p)
	}
	f.want(202, "POST", "/v1/turns", aTurn)
	f.want(400, "POST", "/v1/recall", `{}`) // refused before it needs a slot
	close(held.release)
	for range 2 {
		if status := <-statuses; status != 200 {
			t.Errorf("%d", status)
		}
	}
	f.want(404, "GET", related, "")
}

// heldIngester is an ingester that stores turns when they are released.
type heldIngester struct {
	TurnIngester
	entered, release chan struct{}
}

func (h heldIngester) Accept(ctx context.Context, turn memory.Turn) (memory.Turn, bool, error) {
	h.entered <- struct{}{}
	<-h.release
	return h.TurnIngester.Accept(ctx, turn)
}

func (h heldIngester) AcceptHeld(ctx context.Context, turn memory.Turn) (memory.Turn, bool, func(), error) {
	h.entered <- struct{}{}
	<-h.release
	return h.TurnIngester.AcceptHeld(ctx, turn)
}

func TestTurns_AreRefusedIfTheServerIsBusy(t *testing.T) {
	t.Parallel()
	held := heldIngester{entered: make(chan struct{}), release: make(chan struct{})}
	f := newFixture(t, func(o *Options) {
		held.TurnIngester = o.Turns.Ingester
		o.Turns.Ingester = held
		o.MaxInflightTurns = 1
	})
	const first = `{"id":"t1","user_id":"u","messages":[{"role":"user","content":"I live in Lisbon."}]}`
	answered := make(chan int, 1)
	go func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/turns", strings.NewReader(first))
		r.Header.Set("Authorization", "Bearer write")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		answered <- w.Code
	}()
	<-held.entered
	second := strings.Replace(first, "t1", "t2", 1)
	for _, body := range []string{second, strings.Replace(second, "{", `{"return":"context",`, 1)} {
		w := f.want(503, "POST", "/v1/turns", body)
		p := parse[frame.Problem](t, w)
		if w.Header().Get("Retry-After") != "1" || p.Type != "urn:hippocampus:problem:busy" ||
			!strings.Contains(p.Detail, "api.max_inflight_turns") {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
	f.want(404, "GET", "/v1/turns/t2", "")
	f.want(200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts"}`)
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"Keeps bees"}`)
	close(held.release)
	if status := <-answered; status != 202 {
		t.Errorf("%d", status)
	}
	for range 2 {
		go func() { <-held.entered }()
		f.want(202, "POST", "/v1/turns", second)
	}
	if list := f.want(200, "GET", "/v1/turns?user_id=u", "").Body.String(); strings.Count(list, `"client_id":"t2"`) != 1 {
		t.Errorf("the repeated turn: %s", list)
	}
}

// late is an ingester whose turns lag behind.
type late struct{ TurnIngester }

func (late) Accept(context.Context, memory.Turn) (memory.Turn, bool, error) {
	return memory.Turn{}, false, &memory.Error{
		Kind: memory.KindTooFast, RetryAfter: 30 * time.Second, Limit: "jobs.max_lag",
		Err: errors.New("turns arrive faster than they are processed"),
	}
}

func TestTurns_AreRefusedIfTheyLagBehind(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Turns.Ingester = late{o.Turns.Ingester} })
	f.want(202, "POST", "/v1/turns/"+f.accept("u", "", "Hi.").ID+"/replay", "")
	w := f.want(429, "POST", "/v1/turns", aTurn)
	if w.Header().Get("Retry-After") != "30" || !strings.Contains(w.Body.String(), "faster than they are processed") {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	const counted = `hippocampus_requests_refused_total{limit="jobs.max_lag"} 1`
	if shown := f.want(200, "GET", "/metrics", "").Body.String(); !strings.Contains(shown, counted) {
		t.Errorf("the metrics lack %s", counted)
	}
}
