package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// undecided writes two similar facts while the judge is unavailable, and returns them with the job that is left.
func (b *fixture) undecided() (older, newer memory.Memory, job write.JudgeAgain) {
	b.t.Helper()
	b.similar(beijing, shanghai, 0.9)
	older = b.write(beijing, 0.8, time.Time{}).Memory
	b.clock.Advance(time.Hour)
	b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Status(503) })
	newer = b.write(shanghai, 0.8, time.Time{}).Memory
	list, err := b.store.ListJobs(b.t.Context(), db.JobFilter{Kinds: []string{job.Kind()}, Limit: 10})
	if err != nil || len(list) != 1 {
		b.t.Fatalf("jobs %+v, %v", list, err)
	}
	if err := json.Unmarshal(list[0].Payload, &job); err != nil || !slices.Equal(job.MemoryIDs, []string{newer.ID}) {
		b.t.Fatalf("the job is %+v, %v", job, err)
	}
	return older, newer, job
}

// workAgain does a job after a while, and returns its result and whether it waits for another run.
func (b *fixture) workAgain(job write.JudgeAgain, after time.Duration) (result write.Again, waits bool, err error) {
	b.t.Helper()
	b.clock.Advance(after)
	got, err := b.Writer.WorkAgain(b.t.Context(), job)
	result, _ = got.(write.Again)
	var snooze *river.JobSnoozeError
	if errors.As(err, &snooze) {
		return result, true, nil
	}
	return result, false, err
}

// A fact is judged again after the judge failed, and its verdict is applied as if the judge had answered at once.
func TestJudgeAgain_AppliesTheVerdict(t *testing.T) {
	t.Parallel()
	const both = "The user lives in Shanghai and moved from Beijing"
	for name, c := range map[string]struct {
		decision           string
		older, newer       memory.Status
		olderText, newText string
	}{
		"keep both": {`"decision":"keep_both"`, memory.Active, memory.Active, beijing, shanghai},
		"replace":   {`"decision":"replace"`, memory.Superseded, memory.Active, beijing, shanghai},
		"replace with what stays true": {`"decision":"replace","merged":"` + both + `"`,
			memory.Superseded, memory.Active, beijing, both},
		"merge": {`"decision":"merge"`, memory.Active, memory.Superseded, shanghai, shanghai},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			older, newer, job := b.undecided()
			if _, waits, err := b.workAgain(job, 10*time.Second); err != nil || !waits {
				t.Fatalf("at once: waits %t, %v", waits, err)
			}
			if r, waits, err := b.workAgain(job, time.Minute); err != nil || !waits || r.Left != 1 {
				t.Fatalf("while the judge is unavailable: %+v, waits %t, %v", r, waits, err)
			}
			b.decides(`{"decisions":[{"memory":1,` + c.decision + `}]}`)
			if r, waits, err := b.workAgain(job, time.Minute); err != nil || waits || r != (write.Again{Judged: 1}) {
				t.Fatalf("%+v, waits %t, %v", r, waits, err)
			}
			older, newer = b.stored(older.ID), b.stored(newer.ID)
			if older.Status != c.older || newer.Status != c.newer || older.Content != c.olderText || newer.Content != c.newText {
				t.Errorf("older %+v, newer %+v", older, newer)
			}
			if ids := b.searched(shanghai); len(ids) != len(b.memories()) {
				t.Errorf("the vector store has %v", ids)
			}
			before := b.models.Chats()
			if _, _, err := b.workAgain(job, 0); err != nil || c.newer != memory.Active && b.models.Chats() != before {
				t.Errorf("once more: %v after %d calls", err, b.models.Chats()-before)
			}
		})
	}
}

// If the memory that is judged, or the one near it, is edited while the judge decides, it is left for another run. That
// run counts the edited memory as said at the edit.
func TestJudgeAgain_LeavesWhatHasChanged(t *testing.T) {
	t.Parallel()
	for _, isNewer := range []bool{false, true} {
		b := newFixture(t)
		older, newer, job := b.undecided()
		changed, other := older, newer
		if isNewer {
			changed, other = newer, older
		}
		edited := "The user likes parks"
		b.models.Embedding(edited, b.models.Vector(changed.Content))
		b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply {
			if _, err := b.Change(context.Background(), ada.AppID, changed.ID, Change{Content: &edited}); err != nil {
				t.Error(err)
			}
			return llmtest.Text(`{"decisions":[{"memory":1,"decision":"replace"}]}`)
		})
		if r, waits, err := b.workAgain(job, time.Minute); err != nil || !waits || r.Left != 1 {
			t.Errorf("the newer one changes %t: %+v, waits %t, %v", isNewer, r, waits, err)
		}
		if r, waits, err := b.workAgain(job, time.Minute); err != nil || waits || r.Left != 0 ||
			b.stored(other.ID).Status != memory.Superseded {
			t.Errorf("in the next run: %+v, waits %t, %v", r, waits, err)
		}
	}
}

// The job does not ask the judge about a memory that was forgotten since. It fails after a judge has failed for a day.
func TestJudgeAgain_Ends(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	_, newer, job := b.undecided()
	r, waits, err := b.workAgain(job, 25*time.Hour)
	if waits || !memory.IsKind(err, memory.KindUnavailable) || r.Left != 1 {
		t.Errorf("after a day: %+v, waits %t, %v", r, waits, err)
	}
	if _, err := b.Forget(t.Context(), ada.AppID, newer.ID, OfStatement); err != nil {
		t.Fatal(err)
	}
	before := b.models.Chats()
	if r, waits, err := b.workAgain(job, 0); err != nil || waits || r.Left != 0 || b.models.Chats() != before {
		t.Errorf("forgotten: %+v, waits %t, %v, %d calls", r, waits, err, b.models.Chats()-before)
	}
}

// If a user is erased while the judge fails, the user's jobs are deleted.
func TestJudgeAgain_IsGoneWithAnErasedUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.replacing()
	if err := b.processTurn(t.Context(), b.acceptHome(0, 0).ID); err != nil {
		t.Fatal(err)
	}
	b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply {
		b.erase(ada)
		return llmtest.Status(503)
	})
	turn := b.acceptHome(1, 1)
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	list, err := b.store.ListJobs(t.Context(), db.JobFilter{Kinds: []string{write.JudgeAgain{}.Kind()}, Limit: 10})
	if err != nil || len(list) > 0 || len(b.memories()) > 0 || b.Writer.Undecided() == 0 {
		t.Errorf("jobs %+v, %v", list, err)
	}
}

// erase erases a user in the database.
func (b *fixture) erase(owner memory.Owner) {
	b.t.Helper()
	ctx := context.Background()
	e, err := b.store.BeginErasure(ctx, owner, b.clock.Now(), b.clock.Now(), eraseUser{})
	for left := 1; left > 0 && err == nil; {
		var some db.ErasedSome
		some, err = b.store.EraseSome(ctx, e, db.EraseStep{Now: b.clock.Now(), Limit: 100, Keep: eraseUser{}.Kind()})
		left = some.Left
	}
	if err == nil {
		_, err = b.store.EndErasure(ctx, e, b.clock.Now(), 0)
	}
	if err != nil {
		b.t.Error(err)
	}
}

type eraseUser struct{}

func (eraseUser) Kind() string { return "erase_user" }
