package compression

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
	"hippocampus/reflection/episodes"
	"hippocampus/tests/apptest"
)

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

const day = 24 * time.Hour

// defaults are the defaults of server/config.
var defaults = Settings{MessageAge: 11 * day, Accesses: 5, MaxMemories: 2000}

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
		Records: b.store, Derive: b.derive, Chat: b.chat, Now: clock.Now, Log: zap.NewNop(), Episodes: asStored{},
		Rule: func(context.Context, memory.Owner) (Rule, error) { return rule{}, nil },
	}, set)
	b.chat.OnPrompt(func(llm.Prompt) (string, error) { return "", errors.New("the model is not to be asked") })
	return b
}

// asStored leaves the episodes as a test has stored them.
type asStored struct{}

func (asStored) Make(context.Context, memory.Owner) (episodes.Made, error) {
	return episodes.Made{}, nil
}

// rule counts all time, and keeps what is most important.
type rule struct{}

func (rule) Passed(_ string, from, until time.Time) time.Duration { return until.Sub(from) }
func (rule) Keeps(a db.Age) bool                                  { return a.Importance == 1 }

// about is an embedding of one topic: 0..15.
func about(topic int) []float32 {
	v := make([]float32, 16)
	v[topic] = 1
	return v
}

// add writes n memories about a topic of 50 days ago, a minute apart. The statements of an agent are an episode.
func (b *fixture) add(owner memory.Owner, topic, n int, change func(i int, m *memory.Memory)) []memory.Memory {
	b.t.Helper()
	list := make([]memory.Memory, n)
	for i := range list {
		content := fmt.Sprintf("On day %d of topic %d Ada swam %d lengths.", i, topic, 10+i)
		m := b.derive.Draft(owner, content, memory.TypeFact, memory.Lifestyle, 0.7, about(topic))
		m.CreatedAt = begin.Add(-50*day + time.Duration(topic)*time.Hour + time.Duration(i)*time.Minute)
		m.UpdatedAt, m.LastAccessedAt = m.CreatedAt, m.CreatedAt
		if change != nil {
			change(i, &m)
		}
		list[i] = m
	}
	byAgent := map[string]*db.Episode{}
	for _, m := range list {
		if m.ConversationID != "" {
			continue
		}
		if byAgent[m.AgentID] == nil {
			byAgent[m.AgentID] = &db.Episode{
				ID: memory.NewID(), Owner: owner, AgentID: m.AgentID, Began: m.CreatedAt, Basis: "1", Label: []byte("{}"),
			}
		}
		e := byAgent[m.AgentID]
		e.Ended, e.Members = m.CreatedAt, append(e.Members, m.ID)
	}
	b.tx(owner, func(ctx context.Context, tx db.UserTx) error {
		err := tx.Insert(ctx, list, b.clock.Now())
		for _, e := range byAgent {
			err = errors.Join(err, tx.ChangeEpisodes(ctx, nil, []db.Episode{*e}, 1))
		}
		return err
	})
	return list
}

func (b *fixture) tx(owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) {
	b.t.Helper()
	if err := b.store.InUser(b.t.Context(), owner, f); err != nil {
		b.t.Fatal(err)
	}
}

// snapshot lists every row that a compression could change.
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
	return append(rows, b.state())
}

func (b *fixture) state() db.UserState {
	b.t.Helper()
	state, err := b.store.State(b.t.Context(), ada)
	if err != nil {
		b.t.Fatal(err)
	}
	return state
}

func (b *fixture) compress() Result {
	b.t.Helper()
	result, err := b.Compress(b.t.Context(), ada, false)
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

// citing is an answer of one summary that cites all memories of a prompt.
func citing(p llm.Prompt, content string) string {
	numbers := make([]string, strings.Count(p.User, `"number":`))
	for i := range numbers {
		numbers[i] = fmt.Sprint(i + 1)
	}
	return fmt.Sprintf(`{"summaries":[{"summary":%q,"sources":[%s]}]}`, content, strings.Join(numbers, ","))
}
