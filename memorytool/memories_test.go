package memorytool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

func TestRun_KeepsAMemoryOfEachParagraph(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path = "/memories/notes.md"
	f.do(create(path, "# Ada\n\nDrinks green tea.\n\nLives in Lisbon,\nnear the river.\n\nDrinks green tea.\n"))
	const (
		tea    = "# Ada\nDrinks green tea."
		lisbon = "Lives in Lisbon,\nnear the river."
		porto  = "Lives in Porto,\nnear the river."
	)
	f.wantMemories(tea, lisbon, "Drinks green tea.")
	before := f.memories(memory.Active)
	if m := before[lisbon]; string(m.Metadata) != `{"path":"/memories/notes.md","source":"memory-tool"}` ||
		m.Importance != 1 || m.Type != memory.TypeFact || m.AgentID != "" || m.Domain != memory.Lifestyle {
		t.Errorf("%+v", m)
	}
	embedded := f.embedder.Calls()

	f.do(replace(path, "Lisbon", "Porto"), insert(path, 0, "Is a marine biologist.\n"))
	f.wantMemories("Is a marine biologist.", tea, porto, "Drinks green tea.")
	if m := f.memories(memory.Active)[tea]; m.ID != before[tea].ID {
		t.Error("an unchanged paragraph has another memory")
	}
	if m := f.memories(memory.Forgotten)[lisbon]; m.ID != before[lisbon].ID {
		t.Error("the memory of a removed paragraph is not forgotten")
	}
	if n := f.embedder.Calls() - embedded; n != 2 {
		t.Errorf("two changed paragraphs took %d calls of the embedder", n)
	}

	moved := f.memories(memory.Active)[porto]
	f.do(rename("/memories/notes.md", "/memories/people/ada.md"))
	after := f.memories(memory.Active)[porto]
	if after.ID != moved.ID || after.Revision != moved.Revision ||
		string(after.Metadata) != `{"path":"/memories/people/ada.md","source":"memory-tool"}` {
		t.Errorf("after a rename: %+v", after)
	}
	history, err := f.store.History(t.Context(), "app", after.ID)
	if err != nil || len(history) != 2 || history[1].Kind != memory.EventUpdated || history[1].Cause != Source {
		t.Errorf("history %+v, %v", history, err)
	}
	f.do(remove("/memories/people"))
	f.wantMemories()
	if list, err := f.store.ListFiles(t.Context(), ada); err != nil || len(list) != 0 {
		t.Errorf("files %v, %v", list, err)
	}
}

// A memory that was changed, superseded or forgotten by others stays as it is while its paragraph stays.
func TestRun_LeavesMemoriesAloneWhoseParagraphsStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(create("/memories/a", "One.\n\nTwo.\n\nThree.\n"))
	known := f.memories(memory.Active)
	if _, err := f.writer.Forget(t.Context(), "app", known["One."].ID, ingest.OfStatement); err != nil {
		t.Fatal(err)
	}
	f.do(insert("/memories/a", 5, "\nFour.\n"))
	f.wantMemories("Two.", "Three.", "Four.")
	err := f.store.InUser(t.Context(), ada.Owner, func(ctx context.Context, tx db.UserTx) error {
		m := known["Two."]
		m.Status, m.SupersededBy = memory.Superseded, known["Three."].ID
		m.Revision++
		return tx.Update(ctx, m)
	})
	if err != nil {
		t.Fatal(err)
	}
	f.do(remove("/memories/a"))
	if m := f.memories(memory.Superseded)["Two."]; m.ID != known["Two."].ID {
		t.Error("a superseded memory became a forgotten one")
	}
}

func TestParagraphs_DividesAtBlankLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A sentence of words. ", 60) // 1,260 characters
	for content, want := range map[string][]string{
		"":                                    nil,
		" \n\t\n":                             nil,
		"One.":                                {"One."},
		"One.\r\n\r\nTwo.\r\n":                {"One.", "Two."},
		"One\ntwo\n \nthree\n\n\nfour":        {"One\ntwo", "three", "four"},
		"# Title\n\n## Part\n\nText\n\n# End": {"# Title\n## Part\nText", "# End"},
		"#hashtag\n\nText":                    {"#hashtag", "Text"},
		"One\n## Two\nthree":                  {"One", "## Two\nthree"},
		"- one\n- two\n\n- three":             {"- one\n- two", "- three"},
		long:                                  {strings.TrimSpace(long[:21*30]), strings.TrimSpace(long[21*30:])},
	} {
		if got := Paragraphs(content); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}

// A file and its memories are changed in one transaction.
func TestRun_ChangesNothingIfItsTransactionFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(create("/memories/a", "One.\n"), create("/memories/b/c", "Two.\n"))
	working := f.Service.writer
	for _, c := range []Command{
		create("/memories/d", "Three.\n"), replace("/memories/a", "One", "1"), insert("/memories/a", 1, "\nFour."),
		remove("/memories/b"), rename("/memories/b", "/memories/e"),
	} {
		f.Service.writer = failingWriter{working, func(context.Context, db.UserTx) error { return errCrash }}
		if _, err := f.Run(t.Context(), ada, c); !errors.Is(err, errCrash) {
			t.Errorf("%s: %v", c.Name, err)
		}
		f.Service.writer = working
		f.wantMemories("One.", "Two.")
		if a, c := f.content("/memories/a"), f.content("/memories/b/c"); a != "One.\n" || c != "Two.\n" {
			t.Errorf("contents %q and %q", a, c)
		}
	}
	f.embedder.FailWith(memory.Errorf(memory.KindUnavailable, "the embedder is unavailable"))
	if _, err := f.Run(t.Context(), ada, create("/memories/d", "x")); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("without an embedder: %v", err)
	}
	f.do(replace("/memories/a", "One.\n", ""), remove("/memories/b")) // no paragraph is new
	f.wantMemories()
}

func TestRun_LosesNoConcurrentChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(create("/memories/list", ""))
	const writers = 12
	var group sync.WaitGroup
	var created sync.Map
	for n := range writers {
		group.Go(func() {
			result, err := f.Run(t.Context(), ada, insert("/memories/list", 0, fmt.Sprintf("line %02d\n\n", n)))
			if err != nil || result.IsError {
				t.Errorf("insert: %+v, %v", result, err)
			}
			if result, err = f.Run(t.Context(), ada, create("/memories/one", fmt.Sprint(n))); err != nil {
				t.Error(err)
			}
			created.Store(result.Content, true)
		})
	}
	group.Wait()
	content := f.content("/memories/list")
	for n := range writers {
		if strings.Count(content, fmt.Sprintf("line %02d", n)) != 1 {
			t.Errorf("line %d is not there once:\n%s", n, content)
		}
	}
	answers := 0
	created.Range(func(any, any) bool { answers++; return true })
	if answers != 2 { // created by one, and refused for the others
		t.Errorf("%d answers", answers)
	}
	if file, err := f.store.FindFile(t.Context(), ada, "/memories/list"); err != nil || file.Version != writers+1 {
		t.Errorf("version %d, %v", file.Version, err)
	}
}

func TestRun_KeepsScopesApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	scopes := []db.FileScope{
		ada, {Owner: ada.Owner, AgentID: "butler"}, {Owner: memory.Owner{AppID: "app", UserID: "bob"}},
		{Owner: memory.Owner{AppID: "other", UserID: "ada"}},
	}
	for n, scope := range scopes {
		if result := f.run(scope, create("/memories/a", fmt.Sprintf("secret %d", n))); result.IsError {
			t.Fatal(result.Content)
		}
	}
	for n, scope := range scopes {
		if got := f.run(scope, view("/memories/a")).Content; !strings.HasSuffix(got, fmt.Sprintf("\tsecret %d", n)) {
			t.Errorf("scope %d sees %q", n, got)
		}
	}
	f.do(remove("/memories/a"))
	for _, scope := range scopes[1:] {
		if result := f.run(scope, view("/memories/a")); result.IsError {
			t.Error(result.Content)
		}
	}
	list, err := f.store.ListMemories(t.Context(), db.MemoryFilter{Owner: ada.Owner, AgentID: "butler", Limit: 10})
	if err != nil || len(list) != 1 || list[0].Content != "secret 1" {
		t.Errorf("%v, %v", list, err)
	}
}
