package reflection

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// comparing lets the fixture compare insights with active memories, as the server does.
func (b *fixture) comparing() {
	b.t.Helper()
	b.derive.Compare = write.New(write.Parts{
		Records: b.store, Embedder: b.embedder, Vectors: apptest.Vectors(b.t, b.embedder), Pusher: b.pusher,
		Now: b.clock.Now, Log: zap.NewNop(),
	}, write.Settings{MergeSimilarity: 0.95, JudgeSimilarity: 0.8, OwnWindow: time.Hour, OwnLimit: 100}).Compare
}

// An insight that an active memory holds already is not stored twice.
func TestReflect_StoresNothingTwice(t *testing.T) {
	t.Parallel()
	const insight = `{"insights":[{"insight":"Ada swims.","sources":[1,2]}],"retire":[1,2]}`
	for _, held := range []memory.Type{memory.TypeFact, memory.TypeReflection} {
		t.Run(string(held), func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, defaults)
			b.comparing()
			facts := b.addFacts(2)
			known := b.add(func(m *memory.Memory) { m.Type, m.Importance = held, 0.5 }, "Ada swims!")[0]
			b.chat.Answers(insight)
			r := b.reflect(true)
			if len(r.Insights) != 0 || len(r.Retired) != 0 || len(r.LeftOut) != 1 ||
				!strings.Contains(r.LeftOut[0], known.ID) {
				t.Errorf("%+v", r)
			}
			if is := b.memory(known.ID); is.Status != memory.Active || is.Importance != Importance || is.Type != held {
				t.Errorf("the memory that holds it: %+v", is)
			}
			sources, err := b.store.Sources(t.Context(), ada, []string{known.ID})
			if err != nil || len(sources[known.ID]) != 2 {
				t.Errorf("its sources: %v, %v", sources, err)
			}
			for _, m := range facts {
				if is := b.memory(m.ID).Status; is != memory.Active {
					t.Errorf("%q is %s", m.Content, is)
				}
			}
		})
	}
}

// An insight is not compared with the facts that it was made from.
func TestReflect_ComparesNothingWithSources(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.comparing()
	facts := b.add(nil, "Ada swims.", "Ada swims daily.")
	b.chat.Answers(`{"insights":[{"insight":"Ada swims!","sources":[1,2]}],"retire":[1]}`)
	r := b.reflect(true)
	if len(r.Insights) != 1 || len(r.Retired) != 1 || b.memory(facts[0].ID).Status != memory.Consolidated {
		t.Errorf("%+v", r)
	}
	if is := b.memory(r.Insights[0].ID); is.Content != "Ada swims!" || is.Type != memory.TypeReflection {
		t.Errorf("%+v", is)
	}
}
