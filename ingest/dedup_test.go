package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestProcess_DropsEchoes(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	known := b.write("The user lives in Lisbon near the old harbour", 0.8, time.Time{}).Memory
	const repeated = "The user lives near the old harbour of Lisbon"
	b.models.Facts("harbour", llmtest.Fact{Fact: repeated, Importance: 0.9, Domain: memory.Lifestyle})
	b.similar(known.Content, repeated, 0.9) // too far to be merged

	b.clock.Advance(time.Hour)
	touch := db.Touch{Owner: known.Owner, ID: known.ID, Count: 1, At: b.clock.Now()}
	if err := b.store.Touch(t.Context(), []db.Touch{touch}); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Second)
	echoed := b.turn("What can I do tonight?",
		"Since you live near the old harbour of Lisbon, take a walk there.").Candidates
	if len(echoed) != 1 || echoed[0].Verdict != memory.Echo || echoed[0].MemoryID != known.ID || echoed[0].Reason == "" {
		t.Errorf("the assistant's echo became %+v", echoed)
	}
	said := b.turn("I live near the old harbour of Lisbon", "Lovely.").Candidates
	if len(said) != 1 || said[0].Verdict != memory.Kept {
		t.Errorf("the user's own words became %+v", said)
	}
	b.clock.Advance(time.Hour)
	late := b.turn("And tonight?", "Near the old harbour of Lisbon, where you live, there is a fair.", "True.").Candidates
	if len(late) != 1 || late[0].Verdict != memory.Duplicate {
		t.Errorf("long after the recall it became %+v", late)
	}
}

func TestMerge_KeepsNewerWordingAndHigherImportance(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil // what is similar is merged
	const old, newer = "Ada drinks tea", "Ada drinks green tea daily"
	b.similar(old, newer, 0.96)
	first := b.write(old, 0.9, time.Time{})
	b.clock.Advance(time.Hour)
	second := b.write(newer, 0.8, time.Time{})
	if second.Verdict != memory.Merged || second.Memory.ID != first.Memory.ID {
		t.Fatalf("merged into %+v", second)
	}
	got := b.memories()
	if len(got) != 1 || got[0].Content != newer || got[0].Importance != 0.9 || got[0].Revision != 2 ||
		!got[0].CreatedAt.Equal(first.Memory.CreatedAt) {
		t.Errorf("memories %+v", got)
	}
	history, err := b.store.History(t.Context(), ada.AppID, first.Memory.ID)
	if err != nil || len(history) != 2 || history[1].Kind != memory.EventMerged ||
		!strings.Contains(string(history[1].Detail), old) || !strings.Contains(string(history[1].Detail), newer) {
		t.Errorf("history %+v, %v", history, err)
	}

	// Reported late: an older wording raises the importance and changes nothing else.
	const older = "Ada started to drink tea"
	b.models.Embedding(older, b.models.Vector(newer))
	w := b.write(older, 0.95, first.Memory.CreatedAt.Add(-24*time.Hour))
	if got := b.memories(); w.Verdict != memory.Merged || got[0].Content != newer || got[0].Importance != 0.95 {
		t.Errorf("after an older wording %+v: %+v", w, got[0])
	}
}

// A fact is merged into the oldest of several equally near memories, in whatever order the database returns them.
func TestMerge_PrefersTheOldestOfEquallyNearMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil // what is similar is merged
	for content, place := range map[string][2]float32{"Ada drinks": {1, 0}, "Ada drinks tea": {1, 0.25},
		"Ada drinks milk": {1, -0.25}} {
		vector := make([]float32, llmtest.Dim)
		copy(vector, place[:])
		b.models.Embedding(content, vector)
	}
	b.write("Ada drinks tea", 0.8, time.Time{})
	oldest := b.write("Ada drinks milk", 0.8, b.clock.Now().Add(-24*time.Hour))
	if oldest.Verdict != memory.Kept {
		t.Fatalf("%+v", oldest)
	}
	if w := b.write("Ada drinks", 0.8, time.Time{}); w.Verdict != memory.Merged || w.Memory.ID != oldest.Memory.ID {
		t.Errorf("merged into %+v, not into %s", w, oldest.Memory.ID)
	}
}

func TestMerge_KeepsBothBelowMergeSimilarity(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil // what is similar is merged
	b.similar("Ada drinks tea", "Ada drinks coffee", 0.94)
	b.write("Ada drinks tea", 0.8, time.Time{})
	if w := b.write("Ada drinks coffee", 0.8, time.Time{}); w.Verdict != memory.Kept || len(b.memories()) != 2 {
		t.Errorf("%+v", w)
	}
}

func TestMerge_FindsDuplicatesByContent(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	first := b.write("Ada drinks tea", 0.8, time.Time{})
	again := b.write("Ada drinks tea", 0.7, time.Time{})
	if again.Verdict != memory.Duplicate || again.Memory.ID != first.Memory.ID || again.Memory.Revision != 1 {
		t.Errorf("%+v", again)
	}
	if history, _ := b.store.History(t.Context(), ada.AppID, first.Memory.ID); len(history) != 1 {
		t.Errorf("a duplicate that adds nothing is no event: %+v", history)
	}
	if raised := b.write("Ada drinks tea", 0.95, time.Time{}); raised.Memory.Importance != 0.95 {
		t.Errorf("%+v", raised)
	}
}

func TestMerge_MergesFactsOfOneAnswer(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil // what is similar is merged
	b.similar("The user keeps bees", "The user is a beekeeper", 0.97)
	b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.8, Domain: memory.Lifestyle},
		llmtest.Fact{Fact: "The user is a beekeeper", Importance: 0.9, Domain: memory.Lifestyle})
	got := b.turn("I keep bees").Candidates
	if len(got) != 2 || got[0].Verdict != memory.Kept || got[1].Verdict != memory.Merged ||
		got[1].MemoryID != got[0].MemoryID {
		t.Errorf("candidates %+v", got)
	}
	if m := b.memories(); len(m) != 1 || m[0].Content != "The user is a beekeeper" || m[0].Importance != 0.9 {
		t.Errorf("memories %+v", m)
	}
}

// If two writes of one batch merge into the same memory of the last seconds, the second write sees the result of the
// first.
func TestWriteBatch_MergesWithinTheBatch(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil // what is similar is merged
	first := b.write("Ada drinks tea", 0.5, time.Time{}).Memory
	v := b.models.Vector(first.Content)
	high, low := 0.95, 0.6
	var writes []Write
	for i, importance := range []*float64{&high, &low} {
		content := fmt.Sprintf("Ada drinks tea, variant %d", i)
		b.models.Embedding(content, v)
		writes = append(writes, Write{Owner: ada, Content: content, Importance: importance, Dedup: true})
	}
	for i, r := range b.WriteBatch(t.Context(), writes) {
		if r.Err != nil || r.Written.Memory.ID != first.ID {
			t.Errorf("write %d: %+v", i, r)
		}
	}
	if got := b.memories(); len(got) != 1 || got[0].Importance != high || got[0].Content != "Ada drinks tea, variant 1" {
		t.Errorf("memories %+v", got)
	}
	history, err := b.store.History(t.Context(), ada.AppID, first.ID)
	if err != nil || len(history) != 3 || !strings.Contains(string(history[2].Detail),
		`"from":{"content":"Ada drinks tea, variant 0"}`) {
		t.Errorf("history %+v, %v", history, err)
	}
}

// A turn that waited for its model is compared with the memories that recall had returned when the turn was said.
func TestProcess_DropsEchoesOfDelayedTurns(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	known := b.write("The user lives in Lisbon near the old harbour", 0.8, time.Time{}).Memory
	const repeated = "The user lives near the old harbour of Lisbon"
	b.models.Facts("harbour", llmtest.Fact{Fact: repeated, Importance: 0.9, Domain: memory.Lifestyle})
	b.similar(known.Content, repeated, 0.9)
	b.clock.Advance(time.Hour)
	touch := db.Touch{Owner: known.Owner, ID: known.ID, Count: 1, At: b.clock.Now()}
	if err := b.store.Touch(t.Context(), []db.Touch{touch}); err != nil {
		t.Fatal(err)
	}
	turn := b.accept("What can I do tonight?", "Take a walk, near the old harbour of Lisbon where you live.")
	b.clock.Advance(time.Hour)
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.outcome(turn.ID).Candidates; len(got) != 1 || got[0].Verdict != memory.Echo {
		t.Errorf("an hour later it became %+v", got)
	}
}

// A memory that another replaced can be forgotten, and restored.
func TestForget_ReplacedMemory(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	old, replacement := b.write("Ada lives in Beijing", 0.8, time.Time{}).Memory, b.write("Ada moved to Shanghai", 0.8,
		time.Time{}).Memory
	if err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		rows, err := tx.Memories(ctx, []string{old.ID})
		if err != nil {
			return err
		}
		rows[0].Status = memory.Superseded
		rows[0].SupersededBy = replacement.ID
		rows[0].Revision = 2
		return tx.Update(ctx, rows[0])
	}); err != nil {
		t.Fatal(err)
	}
	if m, err := b.Forget(t.Context(), ada.AppID, old.ID, OfStatement); err != nil || m.Memory.Status != memory.Forgotten {
		t.Errorf("forgetting: %+v, %v", m, err)
	}
	if m, err := b.Restore(t.Context(), ada.AppID, old.ID, OfStatement); err != nil || m.Memory.Status != memory.Active ||
		m.Memory.SupersededBy != "" {
		t.Errorf("restoring: %+v, %v", m, err)
	}
}

// A memory into which a write was merged is found by the tags of both.
func TestMerge_KeepsTagsOfBoth(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil // what is similar is merged
	const old, newer = "Ada drinks tea", "Ada drinks green tea daily"
	b.similar(old, newer, 0.96)
	write := func(content string, tags ...string) write.Written {
		t.Helper()
		w, err := b.Write(t.Context(), Write{Owner: ada, Content: content, Tags: tags, Dedup: true})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	write(old, "drink", "home")
	b.clock.Advance(time.Hour)
	for _, step := range []struct {
		content string
		tags    []string
		verdict memory.Verdict
		want    []string
		events  int
	}{
		{old, []string{"home"}, memory.Duplicate, []string{"drink", "home"}, 2}, // it was said again
		{old, []string{"work", "drink"}, memory.Duplicate, []string{"drink", "home", "work"}, 3},
		{newer, []string{"茶"}, memory.Merged, []string{"drink", "home", "work", "茶"}, 4},
		{newer, nil, memory.Duplicate, []string{"drink", "home", "work", "茶"}, 4},
	} {
		w := write(step.content, step.tags...)
		got := b.memories()
		if w.Verdict != step.verdict || len(got) != 1 || !slices.Equal(w.Memory.Tags, step.want) ||
			!slices.Equal(got[0].Tags, step.want) {
			t.Errorf("%s with %q: %s with %q, stored %+v", step.content, step.tags, w.Verdict, w.Memory.Tags, got)
		}
		if events, err := b.store.History(t.Context(), ada.AppID, w.Memory.ID); err != nil || len(events) != step.events {
			t.Errorf("%s with %q: %d events, want %d, %v", step.content, step.tags, len(events), step.events, err)
		}
	}
	var many []string
	for i := range memory.MaxTags {
		many = append(many, fmt.Sprint("tag ", i))
	}
	if w := write(newer, many...); len(w.Memory.Tags) != memory.MaxTags || w.Memory.Tags[4] != "tag 0" {
		t.Errorf("of too many: %q", w.Memory.Tags)
	}
}
