package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
)

// fillFiles gives two users, and an agent of each, files with former contents.
func (p *fixture) fillFiles(n int) exchange.Counts {
	p.t.Helper()
	counts := exchange.Counts{}
	for _, user := range []string{"ada", "用户 & <b>"} {
		owner := memory.Owner{AppID: "app", UserID: user}
		p.change(owner, func(ctx context.Context, tx db.UserTx) error {
			var errs []error
			for i := range n {
				f := memory.File{
					ID: memory.NewID(), Owner: owner, AgentID: []string{"", "agent"}[i%2],
					Path: fmt.Sprintf("/memories/日记 <%d>", i), Version: 1, Content: strings.Repeat("<茶>\n", i*100),
					CreatedAt: noon, ChangedAt: noon,
				}
				errs = append(errs, tx.PutFile(ctx, f, memory.NewID()))
				f.Version, f.Content = 2, "short"
				f.Paragraphs = []memory.Paragraph{{Hash: strings.Repeat("0a", 32), MemoryID: memory.NewID()}}
				errs = append(errs, tx.PutFile(ctx, f, memory.NewID()))
				if i == 0 {
					errs = append(errs, tx.DeleteFile(ctx, f.ID))
				}
			}
			return errors.Join(errs...)
		})
		counts[exchange.Files] += n - 1
		counts[exchange.FileVersions] += n + 1
	}
	return counts
}

func TestRoundTrip_OfFilesIsExact(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t), newFixture(t)
	counts := from.fillFiles(25)
	text := from.export(exchange.Selection{})
	wantTallies(t, "import", to.importAll(text), counts, nil)
	if again := to.export(exchange.Selection{}); body(again) != body(text) {
		t.Errorf("the second export differs: %s", firstDifference(text, again))
	}
	wantTallies(t, "import again", to.importAll(text), nil, counts)
	if one := from.export(exchange.Selection{UserID: "ada"}); strings.Contains(one, "用户") {
		t.Error("the export of a user has files of others")
	}
}

func TestImport_OverwritesNoFile(t *testing.T) {
	t.Parallel()
	from := newFixture(t)
	from.fillFiles(2)
	text := from.export(exchange.Selection{UserID: "ada"})
	for what, c := range map[string]struct{ old, new, want string }{
		"another content": {`"content":"short"`, `"content":"other"`,
			"a file of this path is here already and differs in content"},
		"the same id": {`"path":"/memories/日记 <1>"`, `"path":"/memories/x"`,
			"the id of a file or of its version exists already"},
		"a path": {`"path":"/memories/日记 <1>"`, `"path":"/memories/../x"`, "file.path has a segment"},
		"a version of another": {`"version":2,"version_id"`, `"version":9,"version_id"`,
			"a file of this path is here already and differs in version"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			to := newFixture(t)
			to.importAll(text)
			changed := strings.Replace(text, c.old, c.new, 1)
			if changed == text {
				t.Fatalf("%s is not in\n%s", c.old, text)
			}
			r := to.importAll(changed)
			if r.Failed == 0 || !strings.Contains(r.Errors[0].Message, c.want) {
				t.Errorf("%+v, want %q", r, c.want)
			}
			if again := to.export(exchange.Selection{UserID: "ada"}); body(again) != body(text) {
				t.Error("the import changed something")
			}
		})
	}
}
