package exchange_test

import (
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
)

// eraseJob is the job of an erasure, which these tests end themselves.
type eraseJob struct{}

func (eraseJob) Kind() string { return "erasing" }

// erase erases a user a second after noon.
func (p *fixture) erase(owner memory.Owner) {
	p.t.Helper()
	ctx, at := p.t.Context(), noon.Add(time.Second)
	e, err := p.store.BeginErasure(ctx, owner, at, at, eraseJob{})
	for some := (db.ErasedSome{Left: 1}); err == nil && (some.Left > 0 || some.Deleted != db.Erased{}); {
		some, err = p.store.EraseSome(ctx, e, db.EraseStep{Now: at, Limit: 100})
	}
	if err == nil {
		_, err = p.store.EndErasure(ctx, e, at, 0)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// An import does not bring back a user who is erased during the import, whichever line was read last. Other users are
// imported, and a later import brings the user back.
func TestImport_BringsNoErasedUserBack(t *testing.T) {
	t.Parallel()
	from := newFixture(t)
	from.fill(12)
	from.fillOthers(12)
	text := from.export(exchange.Selection{})
	lines := strings.Count(text, "\n")
	nothing := body(newFixture(t).export(exchange.Selection{}))
	for _, at := range []int{2, lines / 4, lines / 2} {
		p := newFixture(t)
		read := 0
		report, err := p.Import(t.Context(), "app", strings.NewReader(text), func(line []byte) ([]byte, error) {
			read++
			if read == at {
				p.erase(ada)
			}
			return line, nil
		})
		if err != nil || !report.Complete || report.Failed == 0 || !strings.Contains(report.Errors[0].Message, "erased") {
			t.Errorf("erased at line %d of %d: %v, %d failed: %.3v", at, lines, err, report.Failed, report.Errors)
		}
		if left := body(p.export(exchange.Selection{UserID: ada.UserID})); left != nothing {
			t.Errorf("erased at line %d of %d: the import left %.1000s", at, lines, left)
		}
		zoe := exchange.Selection{UserID: "Zoe"}
		if got, want := p.export(zoe), from.export(zoe); got != want {
			t.Errorf("erased at line %d of %d: another user differs: %s", at, lines, firstDifference(want, got))
		}
		p.late = time.Minute
		if again := p.importAll(text); again.Failed > 0 || body(p.export(exchange.Selection{})) != body(text) {
			t.Errorf("erased at line %d of %d: the second import: %d lines failed", at, lines, again.Failed)
		}
	}
}
