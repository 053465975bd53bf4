package reembed

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

var errCrashed = errors.New("crashed")

// crashing is a database whose client crashes at the n-th call that changes
// something, before or after it: later calls do nothing.
type crashing struct {
	Records
	n     int
	after bool
	calls int
}

func (m *crashing) call(f func() error) error {
	m.calls++
	switch {
	case m.calls > m.n, m.calls == m.n && !m.after:
		return errCrashed
	case m.calls == m.n:
		_ = f()
		return errCrashed
	}
	return f()
}

func (m *crashing) Reembed(ctx context.Context, space memory.Space, e []db.Reembedding) error {
	return m.call(func() error { return m.Records.Reembed(ctx, space, e) })
}

func (m *crashing) ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error {
	return m.call(func() error { return m.Records.ChangeOver(ctx, to, copied, at) })
}

func (m *crashing) DropPrevious(ctx context.Context) error {
	return m.call(func() error { return m.Records.DropPrevious(ctx) })
}

func (m *crashing) SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (n int, err error) {
	err = m.call(func() error { n, err = m.Records.SettleEmbeddings(ctx, space, limit); return err })
	return n, err
}

func (m *crashing) SetTarget(ctx context.Context, space memory.Space, at time.Time) (state db.ServingState, err error) {
	err = m.call(func() error { state, err = m.Records.SetTarget(ctx, space, at); return err })
	return state, err
}

func (m *crashing) Requeue(ctx context.Context, ids []string, at time.Time) (n int, err error) {
	err = m.call(func() error { n, err = m.Records.Requeue(ctx, ids, at); return err })
	return n, err
}

// Wherever a process crashes, the next one continues, and recall finds all memories
// in the meantime.
func TestWork_ContinuesAfterCrash(t *testing.T) {
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

			faults := &crashing{n: n, after: after}
			crashed := p.start(newSpace, func(r Records) Records {
				faults.Records = r
				return faults
			})
			for range 5 {
				if _, err := crashed.Work(t.Context()); err != nil {
					break
				}
			}
			p.must(crashed.sw.close())
			p.must(crashed.store.Close())
			r := p.start(newSpace, nil)
			if found, degraded, err := r.similar(); err != nil || len(degraded) > 0 || len(found) != len(contents) {
				t.Errorf("crashed at step %d (after it: %t): %d found, degraded %v, %v", n, after, len(found), degraded, err)
			}
			r.settle()
			r.checkComplete(newSpace, contents)
			p.must(r.sw.close())
			p.must(r.store.Close())
			if faults.calls < n {
				break
			}
			points++
		}
	}
	t.Logf("%d points of failure", points)
	if points < 12 {
		t.Errorf("%d points of failure, want at least 12", points)
	}
}
