package exchange_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/exchange"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	noon = time.Date(2026, 5, 1, 12, 0, 0, 987654000, time.UTC)
	ada  = memory.Owner{AppID: "app", UserID: "ada"}
)

// counting is an embedder that counts the texts it embeds.
type counting struct {
	llm.Embedder
	texts int
	err   error
}

func (c *counting) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if c.err != nil {
		return nil, c.err
	}
	c.texts += len(texts)
	return c.Embedder.Embed(ctx, use, texts)
}

// fixture is a new database with its service.
type fixture struct {
	*exchange.Service
	t        *testing.T
	store    *sqlite.Store
	embedder *counting
	late     time.Duration // how long after noon it is
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	store := apptest.SQLite(t)
	p := &fixture{t: t, store: store, embedder: &counting{Embedder: llm.Hashed(16)}}
	p.Service = exchange.New(store, p.embedder, p.now)
	return p
}

func (p *fixture) now() time.Time { return noon.Add(p.late) }

// change runs a transaction of an owner.
func (p *fixture) change(owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) {
	p.t.Helper()
	if err := p.store.InUser(p.t.Context(), owner, f); err != nil {
		p.t.Fatal(err)
	}
}

func (p *fixture) export(what exchange.Selection) string {
	p.t.Helper()
	var out bytes.Buffer
	what.AppID = "app"
	if err := p.Export(p.t.Context(), what, &out); err != nil {
		p.t.Fatal(err)
	}
	return out.String()
}

// valid replaces the API's check, which has its own tests.
func valid(line []byte) ([]byte, error) {
	if !json.Valid(line) {
		return nil, errors.New("is not JSON")
	}
	return line, nil
}

func (p *fixture) importAll(text string) exchange.Report {
	p.t.Helper()
	report, err := p.Import(p.t.Context(), "app", strings.NewReader(text), valid)
	if err != nil {
		p.t.Fatal(err)
	}
	return report
}

// body is an export without its first line, which has the time.
func body(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// fill stores memories of every status and kind, n for each of three users and more
// than a page, and returns their number.
func (p *fixture) fill(n int) int {
	p.t.Helper()
	for _, user := range []string{"Zoe", "ada", "用户 & <b>"} {
		owner := memory.Owner{AppID: "app", UserID: user}
		var all []memory.Memory
		var events []memory.Event
		var relations []memory.Relation
		for i := range n {
			content := fmt.Sprintf("%s said «%d» 🙂 <&> \u2028 \"quoted\\\" \n\t 茶", user, i)
			vectors, _ := p.embedder.Embedder.Embed(p.t.Context(), llm.ForDocument, []string{content})
			m := memory.Memory{
				ID: memory.NewID(), Owner: owner, Content: content, Type: memory.Types[i%len(memory.Types)],
				Domain:     memory.Domains[i%len(memory.Domains)],
				Importance: float64(i%7) / 7, Pinned: i%5 == 0, Status: memory.Statuses[i%4], Revision: 3, AccessCount: i % 3,
				CreatedAt: noon.Add(time.Duration(-i/2) * time.Hour), UpdatedAt: noon.Add(time.Duration(i) * time.Microsecond),
				LastAccessedAt: noon.Add(time.Second),
				Embedding:      vectors[0], EmbeddingModel: llm.HashedModel, Lexemes: "of another version",
			}
			if i%2 == 0 {
				m.AgentID = "agent \"x\""
				m.ConversationID = "c"
				m.SourceTurnID = memory.NewID()
				m.Speaker, m.Asked = "Ada", "What did «you» say?\n茶？"
				m.Tags, m.Metadata = []string{"<a>", "b\u2028"}, json.RawMessage(`{"b":1.50,"a":["<&>","\u00e9é",null,1e2],"":{}}`)
			}
			if m.Status == memory.Superseded && i > 0 {
				m.SupersededBy = all[i-1].ID
			}
			all = append(all, m)
			events = append(events,
				memory.Event{ID: memory.NewID(), MemoryID: m.ID, Kind: memory.EventCreated, Cause: "turn <1>", At: m.CreatedAt},
				memory.Event{ID: memory.NewID(), MemoryID: m.ID, Kind: memory.EventUpdated, Cause: "api", At: m.UpdatedAt,
					Detail: json.RawMessage(`{"from":{"content":"<old>"},"to":null}`)})
			if i > 0 {
				relations = append(relations,
					memory.Relation{From: m.ID, To: all[i/2].ID, Kind: memory.DerivedFrom, CreatedAt: noon},
					memory.Relation{From: all[0].ID, To: m.ID, Kind: memory.RelationKinds[i%4], CreatedAt: noon.Add(time.Microsecond)})
			}
		}
		relations = distinct(relations)
		p.change(owner, func(ctx context.Context, tx db.UserTx) error {
			return errors.Join(tx.Restore(ctx, all, noon), tx.AddEvents(ctx, events), tx.AddRelations(ctx, relations))
		})
	}
	return 3 * n
}

func distinct(relations []memory.Relation) (kept []memory.Relation) {
	for _, r := range relations {
		if r.From != r.To {
			kept = append(kept, r)
		}
	}
	return kept
}

func TestRoundTrip_OfMemoriesIsExact(t *testing.T) {
	t.Parallel()
	for _, embeddings := range []bool{true, false} {
		from, to := newFixture(t), newFixture(t)
		n := from.fill(130)
		text := from.export(exchange.Selection{Embeddings: embeddings})
		report := to.importAll(text)
		if report.Imported != n || report.Lines != n+2 || report.Failed+report.Skipped+len(report.Errors) != 0 ||
			!report.Complete {
			t.Fatalf("%+v", report)
		}
		if again := to.export(exchange.Selection{Embeddings: embeddings}); body(again) != body(text) {
			t.Errorf("embeddings %t: the second export differs: %s", embeddings, firstDifference(text, again))
		}
		if want := map[bool]int{true: 0, false: 3 * 33}[embeddings]; to.embedder.texts != want {
			t.Errorf("embeddings %t: %d texts were embedded, want %d: the active ones without an embedding", embeddings,
				to.embedder.texts, want)
		}
		if report := to.importAll(text); report.Skipped != n || report.Imported+report.Failed != 0 || !report.Complete {
			t.Errorf("again: %+v", report)
		}
		one := from.export(exchange.Selection{UserID: "ada"})
		if strings.Contains(one, "Zoe") || strings.Count(one, "\n") != n/3+2 {
			t.Error("the export of a user lacks entries or has those of others")
		}
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(body(a), "\n"), strings.Split(body(b), "\n")
	for i := range as {
		if i >= len(bs) || as[i] != bs[i] {
			return fmt.Sprintf("line %d\n%s\n%s", i+2, as[i], bs[min(i, len(bs)-1)])
		}
	}
	return "it is longer"
}

// Repeating an import that was interrupted imports the rest.
func TestImport_IsResumed(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t), newFixture(t)
	n := from.fill(100)
	text := from.export(exchange.Selection{})
	cut := strings.NewReader(text[:len(text)/2])
	if _, err := to.Import(t.Context(), "app", &broken{cut}, valid); !memory.IsKind(err, memory.KindInvalid) ||
		!strings.Contains(err.Error(), "broke off after line") {
		t.Fatalf("an interrupted stream: %v", err)
	}
	embedded := to.embedder.texts
	report := to.importAll(text)
	if report.Imported == 0 || report.Skipped == 0 || report.Imported+report.Skipped != n || report.Failed != 0 ||
		!report.Complete {
		t.Errorf("%+v", report)
	}
	if embedded == 0 || to.embedder.texts != 3*25 {
		t.Errorf("%d texts were embedded first, %d in total: stored memories must not be embedded again", embedded,
			to.embedder.texts)
	}
	if body(to.export(exchange.Selection{})) != body(text) {
		t.Error("the resumed import differs")
	}
	// The text ends within a line.
	report = to.importAll(text[:len(text)-5])
	if report.Complete || report.Failed != 1 || report.Skipped != n {
		t.Errorf("a cut text: %+v", report)
	}
}

// broken is a reader that ends with an error.
type broken struct{ *strings.Reader }

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		err = errors.New("connection reset")
	}
	return n, err
}

func TestExport_ContinuesLongHistories(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t), newFixture(t)
	m := memory.Memory{
		ID: memory.NewID(), Owner: ada, Content: "long", Type: memory.TypeFact, Domain: memory.Tasks,
		Status:    memory.Forgotten,
		CreatedAt: noon, UpdatedAt: noon, LastAccessedAt: noon, Revision: 1,
	}
	detail := json.RawMessage(`{"from":"` + strings.Repeat("茶<", 10_000) + `"}`)
	from.change(ada, func(ctx context.Context, tx db.UserTx) error {
		var events []memory.Event
		for range 60 {
			events = append(events, memory.Event{ID: memory.NewID(), MemoryID: m.ID, Kind: memory.EventUpdated, Cause: "api",
				Detail: detail, At: noon})
		}
		return errors.Join(tx.Restore(ctx, []memory.Memory{m}, noon), tx.AddEvents(ctx, events))
	})
	text := from.export(exchange.Selection{})
	lines := strings.Split(text, "\n")
	if len(lines) < 7 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines {
		if len(line) > exchange.MaxLine {
			t.Errorf("line %d has %d bytes", i+1, len(line))
		}
	}
	if report := to.importAll(text); report.Imported != 1 || report.Failed != 0 || !report.Complete {
		t.Fatalf("%+v", report.Errors)
	}
	if body(to.export(exchange.Selection{})) != body(text) {
		t.Error("the second export differs")
	}
	if report := to.importAll(text); report.Skipped != 1 || report.Failed != 0 {
		t.Errorf("again: %+v", report)
	}
	// Continuation lines add nothing to a memory that differs from the stored one.
	changed := strings.Replace(text, `"content":"long"`, `"content":"other"`, 1)
	if report := to.importAll(changed); report.Failed != len(lines)-3 || report.Imported+report.Skipped != 0 {
		t.Errorf("a differing memory: %d failed of %d lines", report.Failed, report.Lines)
	}
	if body(to.export(exchange.Selection{})) != body(text) {
		t.Error("a refused history was added")
	}
}
