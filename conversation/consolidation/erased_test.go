package consolidation

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// erase begins an erasure of Ada, and also ends it if ends is set.
func (b *fixture) erase(ends bool) {
	b.t.Helper()
	ctx, now := context.Background(), b.clock.Now()
	job := ConsolidateConversation{AppID: "none", UserID: "none"}
	e, err := b.store.BeginErasure(ctx, ada, now, now.Add(time.Hour), job)
	for ends && err == nil {
		var some db.ErasedSome
		some, err = b.store.EraseSome(ctx, e, db.EraseStep{Now: now, Limit: 100})
		if err == nil && some.Deleted == (db.Erased{}) {
			_, err = b.store.EndErasure(ctx, e, now, 0)
			break
		}
	}
	if err != nil {
		b.t.Error(err)
	}
}

// wantNoJobs requires that no job names Ada.
func (b *fixture) wantNoJobs() {
	b.t.Helper()
	found, err := b.store.ListJobs(context.Background(),
		db.JobFilter{Kinds: []string{ConsolidateConversation{}.Kind()}, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, j := range found {
		if strings.Contains(string(j.Payload), ada.UserID) {
			b.t.Errorf("a job names the user: %s", j.Payload)
		}
	}
}

// erasedAfterEnd erases Ada after the consolidations of an ended conversation were listed.
type erasedAfterEnd struct {
	Records
	b    *fixture
	ends bool
}

func (r erasedAfterEnd) ListConsolidations(
	ctx context.Context, f db.ConsolidationFilter,
) ([]memory.Consolidation, error) {
	list, err := r.Records.ListConsolidations(ctx, f)
	r.b.erase(r.ends)
	return list, err
}

func TestEnqueue_LeavesErasedUsersOut(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"being erased": false, "erased": true} {
		t.Run(name+" after a turn", func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, embedder, true)
			turn := b.heard(b.say("c", "", event("", "Hello.")), 1)
			b.erase(ends)
			if err := b.OnTurn(t.Context(), turn); err != nil {
				t.Error(err)
			}
			b.wantNoJobs()
		})
		t.Run(name+" after an end", func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, embedder, true)
			b.trip("c")
			b.Records = erasedAfterEnd{b.Records, b, ends}
			ended, err := b.End(t.Context(), "app", "ada", "c", memory.TriggerEnd)
			if err != nil || !ended.Pending() {
				t.Errorf("%+v, %v", ended, err)
			}
			b.wantNoJobs()
		})
	}
}
