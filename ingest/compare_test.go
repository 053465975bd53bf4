package ingest

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// The memory of another service is merged into a known memory, or replaces it, and is not compared with its sources.
func TestCompare_AppliesTheJudgesDecisions(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	const source, known, insight = "Ada runs on Mondays", "Ada likes sports", "Ada is fond of sports"
	const other, moved = "A home in Beijing", "They went to Shanghai"
	b.similar(known, insight, 0.9)
	from := b.write(source, 0.8, time.Time{}).Memory
	old := b.write(known, 0.8, time.Time{}).Memory
	vector := make([]float32, llmtest.Dim)
	vector[7] = 1
	b.models.Embedding(other, vector)
	b.models.Embedding(moved, vector)
	home := b.write(other, 0.8, time.Time{}).Memory
	b.clock.Advance(time.Hour)
	b.models.Embedding(source, b.models.Vector(insight))
	b.models.OnPrompt(judgeMark, answersBy(map[string]string{known: "merge", other: "replace", source: "replace"}))
	var drafts []memory.Memory
	for _, content := range []string{insight, moved} {
		drafts = append(drafts, write.Complete(memory.Memory{
			Owner: ada, Content: content, Type: memory.TypeReflection, Domain: memory.Lifestyle, Importance: 0.9,
		}, b.embedding(content), b.Embedder.Model(), b.clock.Now()))
	}
	settle, err := b.Writer.Compare(t.Context(), ada, drafts, []string{from.ID})
	if err != nil {
		t.Fatal(err)
	}
	var held []memory.Memory
	err = b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) (err error) {
		changes := history.NewRecorder(tx, "reflection", b.clock.Now())
		if held, err = settle(ctx, tx, changes, []history.Draft{{Memory: drafts[0]}, {Memory: drafts[1]}}); err != nil {
			return err
		}
		return changes.Flush(ctx)
	})
	if err != nil || len(held) != 2 || held[0].ID != old.ID || held[1].ID != drafts[1].ID {
		t.Fatalf("held %+v, %v", held, err)
	}
	relations, err := b.store.Relations(t.Context(), ada.AppID, home.ID)
	if err != nil || len(relations) != 1 || relations[0].From != held[1].ID {
		t.Errorf("relations %+v, %v", relations, err)
	}
	if m := b.stored(old.ID); m.Content != insight || m.Importance != 0.9 {
		t.Errorf("the known memory is %+v", m)
	}
	if m := b.stored(home.ID); m.Status != memory.Superseded || m.SupersededBy != held[1].ID {
		t.Errorf("the old home is %+v", m)
	}
	if m := b.stored(from.ID); m.Status != memory.Active {
		t.Errorf("the source is %+v", m)
	}
}
