package forgetting

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func TestDistribution_CountsByRetention(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.add(3, 0, nil)                                                    // 0.9
	b.add(2, 40, nil)                                                   // 0.9^40 * 0.9
	b.add(4, 7, nil)                                                    // 0.9^7 * 0.9
	b.add(1, 0, func(m *memory.Memory) { m.Importance = 1 })            // 1
	b.add(5, 400, func(m *memory.Memory) { m.Pinned = true })           // exempt
	b.add(1, 0, func(m *memory.Memory) { m.Status = memory.Forgotten }) // not active
	bob := memory.Owner{AppID: ada.AppID, UserID: "bob"}
	faded := b.add(0, 0, nil)
	for range 2 {
		faded = append(faded, memory.Memory{
			ID: memory.NewID(), Owner: bob, Content: "old", Type: memory.TypeFact, Domain: memory.GeneralChat,
			Status: memory.Active, Embedding: []float32{1}, EmbeddingModel: "test", Revision: 1,
			CreatedAt: begin.AddDate(0, 0, -30), UpdatedAt: begin.AddDate(0, 0, -20), // 0.9^20 * 0.5
			LastAccessedAt: begin.AddDate(0, 0, -30),
		})
	}
	if err := b.store.InUser(t.Context(), bob, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, faded, begin)
	}); err != nil {
		t.Fatal(err)
	}
	const (
		old    = 0.0133027946
		week   = 0.4304672100
		twenty = 0.0607883273
	)
	for name, one := range map[string]struct {
		count func() (Distribution, error)
		want  Distribution
	}{
		"the app": {
			count: func() (Distribution, error) { return b.AppDistribution(t.Context(), ada.AppID) },
			want: Distribution{
				Bands: []int{4, 0, 0, 4, 0, 4}, Exempt: 5, OverShare: 1,
				Low: Tier{4, (old + twenty) / 2}, Medium: Tier{4, week}, High: Tier{4, 0.925},
			},
		},
		"ada": {
			count: func() (Distribution, error) { return b.UserDistribution(t.Context(), ada) },
			want: Distribution{
				Bands: []int{2, 0, 0, 4, 0, 4}, Exempt: 5,
				Low: Tier{2, old}, Medium: Tier{4, week}, High: Tier{4, 0.925},
			},
		},
		"bob": {
			count: func() (Distribution, error) { return b.UserDistribution(t.Context(), bob) },
			want:  Distribution{Bands: []int{2, 0, 0, 0, 0, 0}, Low: Tier{2, twenty}, OverShare: 1},
		},
		"an unknown user": {
			count: func() (Distribution, error) {
				return b.UserDistribution(t.Context(), memory.Owner{AppID: ada.AppID, UserID: "nemo"})
			},
			want: Distribution{Bands: make([]int, len(Bands))},
		},
	} {
		got, err := one.count()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one.want, got, cmpopts.EquateApprox(0, 1e-8)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
