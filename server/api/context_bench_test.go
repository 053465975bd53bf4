package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/ingest"
)

// BenchmarkContext requests a context of 100 memories, 50 facts and 200 events,
// which fit. It reports the 95th percentile.
func BenchmarkContext(b *testing.B) {
	a := newFixture(b, nil)
	a.session = session.New(session.Parts{Records: a.store, Now: a.now}, session.Settings{Events: 200, Tokens: 20_000,
		Age: time.Hour, CacheBytes: 1 << 20})
	a.restart(func(o *Options) { o.Conversations.Sessions = a.session })
	for i := range 100 {
		a.keep(ingest.Write{Owner: owner("u"), Content: fmt.Sprintf("On day %d the user swam %d lanes in the pool of town "+
			"number %d.", i, i*7, i%13)})
	}
	for i := range 50 {
		a.want(200, "PUT", "/v1/facts", fmt.Sprintf(`{"user_id":"u","type":"profile","key":"favourite %d","value":"the `+
			`%dth of its kind"}`, i, i*3))
	}
	for i := range 20 {
		messages := make([]string, 10)
		for j := range messages {
			messages[j] = fmt.Sprintf(`{"role":"user","content":"Then I swam lane %d in %d seconds, and the water was colder `+
				`than before."}`, i*10+j, 40+j)
		}
		a.say("u", "c", messages...)
	}
	const body = `{"user_id":"u","conversation_id":"c","query":"swimming in the pool","limit":100,"max_tokens":50000,` +
		`"touch":false,"route":false,"condense":false}`
	var took []time.Duration
	for b.Loop() {
		r := httptest.NewRequest("POST", "/v1/context", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer read")
		w := httptest.NewRecorder()
		began := time.Now()
		a.ServeHTTP(w, r)
		took = append(took, time.Since(began))
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	got := a.contextOf(body[1 : len(body)-1])
	if len(got.Memories) < 70 || got.Parts[1].Items != 50 || got.Parts[3].Items != 200 {
		b.Fatalf("%+v", got.Parts)
	}
	b.ReportMetric(float64(got.Size.Used), "tokens")
}
