package ingest

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// Drafts made from a conversation are judged as facts are, except for summaries. Without an answer of the judge they
// are merged by similarity.
func TestConsolidate_JudgesWhatItMakes(t *testing.T) {
	t.Parallel()
	decided := func(decision string) llmtest.Reply {
		return llmtest.Text(`{"decisions":[{"memory":1,"decision":"` + decision + `"}]}`)
	}
	for name, c := range map[string]struct {
		kind    memory.Type
		reply   llmtest.Reply
		cosine  float64
		verdict memory.Verdict
		active  int
	}{
		"merge":      {memory.TypeReflection, decided("merge"), 0.85, memory.Merged, 1},
		"keep both":  {memory.TypeReflection, decided("keep_both"), 0.97, memory.Kept, 2},
		"replace":    {memory.TypeReflection, decided("replace"), 0.85, memory.Kept, 1},
		"no answer":  {memory.TypeReflection, llmtest.Status(503), 0.97, memory.Merged, 1},
		"a summary":  {memory.TypeSummary, decided("replace"), 0.85, memory.Kept, 2},
		"far off it": {memory.TypeReflection, llmtest.Status(503), 0.5, memory.Kept, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			const known, made = "Likes sports", "Is fond of athletics"
			b.similar(known, made, c.cosine)
			b.write(known, 0.5, time.Time{})
			b.clock.Advance(time.Hour)
			b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply { return c.reply })
			done, err := b.Consolidate(t.Context(), Consolidation{
				Owner: ada, Cause: "conversation c", Similarity: 0.9,
				Made: []memory.Memory{{Content: made, Type: c.kind, Domain: memory.Lifestyle, Importance: 0.9}},
				Last: func(context.Context, db.UserTx, Consolidated) error { return nil },
			})
			if err != nil || len(done.Made) != 1 || done.Made[0].Verdict != c.verdict || len(b.memories()) != c.active ||
				strings.TrimSpace(done.Made[0].Reason) == "" {
				t.Errorf("%+v, %v, active %+v", done, err, b.memories())
			}
		})
	}
}
