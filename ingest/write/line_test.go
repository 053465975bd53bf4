package write

import (
	"testing"
	"testing/synctest"
	"time"

	"hippocampus/internal/memory"
)

func TestLines_LetBatchesOfAUserInOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l lines
		ada, ben := memory.Owner{UserID: "ada"}, memory.Owner{UserID: "ben"}
		enter := func(owner memory.Owner, limit time.Duration) (entered chan func()) {
			entered = make(chan func(), 1)
			go func() { entered <- l.enter(t.Context(), owner, limit) }()
			synctest.Wait()
			return entered
		}
		first := enter(ada, time.Hour)
		second := enter(ada, time.Hour)
		impatient := enter(ada, time.Minute)
		other := enter(ben, time.Hour)
		third := enter(ada, time.Hour)
		beyond := enter(ada, time.Hour)
		if len(first) != 1 || len(second) != 0 || len(third) != 0 || len(other) != 1 || len(beyond) != 1 {
			t.Errorf("entered: %d, %d, %d, of another user %d, with more than %d waiting %d",
				len(first), len(second), len(third), len(other), maxWaiting, len(beyond))
		}
		(<-beyond)()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(impatient) != 1 {
			t.Error("a batch waits longer than its limit")
		}
		(<-impatient)()
		for _, next := range []chan func(){first, second, third} {
			synctest.Wait()
			(<-next)()
		}
		(<-other)()
		if len(l.of) != 0 {
			t.Errorf("%d lines are left", len(l.of))
		}
	})
}
