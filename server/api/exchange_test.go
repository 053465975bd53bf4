package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/exchange"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

const exportHead = `{"format":"hippocampus-export","version":2,"exported_at":"2026-01-31T12:00:00Z"}`

// bring imports with the admin key.
func (f *fixture) bring(text string) exchange.Report {
	f.t.Helper()
	return fetch[exchange.Report](f, 200, "POST", "/v1/import", text, "Content-Type", ndjson)
}

func TestExchange_RoundTripsMemories(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t, nil), newFixture(t, nil)
	kept := from.peanuts()
	from.swims()
	from.keep(ingest.Write{Owner: owner("ü <b> 用户"), Content: "Another user."})
	deleted := from.keep(ingest.Write{Owner: owner("u"), Content: "Forgotten again."})
	from.want(200, "DELETE", "/v1/memories/"+deleted.ID, "")
	from.must(from.store.Touch(t.Context(),
		[]db.Touch{{Owner: kept.Owner, ID: kept.ID, Count: 2, At: noon.Add(time.Hour + time.Microsecond)}}))

	whole := from.want(200, "GET", "/v1/export?embeddings=true", "")
	lines := strings.Split(strings.TrimSpace(whole.Body.String()), "\n")
	if whole.Header().Get("Content-Type") != ndjson || len(lines) != 8 || lines[0] != exportHead ||
		lines[7] != `{"end":{"memories":6}}` {
		t.Fatalf("%s", whole.Body)
	}
	for _, line := range lines {
		if err := from.checkLine(line); err != nil {
			t.Errorf("openapi.yaml refuses %s: %v", line, err)
		}
	}
	if r := to.bring(whole.Body.String()); r.Imported != 6 || r.Failed != 0 || r.Lines != 8 || !r.Complete {
		t.Fatalf("%+v", r)
	}
	if again := to.want(200, "GET", "/v1/export?embeddings=true", "").Body.String(); again != whole.Body.String() {
		t.Errorf("the round trip is not exact:\n%s\n%s", whole.Body, again)
	}
	if r := to.bring(whole.Body.String()); r.Skipped != 6 || r.Imported != 0 {
		t.Errorf("again: %+v", r)
	}
	stored, history := to.stored(kept.ID), "/v1/memories/"+kept.ID+"/history"
	if stored.AccessCount != from.stored(kept.ID).AccessCount || to.want(200, "GET", history,
		"").Body.String() != from.want(200, "GET", history, "").Body.String() {
		t.Errorf("%+v", stored)
	}
	recalled := fetch[recallBody](to, 200, "POST", "/v1/recall", `{"user_id":"u","query":"Which allergy?"}`)
	if len(recalled.Memories) == 0 || recalled.Memories[0].ID != kept.ID {
		t.Errorf("an import is not recalled at once: %+v", recalled)
	}

	plain := from.want(200, "GET", "/v1/export?user_id=u", "", "Authorization", "Bearer read").Body.String()
	if strings.Contains(plain, "embedding") || strings.Contains(plain, "Another user") ||
		!strings.Contains(plain, kept.ID) {
		t.Errorf("one user's, without embeddings: %s", plain)
	}
	from.issue("stranger", "elsewhere", memory.RoleAdmin)
	if none := from.want(200, "GET", "/v1/export", "", "Authorization",
		"Bearer stranger").Body.String(); strings.Count(none, "\n") != 2 {
		t.Errorf("another app exports %s", none)
	}
	if r := fetch[exchange.Report](from, 200, "POST", "/v1/import", plain, "Content-Type", ndjson, "Authorization",
		"Bearer stranger"); r.Failed != 5 || r.Imported != 0 {
		t.Errorf("another app imports ids that exist: %+v", r)
	}
}

func TestExchange_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.want(403, "GET", "/v1/export", "", "Authorization", "Bearer read")
	f.want(403, "GET", "/v1/export", "", "Authorization", "Bearer write")
	f.want(401, "GET", "/v1/export", "", "Authorization", "")
	f.want(403, "POST", "/v1/import", exportHead, "Content-Type", ndjson, "Authorization", "Bearer write")
	f.want(415, "POST", "/v1/import", exportHead)
	f.want(415, "POST", "/v1/import", exportHead, "Content-Type", ndjson, "Content-Encoding", "gzip")
	for _, query := range []string{"user_id=", "user_id=%00", "user_id=" + strings.Repeat("x", 257), "embeddings=maybe",
		"users=u", "user_id=u&user_id=v"} {
		f.want(400, "GET", "/v1/export?"+query, "")
	}
	for _, text := range []string{"", "\n", "{}", "<html>", `{"format":"other","version":1}`,
		strings.Replace(exportHead, `"version":2`, `"version":7`, 1)} {
		f.want(400, "POST", "/v1/import", text, "Content-Type", ndjson)
	}
}

// An import refuses what the API refuses in a write.
func TestExchange_RefusesBadMemoryLines(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.peanuts()
	good := strings.Split(f.want(200, "GET", "/v1/export", "").Body.String(), "\n")[1]
	good = strings.ReplaceAll(good, "u\"", "v\"") // another user's
	change := func(from, to string) string {
		changed := strings.Replace(good, from, to, 1)
		if changed == good {
			t.Fatalf("%s is not in %s", from, good)
		}
		return changed
	}
	bad := map[string]string{
		`{`: "not JSON", `[]`: "not a JSON object", `{}`: "needs at least 1", good + "{}": "more than one", "\xff": "UTF-8",
		"\ufeff" + good:                                  "not JSON",
		change(`"memory":{`, `"memory":{"x":1,`):         "memory.x",
		change(`"memory":{`, `"memory":{"Content":"x",`): "memory.Content",
		change(`"memory":{`, `"memory":{"content":"x",`): "more than once",
		change(`"Is allergic to peanuts."`, `null`):      "memory.content",
		change(`"Is allergic to peanuts."`, `7`):         "memory.content",
		change(`"Is allergic to peanuts."`, `""`):        "memory.content",
		change(`"importance":0.8`,
			`"importance":1e999`): "memory.importance",
		change(`"importance":0.8`,
			`"importance":2`): "memory.importance",
		change(`"access_count":0`,
			`"access_count":1e400`): "memory.access_count",
		change(`"access_count":0`,
			`"access_count":99999999999`): "memory.access_count",
		change(`"access_count":0`,
			`"access_count":0.5`): "memory.access_count",
		change(`"access_count":0`,
			`"access_count":-1`): "memory.access_count",
		change(`"created_at":"2026`,
			`"created_at":"1066`): "memory.created_at",
		change(`"created_at":"2026-01-31T12:00:00Z"`,
			`"created_at":7`): "memory.created_at",
		change(`"metadata":{"a":1}`, `"metadata":`+strings.Repeat(`{"a":`, 40)+"1"+strings.Repeat("}", 40)): "nested",
		change(`"metadata":{"a":1}`,
			`"metadata":null`): "memory.metadata",
		change(`"tags":["food"]`, `"tags":["`+strings.Repeat("x", 65)+`"]`): "memory.tags",
		change(`"pinned":true`, `"pinned":"yes"`):                           "memory.pinned",
		change(`"status":"active"`, `"status":"alive"`):                     "memory.status",
		change(`"events":[{`, `"events":[{"memory_id":"x",`):                "events[0].memory_id",
		change(`"relations":[]`, `"relations":{}`):                          "relations",
		`{"end":{}}`: "end.memories", `{"end":null}`: "end",
		`"` + strings.Repeat("x", exchange.MaxLine) + `"`:                       "bytes",
		"{" + strings.Repeat(`"`+strings.Repeat("y", 200)+`":1,`, 1) + `"z":1}`: "...",
	}
	lines := []string{exportHead}
	for line := range bad {
		lines = append(lines, line)
	}
	slices.Sort(lines[1:])
	r := f.bring(strings.Join(lines, "\r\n"))
	if r.Failed != len(bad) || len(r.Errors) != len(bad) || r.Imported != 0 || r.Complete {
		t.Errorf("%d of %d failed: %+v", r.Failed, len(bad), r)
	}
	for _, e := range r.Errors {
		if line := lines[e.Line-1]; !strings.Contains(e.Message, bad[line]) || len(e.Message) > 500 {
			t.Errorf("%.120s: %.200s, want %q", line, e.Message, bad[line])
		}
	}
	var wide strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&wide, `"field%d":1,`, i)
	}
	if r := f.bring(exportHead + "\n{" + wide.String() + `"end":{"memories":0}}`); len(r.Errors) != 1 ||
		len(r.Errors[0].Message) > 500 {
		t.Errorf("%+v", r)
	}
}

// live serves the fixture on real connections, with a read timeout of 1 s.
func (f *fixture) live() *httptest.Server {
	s := httptest.NewUnstartedServer(f)
	s.Config.ReadTimeout = time.Second
	s.Start()
	f.t.Cleanup(s.Close)
	return s
}

// shortLimits lets a request take 1 s and a stream stall for 5 s.
func shortLimits(o *Options) {
	o.Wait = time.Millisecond
	o.limits.Work = time.Second
	o.limits.Stream = 5 * time.Second
}

func (f *fixture) ask(ctx context.Context, s *httptest.Server, method, path string, body io.Reader) (*http.Response,
	error) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, body)
	f.must(err)
	r.Header.Set("Authorization", "Bearer admin")
	r.Header.Set("Content-Type", ndjson)
	return s.Client().Do(r)
}

// An import may take long while it transfers data, and is cut off when it stalls.
func TestExchange_CutsOnlyStalledImports(t *testing.T) {
	t.Parallel()
	f := newFixture(t, shortLimits)
	f.peanuts()
	text := f.want(200, "GET", "/v1/export", "").Body.String()
	s := f.live()
	send := func(wait func(i int) time.Duration) (*http.Response, error) {
		out, in := io.Pipe()
		answered, ended := make(chan struct{}), make(chan struct{})
		defer func() { out.Close(); close(answered); <-ended }()
		go func() {
			defer close(ended)
			for i := range 8 {
				select {
				case <-time.After(wait(i)):
				case <-answered:
					return
				}
				if _, err := io.WriteString(in, text[i*len(text)/8:(i+1)*len(text)/8]); err != nil {
					return
				}
			}
			in.Close()
		}()
		return f.ask(t.Context(), s, "POST", "/v1/import", out)
	}
	answer, err := send(func(int) time.Duration { return 700 * time.Millisecond }) // longer than the timeouts in total
	f.must(err)
	raw, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != 200 || !strings.Contains(string(raw), `"complete":true`) {
		t.Errorf("a slow import: %d %s", answer.StatusCode, raw)
	}
	answer, err = send(func(i int) time.Duration { return []time.Duration{0, 0, 0, 0, time.Hour, 0, 0, 0}[i] })
	f.must(err)
	answer.Body.Close()
	if answer.StatusCode != 408 {
		t.Errorf("an import that stands still is answered %d", answer.StatusCode)
	}
}

// The server has read an empty body to its end when the import fails, so net/http
// watches the connection already.
func TestExchange_AnswersEmptyImport(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	s := f.live()
	for range 500 {
		answer, err := f.ask(t.Context(), s, "POST", "/v1/import", strings.NewReader(""))
		f.must(err)
		raw, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != 400 || !strings.Contains(string(raw), "is not an export") {
			t.Fatalf("answered %d %s", answer.StatusCode, raw)
		}
	}
}

// faulty is an exchanger whose exports fail midway, or never end.
type faulty struct {
	Exchanger
	err   error
	ended chan error
}

func (e *faulty) Export(ctx context.Context, _ exchange.Selection, w io.Writer) error {
	if e.err != nil {
		_, _ = io.WriteString(w, exportHead+"\n")
		return e.err
	}
	for {
		if _, err := io.WriteString(w, strings.Repeat(" ", 99)+"\n"); err != nil || ctx.Err() != nil {
			e.ended <- errors.Join(err, ctx.Err())
			return err
		}
	}
}

func TestExchange_MarksFailedExport(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{memory.Errorf(memory.KindUnavailable, "secret address"), errors.New("secret"),
		context.DeadlineExceeded} {
		f := newFixture(t, func(o *Options) { o.Exchange = &faulty{err: cause} })
		answer, err := f.ask(t.Context(), f.live(), "GET", "/v1/export", nil)
		f.must(err)
		raw, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		lines := strings.Split(string(raw), "\n")
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(lines) != 3 || !strings.HasPrefix(lines[1], `{"error":"`) ||
			strings.Contains(lines[1], "secret") {
			t.Errorf("%v ends the export with %q, %v", cause, raw, err)
		}
	}
	// An error before the first byte is answered with a problem document.
	f := newFixture(t, func(o *Options) { o.Access.KeyTTL = time.Hour })
	f.want(200, "GET", "/v1/key", "") // the key is read once
	f.must(f.store.Close())
	if w := f.send("GET", "/v1/export", ""); w.Code != http.StatusServiceUnavailable ||
		strings.Contains(w.Body.String(), exchange.Format) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// An export ends when its reader leaves or stops reading, and continues while the
// reader is slow.
func TestExchange_EndsExportWithItsReader(t *testing.T) {
	t.Parallel()
	exchanger := &faulty{ended: make(chan error, 1)}
	f := newFixture(t, func(o *Options) { shortLimits(o); o.Exchange = exchanger })
	s := f.live()
	ended := func(what string) {
		t.Helper()
		select {
		case <-exchanger.ended:
		case <-time.After(5 * time.Minute):
			t.Fatalf("%s: the export goes on", what)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	answer, err := f.ask(ctx, s, "GET", "/v1/export", nil)
	f.must(err)
	in := bufio.NewReader(answer.Body)
	for range 8 { // slowly, over several times the timeout of a request
		time.Sleep(300 * time.Millisecond)
		if _, err := io.CopyN(io.Discard, in, 100_000); err != nil {
			t.Fatalf("a slow reader is cut off: %v", err)
		}
	}
	leave()
	answer.Body.Close()
	ended("the reader has left")

	answer, err = f.ask(t.Context(), s, "GET", "/v1/export", nil)
	f.must(err)
	ended("the reader does not read")
	answer.Body.Close()
}
