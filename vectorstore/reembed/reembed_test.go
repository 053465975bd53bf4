package reembed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
)

// The new model takes over during recalls and writes, and no answer lacks a memory
// that an earlier answer had.
func TestWork_ChangesModelWhileServing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.keep = time.Minute
	before := p.start(oldSpace, nil)
	contents := contentsOf(60, "written before")
	before.write(contents...)
	p.must(before.sw.close())

	r := p.start(newSpace, nil)
	if progress := r.Progress(); progress.Serving != oldSpace || progress.Target != newSpace || progress.Remaining != 60 {
		t.Errorf("at the start %+v", progress)
	}
	if err := r.sw.Vectors().Rebuild(t.Context(), nil); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a rebuild during re-embedding: %v", err)
	}
	stop := r.run()
	ended := make(chan struct{})
	var group sync.WaitGroup
	rest := sync.OnceFunc(func() { close(ended); group.Wait(); stop() })
	defer rest()
	var known []string
	group.Go(func() { // each answer has all memories that were written before the query
		for i := 0; ; i++ {
			changed := r.sw.Space() == newSpace
			found, degraded, err := r.similar()
			if changed { // no recall searches the previous collection any more
				p.ahead.Store(int64(p.keep))
			}
			if err != nil || len(degraded) > 0 {
				t.Errorf("recall %d: degraded %v, %v", i, degraded, err)
			}
			for _, content := range known {
				if !slices.Contains(found, content) {
					t.Errorf("recall %d lost %q", i, content)
				}
			}
			known = found
			select {
			case <-ended:
				return
			default:
			}
		}
	})
	var written []string
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
			}
			content := fmt.Sprintf("written during it number%d", i)
			r.write(content)
			written = append(written, content)
		}
	})
	r.settle()
	rest()
	p.ahead.Add(int64(time.Minute)) // pushes that the change-over refused are due again
	t.Logf("%d memories were written in the meantime", len(written))
	for { // embeds the last writes
		if !r.push.SawUnembedded() {
			if n, err := r.store.CountUnembedded(t.Context(), newSpace); err == nil && n == 0 {
				break
			}
		}
		if _, err := r.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.checkComplete(newSpace, append(contents, written...))
	if _, err := os.Stat(filepath.Join(p.dir, sqlitevec.FileName(oldSpace))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the previous vectors still exist: %v", err)
	}
	if _, err := r.maintenance.Rebuild(t.Context()); err != nil {
		t.Errorf("a rebuild afterwards: %v", err)
	}
}

// While the old model is unavailable, recall searches by words and reports that.
// While the new one is unavailable, the old one serves. The work continues later.
func TestWork_WaitsForUnavailableEmbedders(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.start(oldSpace, nil)
	contents := contentsOf(10, "remembered")
	first.write(contents...)
	p.must(first.sw.close())

	r := p.start(newSpace, nil)
	r.set.Slice = 30 * time.Millisecond
	p.embedders[newSpace].down.Store(true)
	done, err := r.Work(t.Context())
	if err != nil || done.Embedded != 0 || done.Remaining != 10 || done.Note != "new is unavailable" {
		t.Errorf("without the new model: %+v, %v", done, err)
	}
	if found, degraded, err := r.similar(); err != nil || len(degraded) > 0 || len(found) != 10 {
		t.Errorf("without the new model: %d found, degraded %v, %v", len(found), degraded, err)
	}
	p.embedders[newSpace].down.Store(false)
	p.embedders[oldSpace].down.Store(true)
	query := recall.Query{Owner: ada, Text: "remembered number3", Limit: 1, NoTouch: true}
	answer, err := r.recall.Recall(t.Context(), query)
	if err != nil || len(answer.Memories) != 1 || !slices.Equal(answer.Degraded, []string{"embedder"}) {
		t.Errorf("without the old model: %+v, %v", answer, err)
	}
	r.set.Slice = time.Minute
	r.settle()
	r.checkComplete(newSpace, contents)
}

// Two replicas do the work in turn and use the same serving space. A replica that
// is not configured for the target leaves the work to the other one. The replica
// that started last sets the target, even if that is the previous space.
func TestWork_IsSharedByReplicas(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stays := p.start(oldSpace, nil)
	contents := contentsOf(30, "remembered")
	stays.write(contents...)
	changes := p.start(newSpace, nil)

	stays.check(t.Context())
	if stays.requested.Load() != 1 {
		t.Error("the work is not requested")
	}
	if done, err := stays.Work(t.Context()); err != nil || done.Embedded != 0 || done.Note == "" {
		t.Errorf("the replica that is not configured for it: %+v, %v", done, err)
	}
	_, release, err := changes.acquireLease(t.Context())
	if err != nil || release == nil {
		t.Fatalf("the lease is not free: %v", err)
	}
	stays.check(t.Context())
	done, err := stays.Work(t.Context())
	if err != nil || done.Note != "another job does the work" || stays.requested.Load() != 1 {
		t.Errorf("while another replica has the lease: %+v, %v, requested %d times", done, err, stays.requested.Load())
	}
	if done, err = changes.Work(t.Context()); err != nil || done.Note != "another job does the work" {
		t.Errorf("while another job of the replica has the lease: %+v, %v", done, err)
	}
	release()

	stop := stays.run()
	changes.settle()
	for deadline := time.Now().Add(5 * time.Minute); stays.sw.Space() != newSpace; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the other replica does not follow")
		}
	}
	stays.write("written by the other replica")
	stop()
	changes.checkComplete(newSpace, append(contents, "written by the other replica"))

	back := p.start(oldSpace, nil)
	back.settle()
	back.checkComplete(oldSpace, append(contents, "written by the other replica"))
	changes.check(t.Context())
	if changes.sw.Space() != oldSpace {
		t.Errorf("the other replica serves %v", changes.sw.Space())
	}
}

// A search in a space that is not open fails, and a store refuses vectors of
// another space.
func TestVectors_RefuseOtherSpaces(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.start(oldSpace, nil)
	vector := make([]float32, newSpace.Dim)
	vector[0] = 1
	q := vectorstore.Query{Owner: ada, Embedding: vector, Space: newSpace, Limit: 1}
	if _, err := r.sw.Vectors().Search(t.Context(), q); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("a search in a space that is not open: %v", err)
	}
	short := vector[:oldSpace.Dim]
	store := r.sw.current().Vectors
	other := memory.Space{Model: "other", Dim: oldSpace.Dim}
	q = vectorstore.Query{Owner: ada, Embedding: short, Space: other, Limit: 1}
	if _, err := store.Search(t.Context(), q); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("a query by another model: %v", err)
	}
	record := vectorstore.Record{ID: memory.NewID(), Owner: ada, Content: "x", Embedding: short, Space: other}
	if err := store.Replace(t.Context(), []vectorstore.Record{record}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("a record by another model: %v", err)
	}
}
