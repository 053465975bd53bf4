package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

func TestTouchesAreCountedOffTheRequestPath(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.add("Ada keeps bees", nil, true)
	at := begin.Add(48 * time.Hour)
	b.now = at
	b.recall(Query{Text: "bees", NoTouch: true})
	for range 3 {
		if a := b.recall(Query{Text: "bees", At: at}); !a.At.Equal(at) || a.Memories[0].Decay > 0.62 {
			t.Errorf("at %s decay %v", a.At, a.Memories[0].Decay)
		}
	}
	before, err := b.store.Memory(t.Context(), ada.AppID, m.ID)
	if err != nil || before.AccessCount != 0 {
		t.Errorf("touched on the request path: %+v %v", before, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.touches.Run(ctx) // ends with a last flush
	after, err := b.store.Memory(t.Context(), ada.AppID, m.ID)
	if err != nil || after.AccessCount != 3 || !after.LastAccessedAt.Equal(at) {
		t.Errorf("after the flush %+v %v", after, err)
	}
}

func TestChineseIsFoundByCharacters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("用户在上海做后端工程师", nil, true)
	b.add("用户喜欢周末爬山", nil, true)
	if got := contents(b.recall(Query{Text: "他是什么工程师？"})); !strings.Contains(got[0], "工程师") {
		t.Errorf("%q", got)
	}
}

// An access does not lie in the future, whatever clock a query was given.
func TestTouchesAreNotAheadOfTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.add("Ada keeps bees", nil, true)
	b.recall(Query{Text: "bees", At: begin.AddDate(100, 0, 0)})
	b.touches.flush(t.Context())
	if after, err := b.store.Memory(t.Context(), ada.AppID, m.ID); err != nil || !after.LastAccessedAt.Equal(begin) {
		t.Errorf("last accessed at %s, %v", after.LastAccessedAt, err)
	}
}

// What is best by words stays in, also where its vector was cut off.
func TestWordsKeepWhatTheVectorsCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set.Candidates = 3
	query, err := hashed.Embed(t.Context(), llm.ForQuery, []string{"alpha beta gamma"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 7 { // near by vector in this order, by words in the reverse
		b.add(strings.TrimSpace(strings.Repeat("alpha ", i)+"other words"), func(m *memory.Memory) {
			v := slices.Clone(query[0])
			v[0] += float32(i)
			m.Embedding = unit(v)
		}, true)
	}
	b.vectorsAway = true // compares all seven
	a := b.recall(Query{Text: "alpha beta gamma", NoTouch: true})
	sources := map[string]int{}
	for _, r := range a.Memories {
		for _, source := range r.Sources {
			sources[source]++
		}
		if slices.Contains(r.Sources, nameVectors) && r.Similarity == 0 {
			t.Errorf("%q was found by vector, without a similarity", r.Memory.Content)
		}
	}
	if len(a.Memories) != 6 || sources[nameVectors] != 3 || sources[nameWords] != 3 {
		t.Errorf("sources %v of %q", sources, contents(a))
	}
}

func unit(v []float32) []float32 {
	norm := Cosine(v, v)
	for i := range v {
		v[i] /= float32(norm)
	}
	return v
}

// A changed memory is ranked by what it says now, though the vector store
// still holds it as it was.
func TestAChangedMemoryIsRankedAsItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.add("Ada loves sushi", nil, true)
	vectors, err := hashed.Embed(t.Context(), llm.ForDocument, []string{"The printer code is 4411"})
	if err != nil {
		t.Fatal(err)
	}
	m.Content, m.Lexemes, m.Embedding, m.Revision, m.UpdatedAt = "The printer code is 4411", "printer code 4411", vectors[0], 2, begin
	if err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error { return tx.Update(ctx, m) }); err != nil {
		t.Fatal(err)
	}
	for query, near := range map[string]bool{"Ada loves sushi": false, "printer code 4411": true} {
		a := b.recall(Query{Text: query, NoTouch: true})
		if len(a.Memories) != 1 || (a.Memories[0].Similarity > 0.5) != near {
			t.Errorf("%q: %+v", query, a.Memories)
		}
	}
}

// A database that is away is an error, whichever domains are asked for.
func TestNoDomainHidesAMissingDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_ = b.store.Close()
	q := Query{Owner: ada, Text: "hi", Limit: 10, Domains: []memory.Domain{memory.GeneralChat}}
	if _, err := b.Recall(t.Context(), q); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("error %v", err)
	}
}

// crowded takes few touches at a time, as a database does that is slow.
type crowded struct{ rows int }

func (c *crowded) Touch(_ context.Context, touches []db.Touch) error {
	if len(touches) > flushRows {
		return errors.New("too many at once")
	}
	c.rows += len(touches)
	return nil
}

func TestManyTouchesAreWrittenInParts(t *testing.T) {
	t.Parallel()
	store := &crowded{}
	touches := NewTouches(store, time.Hour, zaptest.NewLogger(t))
	for i := range 3*flushRows + 1 {
		touches.Add([]string{fmt.Sprint(i)}, begin)
	}
	if touches.flush(t.Context()); store.rows != 3*flushRows+1 || len(touches.waiting) != 0 {
		t.Errorf("%d written, %d waiting", store.rows, len(touches.waiting))
	}
}
