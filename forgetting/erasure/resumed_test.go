package erasure

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

var errDied = memory.Errorf(memory.KindUnavailable, "the process has died")

// crashing simulates a process that dies at its n-th call of a store, before or after the call: all later calls fail.
type crashing struct {
	Records
	vectors Vectors
	calls   int
	at      int  // the call at which it dies; 0: never
	late    bool // after the call
}

func (m *crashing) step(call func() error) error {
	m.calls++
	dies := m.calls == m.at
	if m.at > 0 && m.calls > m.at || dies && !m.late {
		return errDied
	}
	if err := call(); err != nil || !dies {
		return err
	}
	return errDied
}

func (m *crashing) BeginErasure(ctx context.Context, owner memory.Owner, at, due time.Time, job db.Job) (
	e db.Erasure, err error,
) {
	err = m.step(func() error { e, err = m.Records.BeginErasure(ctx, owner, at, due, job); return err })
	return e, err
}

func (m *crashing) Erasure(ctx context.Context, owner memory.Owner) (e db.Erasure, err error) {
	err = m.step(func() error { e, err = m.Records.Erasure(ctx, owner); return err })
	return e, err
}

func (m *crashing) EraseSome(ctx context.Context, e db.Erasure, step db.EraseStep) (some db.ErasedSome, err error) {
	err = m.step(func() error { some, err = m.Records.EraseSome(ctx, e, step); return err })
	return some, err
}

func (m *crashing) ErasedCopies(ctx context.Context, owner memory.Owner) (ids []string, err error) {
	err = m.step(func() error { ids, err = m.Records.ErasedCopies(ctx, owner); return err })
	return ids, err
}

func (m *crashing) EndErasure(ctx context.Context, e db.Erasure, at time.Time, vectors int) (
	done db.Erasure, err error,
) {
	err = m.step(func() error { done, err = m.Records.EndErasure(ctx, e, at, vectors); return err })
	return done, err
}

func (m *crashing) Delete(ctx context.Context, ids []string) error {
	return m.step(func() error { return m.vectors.Delete(ctx, ids) })
}

func (m *crashing) DeleteOwner(ctx context.Context, owner memory.Owner) (n int, err error) {
	err = m.step(func() error { n, err = m.vectors.DeleteOwner(ctx, owner); return err })
	return n, err
}

func (m *crashing) CountOwner(ctx context.Context, owner memory.Owner) (n int, err error) {
	err = m.step(func() error { n, err = m.vectors.CountOwner(ctx, owner); return err })
	return n, err
}

// Wherever the process dies, the next call or the job continues, and the receipt counts each row once.
func TestErase_CompletesAfterACrashAtEachStep(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.live(bob)
	bobs := b.held(bob)
	dying := func(at int, late bool) *crashing {
		m := &crashing{Records: b.store, vectors: b.vectors, at: at, late: late}
		b.Service.records, b.Service.vectors = m, m
		return m
	}
	b.live(ada)
	whole := dying(0, false)
	b.erased(ada)
	points := 0
	for at := 1; at <= whole.calls; at++ {
		for _, late := range []bool{false, true} {
			for _, byJob := range []bool{false, true} {
				before, err := b.store.Erasure(t.Context(), ada)
				b.must(err)
				b.live(ada)
				dying(at, late)
				if _, err := b.Erase(t.Context(), ada); !memory.IsKind(err, memory.KindUnavailable) {
					t.Fatalf("dying at call %d, late %v: %v", at, late, err)
				}
				e, err := b.store.Erasure(t.Context(), ada)
				b.must(err)
				if begun := e.Round > before.Round; begun && e.DoneAt.IsZero() {
					b.wantMarked(ada)
				} else if begun && b.held(ada) != 0 {
					t.Errorf("dying at call %d, late %v: the erasure has ended with %d things left", at, late, b.held(ada))
				}
				dying(0, false)
				if byJob && e.Round > before.Round {
					b.clock.Advance(retry)
					_, err := b.Work(t.Context(), EraseUser{AppID: ada.AppID, UserID: ada.UserID})
					b.must(err)
				} else if e.Round == before.Round || e.DoneAt.IsZero() {
					b.erased(ada)
				}
				e, err = b.store.Erasure(t.Context(), ada)
				b.must(err)
				// Deletions that the vector store had not confirmed are not counted.
				vectors := e.Deleted.Vectors
				e.Deleted.Vectors = lived.Vectors
				if e.Round != before.Round+1 || e.DoneAt.IsZero() || e.Deleted != lived || vectors > lived.Vectors {
					t.Errorf("dying at call %d, late %v: %+v, %d vectors", at, late, e, vectors)
				}
				if held, jobs := b.held(ada), b.jobs("erase_user"); held != 0 || jobs != 0 {
					t.Errorf("dying at call %d, late %v: %d things and %d jobs are left", at, late, held, jobs)
				}
				b.wantPool()
				points++
			}
		}
	}
	t.Logf("%d deaths: before and after each of %d calls, resumed by a call and by the job", points, whole.calls)
	if whole.calls < 6 {
		t.Errorf("only %d calls of the stores", whole.calls)
	}
	if n := b.held(bob); n != bobs {
		t.Errorf("%d things of another are left of %d", n, bobs)
	}
}

// The job does nothing for a user who has been erased and has new data, or is unknown.
func TestEraseUser_DoesNothingIfTheErasureHasEnded(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for _, job := range []EraseUser{{}, {AppID: ada.AppID, UserID: ada.UserID}} {
		if _, err := b.Work(t.Context(), job); err != nil {
			t.Error(err)
		}
	}
	b.erased(ada)
	b.write(ada, "Is here again.")
	_, err := b.Work(t.Context(), EraseUser{AppID: ada.AppID, UserID: ada.UserID})
	b.must(err)
	if n := len(b.memories(ada)); n != 1 {
		t.Errorf("%d memories are there, want the new one", n)
	}
}

// A job whose erasure cannot end yet is retried later.
func TestEraseUser_IsNeverGivenUp(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.live(ada)
	b.Service.vectors = &away{Vectors: b.vectors}
	_, err := b.Erase(t.Context(), ada)
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why        string
		pass, want time.Duration
	}{
		{"its caller may be at it", retry / 3, retry - retry/3},
		{"the vector store is unavailable", retry - retry/3, retry},
	} {
		b.clock.Advance(c.pass)
		_, err = b.Work(t.Context(), EraseUser{AppID: ada.AppID, UserID: ada.UserID})
		var later *river.JobSnoozeError
		if !errors.As(err, &later) || later.Duration != c.want {
			t.Errorf("while %s the job answers %v, want another try after %s", c.why, err, c.want)
		}
	}
}

// A copy to another collection may have read rows that the erasure deletes: the erasure deletes vectors after its end.
func TestErase_WaitsForCopies(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.live(ada)
	copied := []vectorstore.Record{{ID: memory.NewID(), Owner: ada, Type: memory.TypeFact, Domain: memory.GeneralChat,
		Content: "copied", Embedding: make([]float32, 64)}}
	copied[0].Embedding[0] = 1
	begun, erased, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		ended <- b.store.Copy(t.Context(), func(ctx context.Context) error {
			begun <- true
			select {
			case <-erased: // the erasure has not waited
			case <-time.After(300 * time.Millisecond):
			}
			return b.vectors.Insert(ctx, copied)
		})
	}()
	<-begun
	receipt, err := b.Erase(t.Context(), ada)
	close(erased)
	b.must(err)
	b.must(<-ended)
	if n, err := b.vectors.CountOwner(t.Context(), ada); n != 0 || err != nil {
		t.Errorf("after the receipt %+v the vector store has %d records, %v", receipt, n, err)
	}
}
