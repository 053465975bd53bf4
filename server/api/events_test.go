package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/notify"
)

// listening is a fixture behind a real listener, with a running feed.
type listening struct {
	*fixture
	*httptest.Server
}

func listen(t *testing.T, change func(*Options)) *listening {
	f := newFixture(t, change)
	ctx, end := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { f.options.Events.Feed.(*notify.Feed).Run(ctx) })
	l := &listening{f, httptest.NewServer(f)}
	t.Cleanup(func() { f.Drain(); l.Server.Close(); end(); group.Wait() })
	return l
}

// event is a block of a stream.
type event struct{ id, kind, data string }

// eventReader reads one stream.
type eventReader struct {
	t       *testing.T
	answer  *http.Response
	scanner *bufio.Scanner
	last    string // id
}

// open begins a stream with the key "read"; headers are pairs.
func (l *listening) open(query string, headers ...string) *eventReader {
	l.t.Helper()
	q, err := http.NewRequestWithContext(l.t.Context(), "GET", l.URL+"/v1/events"+query, http.NoBody)
	l.must(err)
	q.Header.Set("Authorization", "Bearer read")
	for i := 0; i+1 < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	answer, err := l.Client().Do(q)
	l.must(err)
	l.t.Cleanup(func() { _ = answer.Body.Close() })
	r := &eventReader{t: l.t.(*testing.T), answer: answer, scanner: bufio.NewScanner(answer.Body)}
	r.scanner.Buffer(nil, 1<<20)
	return r
}

// follow opens a stream and reads its beginning.
func (l *listening) follow(query string, headers ...string) (*eventReader, event) {
	l.t.Helper()
	r := l.open(query, headers...)
	if r.answer.StatusCode != 200 || r.answer.Header.Get("Content-Type") != eventStream {
		l.t.Fatalf("status %d, %v", r.answer.StatusCode, r.answer.Header)
	}
	first, ok := r.block()
	if !ok {
		l.t.Fatal("the stream is empty")
	}
	return r, first
}

// block reads up to an empty line; ok is false at the end.
func (r *eventReader) block() (e event, ok bool) {
	for r.scanner.Scan() {
		name, value, _ := strings.Cut(r.scanner.Text(), ": ")
		switch name {
		case "":
			if r.scanner.Text() == "" {
				return e, true
			}
		case "id":
			e.id, r.last = value, value
		case "event":
			e.kind = value
		case "data":
			e.data = value
		}
	}
	return e, false
}

// next reads an event and skips heartbeats.
func (r *eventReader) next() (e event) {
	r.t.Helper()
	for e.kind == "" {
		var ok bool
		if e, ok = r.block(); !ok {
			r.t.Fatal("the stream ends")
		}
	}
	var data struct{ ID, Kind string }
	if e.kind != "reset" && (json.Unmarshal([]byte(e.data), &data) != nil || data.ID != e.id || data.Kind != e.kind) {
		r.t.Errorf("event %+v", e)
	}
	return e
}

// ends reads to the end.
func (r *eventReader) ends() {
	for ok := true; ok; {
		_, ok = r.block()
	}
}

func TestEvents_AreStreamed(t *testing.T) {
	t.Parallel()
	l := listen(t, nil)
	l.peanuts() // before the stream begins
	r, _ := l.follow("?user_id=u&kind=memory.written&kind=memory.forgotten&kind=turn.failed")
	all, first := l.follow("")
	if first.id == "" || first.kind != "" {
		t.Errorf("begins with %+v", first)
	}
	l.issue("other", "other", memory.RoleRead)
	foreign, _ := l.follow("?after=0", "Authorization", "Bearer other")
	m := fetch[map[string]any](l.fixture, 201, "POST", "/v1/memories",
		`{"user_id":"u","content":"Likes tea.","type":"reflection"}`)
	id := m["id"].(string)
	l.keep(ingest.Write{Owner: owner("v"), Content: "Another's."})
	l.want(200, "PATCH", "/v1/memories/"+id, `{"content":"Likes green tea."}`)
	l.want(200, "DELETE", "/v1/memories/"+id, "")
	turn := l.accept("u", "", "hm")
	l.must(l.store.FailTurn(t.Context(), turn.ID, 1, "no answer", l.now(), nil))
	var got []string
	for range 4 {
		e := r.next()
		var announced struct {
			UserID string `json:"user_id"`
			Data   struct{ Change, Content, Error string }
		}
		l.must(json.Unmarshal([]byte(e.data), &announced))
		got = append(got, fmt.Sprint(e.kind, announced.UserID, announced.Data))
		value := l.contract.Components.Schemas["Announcement"].Value
		var raw any
		l.must(json.Unmarshal([]byte(e.data), &raw))
		if err := value.VisitJSON(raw); err != nil {
			t.Errorf("%s is not as openapi.yaml says: %v", e.data, err)
		}
	}
	if want := []string{
		"memory.writtenu{created Likes tea. }", "memory.writtenu{updated Likes green tea. }",
		"memory.forgottenu{forgotten  }", "turn.failedu{  no answer}",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var kinds []string
	for range 6 {
		kinds = append(kinds, all.next().kind)
	}
	if want := []string{"memory.written", "reflection.created", "memory.written", "memory.written", "memory.forgotten",
		"turn.failed"}; !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
	l.Drain() // ends every stream
	r.ends()
	for e, ok := foreign.block(); ok; e, ok = foreign.block() {
		if e.kind != "" {
			t.Errorf("another app receives %+v", e)
		}
	}
}

// A client that resumes with the last id misses no event and gets no event twice,
// while others write.
func TestEvents_ResumeWithoutLossOrRepeats(t *testing.T) {
	t.Parallel()
	l := listen(t, func(o *Options) { o.Events.Heartbeat = 20 * time.Millisecond })
	_, first := l.follow("")
	const writers, each = 3, 20
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				l.keep(ingest.Write{Owner: owner(fmt.Sprint("user", w)), Content: fmt.Sprintf("Fact %d.", i)})
			}
		})
	}
	last, got := first.id, map[string]bool{}
	for n := 0; len(got) < writers*each; n++ {
		r, again := l.follow("?after=0", lastEventID, last)
		if again.id != last || again.kind != "" {
			t.Fatalf("after %s it begins with %+v", last, again)
		}
		for range min(1+n%7, writers*each-len(got)) {
			e := r.next()
			if got[e.id] {
				t.Errorf("%s comes twice", e.id)
			}
			got[e.id] = true
		}
		last = r.last // may be of a heartbeat
		_ = r.answer.Body.Close()
	}
	group.Wait()
}

func TestEvents_ResetAfterPurge(t *testing.T) {
	t.Parallel()
	l := listen(t, nil)
	var ids []string
	for range 3 {
		l.peanuts()
		l.advance(time.Hour)
	}
	r, _ := l.follow("?after=0")
	for range 3 {
		ids = append(ids, r.next().id)
	}
	if _, err := notify.Purge(t.Context(), l.store, noon.Add(90*time.Minute)); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[string]string{ids[0]: "reset", "0": "reset", "999999": "reset", ids[1]: "", ids[2]: ""} {
		r, first := l.follow("?after=" + after)
		if first.kind != want || want == "reset" && (first.id != ids[1] || first.data != fmt.Sprintf(`{"after":%q}`, after)) {
			t.Errorf("after %s: %+v, want %q", after, first, want)
		}
		if after != ids[2] {
			if e := r.next(); e.id != ids[2] {
				t.Errorf("after %s comes %+v", after, e)
			}
		}
	}
	l.must(eraseAll(l, "u"))
	r, _ = l.follow("?after=" + ids[1])
	l.keep(ingest.Write{Owner: owner("v"), Content: "Goes on."})
	if e := r.next(); !strings.Contains(e.data, "Goes on.") {
		t.Errorf("after an erasure %+v", e)
	}
}

func eraseAll(l *listening, user string) error {
	_, err := l.options.Eraser.Erase(l.t.Context(), owner(user))
	return err
}

func TestEvents_LimitStreamsOfKey(t *testing.T) {
	t.Parallel()
	l := listen(t, func(o *Options) {
		o.Events.Streams, o.Events.Heartbeat = 2, 10*time.Millisecond
	})
	first, _ := l.follow("")
	l.follow("")
	if refused := l.open(""); refused.answer.StatusCode != 429 || refused.answer.Header.Get("Retry-After") == "" {
		t.Errorf("a third stream: %d, %v", refused.answer.StatusCode, refused.answer.Header)
	}
	l.follow("", "Authorization", "Bearer write") // another key
	_ = first.answer.Body.Close()
	deadline := time.Now().Add(5 * time.Minute)
	for l.open("").answer.StatusCode != 200 {
		time.Sleep(10 * time.Millisecond)
		if time.Now().After(deadline) {
			t.Fatal("a closed stream is still counted")
		}
	}
}

// A client that reads nothing is cut off and does not delay the others.
func TestEvents_CutOffSlowReaders(t *testing.T) {
	t.Parallel()
	l := listen(t, func(o *Options) { o.limits.Stream = 2 * time.Second })
	slow, _ := l.follow("")
	content := strings.Repeat("x", 4000)
	all, _ := l.follow("")
	var group sync.WaitGroup
	group.Go(func() {
		for range 8 * 250 {
			if _, ok := all.block(); !ok {
				t.Error("the stream of a reading client ended")
				return
			}
		}
	})
	for range 8 { // more than the buffers of a connection hold
		l.must(l.store.InUser(t.Context(), owner("u"), func(ctx context.Context, tx db.UserTx) error {
			data, _ := json.Marshal(map[string]string{"content": content})
			return tx.Announce(ctx, slices.Repeat([]memory.Announcement{{Kind: memory.MemoryWritten, At: noon, Data: data}},
				250))
		}))
	}
	group.Wait()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		l.streams.mu.Lock()
		open := l.streams.open[l.keyIDs["read"]]
		l.streams.mu.Unlock()
		if open == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d streams are open", open)
		}
	}
	slow.ends()
}

func TestEvents_CheckRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.wantPaths("GET", "/v1/events?kind=memory.eaten&user_id=&x=1", "", "query.kind[0]", "query.user_id", "query.x")
	for _, after := range []string{"x", "1.2.3", "-1", "01", "1.", ".1", "0.5", "9999999999999999999"} {
		f.wantPaths("GET", "/v1/events?after="+after, "", "query.after")
		if w := f.want(400, "GET", "/v1/events", "", lastEventID, after); !strings.Contains(w.Body.String(),
			"header.Last-Event-ID") {
			t.Error(w.Body)
		}
	}
	f.want(401, "GET", "/v1/events", "", "Authorization", "")
}
