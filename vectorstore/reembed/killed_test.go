package reembed

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

var errKilled = errors.New("killed")

// mortal is a database whose client dies at the n-th call that changes
// something, before or after it: no later call arrives.
type mortal struct {
	Records
	n     int
	after bool
	calls int
}

func (m *mortal) call(f func() error) error {
	m.calls++
	switch {
	case m.calls > m.n, m.calls == m.n && !m.after:
		return errKilled
	case m.calls == m.n:
		_ = f()
		return errKilled
	}
	return f()
}

func (m *mortal) Reembed(ctx context.Context, space memory.Space, e []db.Reembedding) error {
	return m.call(func() error { return m.Records.Reembed(ctx, space, e) })
}

func (m *mortal) ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error {
	return m.call(func() error { return m.Records.ChangeOver(ctx, to, copied, at) })
}

func (m *mortal) DropPrevious(ctx context.Context) error {
	return m.call(func() error { return m.Records.DropPrevious(ctx) })
}

func (m *mortal) SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (n int, err error) {
	err = m.call(func() error { n, err = m.Records.SettleEmbeddings(ctx, space, limit); return err })
	return n, err
}

func (m *mortal) SetTarget(ctx context.Context, space memory.Space, at time.Time) (state db.ServingState, err error) {
	err = m.call(func() error { state, err = m.Records.SetTarget(ctx, space, at); return err })
	return state, err
}

func (m *mortal) Requeue(ctx context.Context, ids []string, at time.Time) (n int, err error) {
	err = m.call(func() error { n, err = m.Records.Requeue(ctx, ids, at); return err })
	return n, err
}

// Wherever a process dies, the next one goes on, and recall finds everything
// meanwhile.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	points := 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			p := newPlace(t)
			first := p.start(oldSpace, nil)
			contents := contentsOf(20, "remembered")
			first.write(contents...)
			p.must(first.sw.close())
			p.must(first.store.Close())

			faults := &mortal{n: n, after: after}
			killed := p.start(newSpace, func(r Records) Records {
				faults.Records = r
				killing := faults
				return killing
			})
			for range 5 {
				if _, err := killed.Work(t.Context()); err != nil {
					break
				}
			}
			p.must(killed.sw.close())
			p.must(killed.store.Close())
			r := p.start(newSpace, nil)
			if found, degraded, err := r.similar(); err != nil || len(degraded) > 0 || len(found) != len(contents) {
				t.Errorf("killed at step %d (after it: %t): %d found, degraded %v, %v", n, after, len(found), degraded, err)
			}
			r.settle()
			r.whole(newSpace, contents)
			p.must(r.sw.close())
			p.must(r.store.Close())
			if faults.calls < n {
				break
			}
			points++
		}
	}
	t.Logf("%d points of death", points)
	if points < 12 {
		t.Errorf("%d points of death, want at least 12", points)
	}
}
