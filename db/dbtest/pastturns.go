package dbtest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// execute runs a statement that both databases know.
func execute(t *testing.T, s db.Store, statement string) {
	t.Helper()
	switch s := s.(type) {
	case interface {
		Driver() riverdriver.Driver[pgx.Tx]
	}:
		must(t, s.Driver().GetExecutor().Exec(t.Context(), statement))
	case interface {
		Driver() riverdriver.Driver[*sql.Tx]
	}:
		must(t, s.Driver().GetExecutor().Exec(t.Context(), statement))
	default:
		t.Fatalf("%T has no driver", s)
	}
}

// Turns that date from before messages were kept are listed when they are processed, until they are taken in. Other
// processed turns are not listed.
func pastTurns(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "other", UserID: "bob"}
	first := newTurn(alice, "")
	second := newTurn(alice, "")
	waiting := newTurn(alice, "")
	foreign := newTurn(bob, "")
	accepted(t, s, first, second, waiting, foreign)
	finish := func(turn memory.Turn) {
		must(t, s.InUser(t.Context(), turn.Owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.FinishTurn(ctx, turn.ID, 1, after(9), memory.Scoring{})
		}))
	}
	finish(first)
	finish(second)
	must(t, s.EndTurns(t.Context(), []db.EndedTurn{{ID: foreign.ID}}, after(9)))
	wantPast := func(what string, want ...string) {
		t.Helper()
		turns, err := s.PastTurns(t.Context(), "", 10)
		must(t, err)
		got := []string{}
		for _, turn := range turns {
			got = append(got, turn.ID)
		}
		wantSame(t, what, got, append([]string{}, want...))
		n, err := s.CountPastTurns(t.Context())
		must(t, err)
		wantSame(t, what, n, len(want))
	}
	wantPast("turns that were processed with messages")
	execute(t, s, `UPDATE turns SET messages_kept = false`)
	wantPast("turns of before, without the waiting one", first.ID, second.ID, foreign.ID)
	page, err := s.PastTurns(t.Context(), first.ID, 1)
	must(t, err)
	if len(page) != 1 || page[0].ID != second.ID || len(page[0].Messages) != len(second.Messages) {
		t.Errorf("the page after the first turn is %+v", page)
	}
	takeIn := func(id string) (ok bool) {
		must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) (err error) {
			ok, err = tx.TakeInTurn(ctx, id)
			return err
		}))
		return ok
	}
	for _, step := range []struct {
		what string
		id   string
		want bool
	}{
		{"a turn of before", first.ID, true}, {"the same turn again", first.ID, false},
		{"a turn that waits", waiting.ID, false}, {"another user's turn", foreign.ID, false}, {"no id", "x", false},
	} {
		if got := takeIn(step.id); got != step.want {
			t.Errorf("%s was taken in: %v", step.what, got)
		}
	}
	finish(waiting)
	wantPast("after one was taken in and one finished", second.ID, foreign.ID)
}
