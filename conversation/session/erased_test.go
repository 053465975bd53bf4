package session

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// erasedAfterRead begins an erasure of Ada after her conversation was read, and also ends it if ends is set.
type erasedAfterRead struct {
	Records
	b    *fixture
	ends bool
}

func (r erasedAfterRead) Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error) {
	c, err := r.Records.Conversation(ctx, appID, userID, id)
	now := r.b.clock.Now()
	job := CompactConversation{AppID: "none", UserID: "none"}
	e, failure := r.b.store.BeginErasure(ctx, ada, now, now.Add(time.Hour), job)
	for r.ends && failure == nil {
		var some db.ErasedSome
		some, failure = r.b.store.EraseSome(ctx, e, db.EraseStep{Now: now, Limit: 100})
		if failure == nil && some.Deleted == (db.Erased{}) {
			_, failure = r.b.store.EndErasure(ctx, e, now, 0)
			break
		}
	}
	if failure != nil {
		r.b.t.Error(failure)
	}
	return c, err
}

func TestOnTurnProcessed_EnqueuesNoJobForAnErasedUser(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"being erased": false, "erased": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			s := b.replica(small)
			turn := b.sayMany(s, "c", 1, 15)
			s.Records = erasedAfterRead{s.Records, b, ends}
			s.OnTurnProcessed(t.Context(), turn)
			if len(b.heard) != 1 {
				t.Fatalf("heard of %d turns, want 1", len(b.heard))
			}
			for _, j := range b.compactions() {
				if strings.Contains(string(j.Payload), ada.UserID) {
					t.Errorf("a job names the user: %s", j.Payload)
				}
			}
		})
	}
}
