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

// A changed model takes over while recall and writes go on: no answer is
// wrong, and none lacks a memory that an earlier one had.
func TestAChangedModelTakesOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	before := p.start(oldSpace, nil)
	contents := contentsOf(60, "written before")
	before.write(contents...)
	p.must(before.sw.close())

	r := p.start(newSpace, nil)
	if progress := r.Progress(); progress.Serving != oldSpace || progress.Target != newSpace || progress.Remaining != 60 {
		t.Errorf("at the start %+v", progress)
	}
	if err := r.sw.Vectors().Rebuild(t.Context(), nil); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a rebuild amid re-embedding: %v", err)
	}
	stop := r.run()
	ended := make(chan struct{})
	var group sync.WaitGroup
	rest := sync.OnceFunc(func() { close(ended); group.Wait(); stop() })
	defer rest()
	var known []string
	group.Go(func() { // each answer holds all that was written before it was asked for
		for i := 0; ; i++ {
			found, degraded, err := r.similar()
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
			content := fmt.Sprintf("written meanwhile number%d", i)
			r.write(content)
			written = append(written, content)
		}
	})
	r.settle()
	rest()
	t.Logf("%d memories were written meanwhile", len(written))
	for { // what was written in the last moments
		if !r.push.SawUnembedded() {
			if n, err := r.store.CountUnembedded(t.Context(), newSpace); err == nil && n == 0 {
				break
			}
		}
		if _, err := r.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.whole(newSpace, append(contents, written...))
	if _, err := os.Stat(filepath.Join(p.dir, sqlitevec.FileName(oldSpace))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the former vectors are still there: %v", err)
	}
	if _, err := r.keep.Rebuild(t.Context()); err != nil {
		t.Errorf("a rebuild afterwards: %v", err)
	}
}

// While the old model is away recall goes by words and says so; while the new
// one is, the old one serves. Neither ends the work.
func TestEmbeddersAway(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.start(oldSpace, nil)
	contents := contentsOf(10, "remembered")
	first.write(contents...)
	p.must(first.sw.close())

	r := p.start(newSpace, nil)
	r.set.Slice = 30 * time.Millisecond
	p.embedders[newSpace].away.Store(true)
	done, err := r.Work(t.Context())
	if err != nil || done.Embedded != 0 || done.Remaining != 10 || done.Note != "new is away" {
		t.Errorf("without the new model: %+v, %v", done, err)
	}
	if found, degraded, err := r.similar(); err != nil || len(degraded) > 0 || len(found) != 10 {
		t.Errorf("without the new model: %d found, degraded %v, %v", len(found), degraded, err)
	}
	p.embedders[newSpace].away.Store(false)
	p.embedders[oldSpace].away.Store(true)
	answer, err := r.recall.Recall(t.Context(), recall.Query{Owner: ada, Text: "remembered number3", Limit: 1, NoTouch: true})
	if err != nil || len(answer.Memories) != 1 || !slices.Equal(answer.Degraded, []string{"embedder"}) {
		t.Errorf("without the old model: %+v, %v", answer, err)
	}
	r.set.Slice = time.Minute
	r.settle()
	r.whole(newSpace, contents)
}

// Two replicas share the work, one at a time, and follow each other; one that
// is not configured for the target leaves the work to the other. The
// configuration that started last wins, and may take all of it back.
func TestReplicas(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stays := p.start(oldSpace, nil)
	contents := contentsOf(30, "remembered")
	stays.write(contents...)
	changes := p.start(newSpace, nil)

	stays.look(t.Context())
	if stays.asked.Load() != 1 {
		t.Error("nobody is asked to do the work")
	}
	if done, err := stays.Work(t.Context()); err != nil || done.Embedded != 0 || done.Note == "" {
		t.Errorf("the replica that is not configured for it: %+v, %v", done, err)
	}
	_, release, err := changes.hold(t.Context())
	if err != nil || release == nil {
		t.Fatalf("the lease is not free: %v", err)
	}
	stays.look(t.Context())
	if done, err := stays.Work(t.Context()); err != nil || done.Note != "another replica is at it" || stays.asked.Load() != 1 {
		t.Errorf("while another is at it: %+v, %v, asked %d times", done, err, stays.asked.Load())
	}
	release()

	stop := stays.run()
	changes.settle()
	for deadline := time.Now().Add(5 * time.Minute); stays.sw.Space() != newSpace; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the other replica does not follow")
		}
	}
	stays.write("written by the one that follows")
	stop()
	changes.whole(newSpace, append(contents, "written by the one that follows"))

	back := p.start(oldSpace, nil)
	back.settle()
	back.whole(oldSpace, append(contents, "written by the one that follows"))
	changes.look(t.Context())
	if changes.sw.Space() != oldSpace {
		t.Errorf("the others serve %v", changes.sw.Space())
	}
}

// Of a pair that has been given up nothing is searched, and vectors of another
// space are refused wherever they come from.
func TestSpacesNeverMeet(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.start(oldSpace, nil)
	vector := make([]float32, newSpace.Dim)
	vector[0] = 1
	if _, err := r.sw.Vectors().Search(t.Context(), vectorstore.Query{Owner: ada, Embedding: vector, Space: newSpace, Limit: 1}); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("a search in a space that is not open: %v", err)
	}
	short := vector[:oldSpace.Dim]
	store := r.sw.current().Vectors
	if _, err := store.Search(t.Context(), vectorstore.Query{Owner: ada, Embedding: short, Space: memory.Space{Model: "other", Dim: oldSpace.Dim}, Limit: 1}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("a query by another model: %v", err)
	}
	record := vectorstore.Record{ID: memory.NewID(), Owner: ada, Content: "x", Embedding: short, Space: memory.Space{Model: "other", Dim: oldSpace.Dim}}
	if err := store.Replace(t.Context(), []vectorstore.Record{record}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("a record by another model: %v", err)
	}
}
