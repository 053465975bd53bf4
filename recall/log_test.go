package recall

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// logStore is a database that is unavailable while down.
type logStore struct {
	LogStore
	down bool
}

func (s *logStore) LogRecalls(ctx context.Context, entries []memory.LoggedRecall) error {
	if len(entries) > logRows {
		return fmt.Errorf("%d entries at once", len(entries))
	}
	if s.down {
		return errDown
	}
	return s.LogStore.LogRecalls(ctx, entries)
}

// logged lists the entries of the user.
func (f *fixture) logged() []memory.LoggedRecall {
	f.t.Helper()
	entries, err := f.store.ListRecalls(f.t.Context(), db.RecallFilter{Owner: ada, Limit: memory.MaxPage})
	if err != nil {
		f.t.Fatal(err)
	}
	return entries
}

func TestLogged_LogsWhatIsReturned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", nil, true)
	f.add("Ada keeps goats", nil, true)
	f.vectorsDown = true
	log := NewLog(f.store, time.Hour, zaptest.NewLogger(t))
	service := Logged{Service: f.Service, Log: log}
	a, err := service.Recall(t.Context(), Query{
		Owner: ada, AgentID: "vet", Text: "bees", Limit: 2, At: begin.AddDate(1, 0, 0),
	})
	if err != nil || len(a.Memories) != 2 {
		t.Fatalf("%+v %v", a, err)
	}
	if entries := f.logged(); len(entries) != 0 {
		t.Errorf("logged on the request path: %+v", entries)
	}
	log.flush(t.Context())
	want := []memory.LoggedRecall{{
		Owner: ada, AgentID: "vet", Query: "bees", Degraded: []string{partVectors}, At: begin,
		Memories: []memory.LoggedMemory{
			{
				ID: a.Memories[0].Memory.ID, Relevance: a.Memories[0].Relevance, Confidence: a.Memories[0].Confidence,
			},
			{
				ID: a.Memories[1].Memory.ID, Relevance: a.Memories[1].Relevance, Confidence: a.Memories[1].Confidence,
			},
		},
	}}
	entries := f.logged()
	for i := range entries {
		entries[i].ID = ""
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Error(diff)
	}
}

func TestLog_KeepsEntriesWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	store := &logStore{LogStore: f.store, down: true}
	log := NewLog(store, time.Hour, zaptest.NewLogger(t))
	service := Logged{Service: f.Service, Log: log}
	for range maxEntries + 5 {
		if _, err := service.Recall(t.Context(), Query{Owner: ada, Text: "bees", Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	log.flush(t.Context())
	if len(log.waiting) != maxEntries {
		t.Errorf("%d entries wait, want %d", len(log.waiting), maxEntries)
	}
	store.down = false
	log.flush(t.Context())
	if n := len(f.logged()); n != memory.MaxPage || len(log.waiting) != 0 {
		t.Errorf("%d entries in a page of the log, %d wait", n, len(log.waiting))
	}
	n, err := PurgeLog(t.Context(), f.store, begin)
	if n != 0 || err != nil {
		t.Errorf("purged %d entries that are not old: %v", n, err)
	}
	n, err = PurgeLog(t.Context(), f.store, begin.Add(time.Microsecond))
	if n != maxEntries || err != nil || len(f.logged()) != 0 {
		t.Errorf("purged %d entries, want %d: %v", n, maxEntries, err)
	}
}
