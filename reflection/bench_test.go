package reflection

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// defaults are those of server/config.
var defaults = Settings{Importance: 4, Cooldown: time.Hour, MinFacts: 2, MaxFacts: 100}

// bench is a service on a real SQLite database, with a scripted model and a
// clock that the test moves. It is its own model, embedder and pusher.
type bench struct {
	*Service
	llm.Embedder
	t       *testing.T
	store   *sqlite.Store
	derive  *derivation.Service
	clock   time.Time
	reply   func(llm.Prompt) (string, error)
	embeds  error // what the embedder fails with
	asked   []llm.Prompt
	pushed  []string
	pushing sync.Mutex
}

func (b *bench) Model() string { return b.Embedder.Model() }

func (b *bench) Answer(_ context.Context, p llm.Prompt) (string, error) {
	b.pushing.Lock()
	b.asked = append(b.asked, p)
	b.pushing.Unlock()
	return b.reply(p)
}

func (b *bench) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if b.embeds != nil {
		return nil, b.embeds
	}
	return b.Embedder.Embed(ctx, use, texts)
}

func (b *bench) Claimed() time.Time { return b.clock.Add(time.Minute) }

func (b *bench) PushNew(_ context.Context, list []memory.Memory) {
	for _, m := range list {
		b.Push(nil, []string{m.ID})
	}
}

func (b *bench) Push(_ context.Context, ids []string) {
	b.pushing.Lock()
	defer b.pushing.Unlock()
	b.pushed = append(b.pushed, ids...)
}

func newBench(t *testing.T, set Settings) *bench {
	t.Helper()
	b := &bench{t: t, clock: begin, Embedder: llm.Hashed(16)}
	var err error
	if b.store, err = sqlite.Open(t.Context(), sqlite.Options{Path: sqlitetest.Path(t)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.store.Close() })
	if err := b.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return b.clock }
	b.derive = derivation.New(b.store, b, b, now)
	b.Service = New(Parts{Records: b.store, Derive: b.derive, Chat: b, Embedder: b, Now: now, Log: zaptest.NewLogger(t)}, set)
	b.answers(`{"insights":[]}`)
	return b
}

func (b *bench) answers(answer string) {
	b.reply = func(llm.Prompt) (string, error) { return answer, nil }
}

// add writes facts, a second apart.
func (b *bench) add(change func(*memory.Memory), contents ...string) []memory.Memory {
	b.t.Helper()
	list := make([]memory.Memory, len(contents))
	for i, content := range contents {
		b.clock = b.clock.Add(time.Second)
		list[i] = b.derive.Draft(ada, content, memory.TypeFact, memory.Lifestyle, 0.8, []float32{1})
		if change != nil {
			change(&list[i])
		}
	}
	if err := b.store.InUser(b.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error { return tx.Insert(ctx, list, b.clock) }); err != nil {
		b.t.Fatal(err)
	}
	b.clock = b.clock.Add(time.Second)
	return list
}

// addFacts adds n, of importance 0.8 each.
func (b *bench) addFacts(n int) []memory.Memory {
	contents := make([]string, n)
	for i := range contents {
		contents[i] = fmt.Sprintf("Ada swam %d lengths on day %d.", 10+i, i)
	}
	return b.add(nil, contents...)
}

// snapshot is every row that a reflection could change.
func (b *bench) snapshot() (rows []any) {
	b.t.Helper()
	list, err := b.store.ListMemories(b.t.Context(), db.MemoryFilter{Owner: ada, Limit: memory.MaxPage})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range list {
		events, err := b.store.History(b.t.Context(), ada.AppID, m.ID)
		if err != nil {
			b.t.Fatal(err)
		}
		relations, err := b.store.Relations(b.t.Context(), ada.AppID, m.ID)
		if err != nil {
			b.t.Fatal(err)
		}
		rows = append(rows, m, events, relations)
	}
	state, err := b.store.State(b.t.Context(), ada)
	if err != nil {
		b.t.Fatal(err)
	}
	return append(rows, state)
}

func (b *bench) reflect(force bool) Result {
	b.t.Helper()
	result, err := b.Reflect(b.t.Context(), ada, force)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *bench) memory(id string) memory.Memory {
	b.t.Helper()
	m, err := b.store.Memory(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func ids(list []memory.Memory) (ids []string) {
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}
