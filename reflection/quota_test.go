package reflection

import (
	"context"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// The users of an app that has used up its tokens wait for the next run. Those of other apps do not.
func TestReflectAll_GoesOnPastAnAppOverItsQuota(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.chat.Answers(`{"insights":[{"insight":"Ada swims.","sources":[1,2,3]}],"retire":[1,2,3]}`)
	facts := b.addFacts(5)
	other := memory.Owner{AppID: "other", UserID: "bob"}
	copies := slices.Clone(facts)
	for i := range copies {
		copies[i].ID, copies[i].Owner = memory.NewID(), other
	}
	if err := b.store.InUser(t.Context(), other, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, copies, b.clock.Now())
	}); err != nil {
		t.Fatal(err)
	}
	b.Chat = apptest.Rationed{Chat: b.chat, AppID: ada.AppID}
	totals, err := b.ReflectAll(t.Context())
	if err != nil || totals.Failed != 0 || totals.Insights != 1 || totals.Retired != 3 {
		t.Errorf("%+v, %v", totals, err)
	}
	b.Chat = b.chat
	if totals, err := b.ReflectAll(t.Context()); err != nil || totals.Insights != 1 || totals.Retired != 3 {
		t.Errorf("the next day: %+v, %v", totals, err)
	}
}
