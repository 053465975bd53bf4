package ingest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

func TestWrite_RefusesUnimportantMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MinImportance = 0.3
	write := func(content string, importance float64) Write {
		return Write{Owner: ada, Content: content, Importance: &importance}
	}
	results := b.WriteBatch(t.Context(), []Write{write("too little", 0.29), write("enough", 0.3), {Owner: ada,
		Content: "by default"}, write("nothing", 0)})
	for i, refused := range []bool{true, false, false, true} {
		if !refused {
			if results[i].Err != nil || results[i].Written.Memory.ID == "" {
				t.Errorf("write %d: %+v", i, results[i])
			}
			continue
		}
		var e *memory.Error
		if !errors.As(results[i].Err, &e) || e.Kind != memory.KindInvalid || len(e.Fields) != 1 ||
			e.Fields[0].Path != "importance" ||
			!strings.Contains(e.Fields[0].Message, "0.3 (memories.min_importance)") {
			t.Errorf("write %d: %v", i, results[i].Err)
		}
	}
	if list := b.memories(); len(list) != 2 {
		t.Errorf("%+v", list)
	}
	if _, err := b.Write(t.Context(), write("alone", 0.1)); !memory.IsKind(err, memory.KindInvalid) {
		t.Error(err)
	}
	b.set.MinImportance = 0.8
	if _, err := b.Write(t.Context(), Write{Owner: ada, Content: "by default"}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("the importance of a write without one is held to the bound, too: %v", err)
	}
}

func TestOnGrown_GetsTheNumberOfNewMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	var heard []int
	b.Writer.OnGrown = func(_ context.Context, owner memory.Owner, added int) {
		if owner != ada {
			t.Errorf("heard of %v", owner)
		}
		heard = append(heard, added)
	}
	b.WriteBatch(t.Context(), []Write{{Owner: ada, Content: "one"}, {Owner: ada, Content: "two"}})
	m := b.write("one", 0.9, b.clock.Now()) // merged
	if _, err := b.Change(t.Context(), ada.AppID, m.Memory.ID, Change{Importance: &m.Memory.Importance}); err != nil {
		t.Fatal(err)
	}
	if len(heard) != 1 || heard[0] != 2 {
		t.Errorf("heard %v, want 2 once", heard)
	}
}
