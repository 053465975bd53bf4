package recall

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
)

func TestTouches_AreWrittenOffTheRequestPath(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.add("Ada keeps bees", nil, true)
	at := begin.Add(48 * time.Hour)
	f.now = at
	f.recall(Query{Text: "bees", NoTouch: true})
	for range 3 {
		if a := f.recall(Query{Text: "bees", At: at}); !a.At.Equal(at) || a.Memories[0].Decay > 0.62 {
			t.Errorf("at %s decay %v", a.At, a.Memories[0].Decay)
		}
	}
	before, err := f.store.Memory(t.Context(), ada.AppID, m.ID)
	if err != nil || before.AccessCount != 0 {
		t.Errorf("touched on the request path: %+v %v", before, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.touches.Run(ctx) // ends with a last flush
	after, err := f.store.Memory(t.Context(), ada.AppID, m.ID)
	if err != nil || after.AccessCount != 3 || !after.LastAccessedAt.Equal(at) {
		t.Errorf("after the flush %+v %v", after, err)
	}
}

func TestTouches_AreNeverInTheFuture(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.add("Ada keeps bees", nil, true)
	f.recall(Query{Text: "bees", At: begin.AddDate(100, 0, 0)})
	f.touches.flush(t.Context())
	if after, err := f.store.Memory(t.Context(), ada.AppID, m.ID); err != nil || !after.LastAccessedAt.Equal(begin) {
		t.Errorf("last accessed at %s, %v", after.LastAccessedAt, err)
	}
}

// partStore refuses more than flushRows touches at a time, and counts the touches that it accepts.
type partStore struct{ rows int }

func (p *partStore) Touch(_ context.Context, touches []db.Touch) error {
	if len(touches) > flushRows {
		return errors.New("too many at once")
	}
	p.rows += len(touches)
	return nil
}

func TestTouches_AreWrittenInParts(t *testing.T) {
	t.Parallel()
	store := &partStore{}
	touches := NewTouches(store, time.Hour, zaptest.NewLogger(t))
	for i := range 3*flushRows + 1 {
		touches.Add(ada, []string{fmt.Sprint(i)}, begin)
	}
	touches.flush(t.Context())
	if store.rows != 3*flushRows+1 || len(touches.waiting) != 0 {
		t.Errorf("%d written, %d waiting", store.rows, len(touches.waiting))
	}
}
