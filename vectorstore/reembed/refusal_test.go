package reembed

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// A memory that the new model refuses does not stop the change of the model. A model that refuses
// every text does.
func TestWork_LeavesOutRefusedMemories(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.start(oldSpace, nil)
	first.write(append(contentsOf(10, "remembered"), strings.Repeat("too long ", 50))...)
	p.must(first.sw.close())

	models, client := apptest.Models(t)
	models.SetDim(newSpace.Dim)
	embedder, err := client.Embedder(t.Context(), llm.EmbedderOptions{Model: newSpace.Model, Dim: newSpace.Dim})
	p.must(err)
	p.embedders[newSpace].Embedder = embedder
	r := p.start(newSpace, nil)

	models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(http.StatusBadRequest) })
	r.set.Slice = 30 * time.Millisecond
	if done, err := r.Work(t.Context()); err != nil || done.Embedded+done.Failed != 0 || done.Remaining != 11 {
		t.Errorf("refused every text: %+v, %v", done, err)
	}

	models.OnEmbed(func(request llmtest.EmbedRequest) llmtest.Reply {
		if slices.ContainsFunc(request.Texts, func(s string) bool { return len(s) > 200 }) {
			return llmtest.Status(http.StatusBadRequest)
		}
		return models.Embed(request)
	})
	r.set.Slice = time.Minute
	done, err := r.Work(t.Context())
	if err != nil || done.Failed != 1 || r.sw.Serving().Model() != newSpace.Model {
		t.Errorf("%+v, serving %s: %v", done, r.sw.Serving().Model(), err)
	}
	if n, err := r.store.CountUnembedded(t.Context(), newSpace); err != nil || n != 1 {
		t.Errorf("%d memories are not embedded: %v", n, err)
	}
}

// A job that exists for the same time may have ended before a memory had no embedding, so it is requested again. One
// that is new is requested again after RetryWords.
func TestCheck_RequestsAgainWhatExistedAlready(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.start(oldSpace, nil)
	r.set.RetryWords, r.existing = time.Hour, 2
	at := memory.Instant(p.now())
	p.must(r.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{{
			ID: memory.NewID(), Owner: ada, Content: "by words alone", Type: memory.TypeFact, Domain: memory.GeneralChat,
			Importance: 0.8, Status: memory.Active, Revision: 1, CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
		}}, time.Time{})
	}))
	for i, want := range []int64{1, 2, 3, 3} {
		r.check(t.Context())
		if got := r.requested.Load(); got != want {
			t.Errorf("%d requests after %d checks, want %d", got, i+1, want)
		}
	}
}
