package compression

import (
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// The users of an app that has used up its tokens wait for the next run. Those of other apps do not.
func TestCompressAll_GoesOnPastAnAppOverItsQuota(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) { return citing(p, "Ada swam."), nil })
	b.add(ada, 0, 3, nil)
	b.add(memory.Owner{AppID: "other", UserID: "bob"}, 0, 4, nil)
	b.Chat = apptest.Rationed{Chat: b.chat, AppID: ada.AppID}
	if totals, err := b.CompressAll(t.Context()); err != nil || totals.Failed != 0 || totals.Retired != 4 {
		t.Errorf("%+v, %v", totals, err)
	}
	b.Chat = b.chat
	if totals, err := b.CompressAll(t.Context()); err != nil || totals.Retired != 3 {
		t.Errorf("the next day: %+v, %v", totals, err)
	}
}
