package reflection

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
	"hippocampus/tests/apptest"
)

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// defaults are the defaults of server/config.
var defaults = Settings{Rule: Rule{Importance: 4, Cooldown: time.Hour, MinFacts: 2}, MaxFacts: 100}

// fixture is a service on a real SQLite database, with a scripted model and a
// clock that the test moves.
type fixture struct {
	*Service
	t        *testing.T
	store    *sqlite.Store
	derive   *derivation.Service
	clock    *apptest.Clock
	chat     *apptest.Chat
	embedder *apptest.Embedder
	pusher   *apptest.Pusher
}

func newFixture(t *testing.T, set Settings) *fixture {
	t.Helper()
	clock := apptest.NewClock(begin)
	b := &fixture{
		t: t, store: apptest.SQLite(t), clock: clock,
		chat: &apptest.Chat{}, embedder: apptest.HashedEmbedder(16), pusher: apptest.NewPusher(clock),
	}
	b.derive = derivation.New(b.store, b.pusher, b.embedder, clock.Now)
	b.Service = New(Parts{
		Records: b.store, Derive: b.derive, Chat: b.chat, Now: clock.Now, Log: zaptest.NewLogger(t),
	}, set)
	b.chat.Answers(`{"insights":[]}`)
	return b
}

// add writes facts, a second apart.
func (b *fixture) add(change func(*memory.Memory), contents ...string) []memory.Memory {
	b.t.Helper()
	list := make([]memory.Memory, len(contents))
	for i, content := range contents {
		b.clock.Advance(time.Second)
		list[i] = b.derive.Draft(ada, content, memory.TypeFact, memory.Lifestyle, 0.8, []float32{1})
		if change != nil {
			change(&list[i])
		}
	}
	if err := b.store.InUser(b.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, list, b.clock.Now())
	}); err != nil {
		b.t.Fatal(err)
	}
	b.clock.Advance(time.Second)
	return list
}

// addFacts adds n facts, of importance 0.8 each.
func (b *fixture) addFacts(n int) []memory.Memory {
	contents := make([]string, n)
	for i := range contents {
		contents[i] = fmt.Sprintf("Ada swam %d lengths on day %d.", 10+i, i)
	}
	return b.add(nil, contents...)
}

// snapshot lists every row that a reflection could change.
func (b *fixture) snapshot() (rows []any) {
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

func (b *fixture) reflect(force bool) Result {
	b.t.Helper()
	rule := b.Rule()
	if force {
		rule = Always
	}
	result, err := b.Reflect(b.t.Context(), ada, rule)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *fixture) memory(id string) memory.Memory {
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
