package ingest

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// renamed is an embedder under the name of another model, which may fail.
type renamed struct {
	llm.Embedder
	err error
}

func (r renamed) Model() string { return "another" }

func (r renamed) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.Embedder.Embed(ctx, use, texts)
}

// A memory with an embedding of another model is embedded again, unless it is active.
func TestRestoreAll_EmbedsAgain(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	active := b.write("Plays chess.", 0.8, time.Time{}).Memory
	forgotten := b.write("Keeps bees.", 0.8, time.Time{}).Memory
	before := forgotten.EmbeddingModel
	if _, err := b.Forget(t.Context(), ada.AppID, forgotten.ID, OfStatement); err != nil {
		t.Fatal(err)
	}
	ids := []string{active.ID, forgotten.ID}
	serving := b.Embedder

	b.Embedder = renamed{serving, errors.New("no embedding")}
	for i, result := range b.RestoreAll(t.Context(), ada.AppID, ids, OfStatement) {
		if result.ID != ids[i] || result.Err == nil {
			t.Errorf("without an embedder: %+v", result)
		}
	}
	if m := b.stored(forgotten.ID); m.Status != memory.Forgotten {
		t.Errorf("without an embedder it is %s", m.Status)
	}

	b.Embedder = renamed{serving, nil}
	for i, result := range b.RestoreAll(t.Context(), ada.AppID, ids, OfStatement) {
		if result.ID != ids[i] || result.Err != nil || result.Memory.Status != memory.Active {
			t.Errorf("%+v", result)
		}
	}
	if m := b.stored(forgotten.ID); m.Status != memory.Active || m.EmbeddingModel != "another" {
		t.Errorf("restored: %+v", m)
	}
	if m := b.stored(active.ID); m.EmbeddingModel != before {
		t.Errorf("the active memory is embedded by %s", m.EmbeddingModel)
	}
}
