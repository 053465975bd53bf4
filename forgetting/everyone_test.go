package forgetting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func TestRunAll_RunsForEveryUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	const users = 110 // more than one page
	seed := memory.Memory{
		Owner: ada, Content: "c", Type: memory.TypeFact, Domain: memory.GeneralChat, Importance: 0.8, Status: memory.Active,
		Embedding: []float32{1}, EmbeddingModel: "test", Revision: 1,
	}
	for i := range users {
		owner := memory.Owner{AppID: fmt.Sprintf("app-%d", i%3), UserID: fmt.Sprintf("user-%03d", i)}
		memories := make([]memory.Memory, 5)
		for j := range memories {
			m, days := seed, 0
			if j == 0 || i == 7 { // one memory of each user has faded, and all memories of one user
				days = 40
			}
			m.ID = memory.NewID()
			m.Owner = owner
			m.CreatedAt = begin.AddDate(0, 0, -days)
			m.UpdatedAt, m.LastAccessedAt = m.CreatedAt, m.CreatedAt
			memories[j] = m
		}
		if err := b.store.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.Insert(ctx, memories, begin)
		}); err != nil {
			t.Fatal(err)
		}
	}
	totals, err := b.RunAll(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if totals.Users != users || totals.Considered != 5*users || totals.Forgotten != users || totals.Limited != 1 ||
		totals.Stopped != 0 || totals.Failed != 0 {
		t.Errorf("%+v", totals)
	}
	if n := totals.Notes; len(n) != 1 || n[0].AppID != "app-1" || n[0].UserID != "user-007" ||
		!strings.HasPrefix(n[0].Reason, "5 of 5 active memories") {
		t.Errorf("notes %+v", n)
	}
}

// faulty is a database that fails for some users.
type faulty struct {
	Records
	err   map[string]error // by user
	asked []string
}

func (f *faulty) Owners(_ context.Context, after memory.Owner, _ int) ([]memory.Owner, error) {
	var owners []memory.Owner
	for _, user := range []string{"ada", "bob", "cyd"} {
		owners = append(owners, memory.Owner{AppID: "app", UserID: user})
	}
	return owners, nil
}

func (f *faulty) CountActive(ctx context.Context, owner memory.Owner) (int, error) {
	f.asked = append(f.asked, owner.UserID)
	if err := f.err[owner.UserID]; err != nil {
		return 0, err
	}
	return f.Records.CountActive(ctx, owner)
}

// A failure for one user is reported and does not affect the others; an unavailable database ends the run.
func TestRunAll_ContinuesAfterAFailureOfOneUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	records := &faulty{Records: b.records, err: map[string]error{"bob": errors.New("a broken row")}}
	b.records = records
	totals, err := b.RunAll(t.Context(), "test")
	if err == nil || !strings.Contains(err.Error(), "1 of 3 users failed: a broken row") || totals.Users != 3 ||
		totals.Failed != 1 ||
		len(totals.Notes) != 1 || totals.Notes[0].UserID != "bob" {
		t.Errorf("%+v, %v", totals, err)
	}
	records.asked, records.err["bob"] = nil, memory.Errorf(memory.KindUnavailable, "the database is unavailable")
	if _, err := b.RunAll(t.Context(), "test"); !memory.IsKind(err, memory.KindUnavailable) ||
		!slices.Equal(records.asked, []string{"ada", "bob"}) {
		t.Errorf("asked for %v, %v", records.asked, err)
	}
}
