package dbtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

var (
	bob   = memory.Owner{AppID: "app", UserID: "bob"}
	carol = memory.Owner{AppID: "app", UserID: "carol"}
)

// mergeGroups are the groups of tests of db.Merges.
var mergeGroups = map[string]func(t *testing.T, s db.Store){
	"merge":           merge,
	"merge conflicts": mergeConflicts,
	"merge admission": mergeAdmission,
}

func beginMerge(t *testing.T, s db.Store, m db.Merge) db.Erasure {
	t.Helper()
	e, err := tryMerge(t.Context(), s, m)
	must(t, err)
	return e
}

func tryMerge(ctx context.Context, s db.Store, m db.Merge) (db.Erasure, error) {
	return s.BeginMerge(ctx, m, after(100), after(130), eraseUser{m.From.AppID, m.From.UserID})
}

// moveAll runs all steps of a merge except its end.
func moveAll(t *testing.T, s db.Store, e db.Erasure, into memory.Owner, limit int) (all db.Erased) {
	t.Helper()
	for range 1000 {
		some, err := s.MoveSome(t.Context(), e, into,
			db.EraseStep{Now: after(100), Limit: limit, Keep: eraseUser{}.Kind()})
		must(t, err)
		if some.Deleted == (db.Erased{}) {
			wantSame(t, "left", some.Left, 0)
			return all
		}
		all = all.Plus(some.Deleted)
	}
	t.Fatal("the merge did not end after 1000 steps")
	return all
}

func endMerge(t *testing.T, s db.Store, e db.Erasure) db.Erasure {
	t.Helper()
	done, err := s.EndErasure(t.Context(), e, after(105), 0)
	must(t, err)
	return done
}

// merge moves everything of a user to one without rows: what the one had is what the other has.
func merge(t *testing.T, s db.Store) {
	fill(t, s, alice)
	fill(t, s, carol)
	before, others := owned(t, s, alice), contents(t, s, carol)
	e := beginMerge(t, s, db.Merge{From: alice, Into: bob, New: true})
	wantRefused(t, s, alice)
	again := beginMerge(t, s, db.Merge{From: alice, Into: bob, New: true})
	wantSame(t, "begun again", again, e)
	moved := moveAll(t, s, e, bob, 2)
	want := filled
	want.Relations, want.Jobs = 0, 1 // relations and jobs about turns do not name a user
	wantSame(t, "moved", moved, want)
	done := endMerge(t, s, e)
	wantSame(t, "the receipt", done.Deleted, want)
	wantSame(t, "the other user has", owned(t, s, bob), before)
	wantSame(t, "a third user has", contents(t, s, carol), others)
	e = begin(t, s, alice)
	wantSame(t, "left of the former user", eraseAll(t, s, e, 100), db.Erased{})
	endMerge(t, s, e)
	e = begin(t, s, bob)
	want = filled
	want.Jobs = 4
	wantSame(t, "an erasure of the other user finds", eraseAll(t, s, e, 100), want)
}

// owned is what contents lists, without the names of the owner.
func owned(t *testing.T, s db.Store, owner memory.Owner) map[string]any {
	t.Helper()
	all := contents(t, s, owner)
	turns := all["turns"].([]memory.Turn)
	for i := range turns {
		turns[i].Owner = memory.Owner{}
	}
	memories := all["memories"].([]memory.Memory)
	for i := range memories {
		memories[i].Owner = memory.Owner{}
	}
	for _, text := range []string{"files", "procedures"} {
		all[text] = strings.ReplaceAll(all[text].(string), " "+owner.UserID+"}", "}")
	}
	for _, f := range []string{"candidates", "facts", "recalls", "consolidations", "jobs", "state"} {
		delete(all, f) // they name their owner; the counts of the receipt and of the erasure cover them
	}
	return all
}

// mergeConflicts merges two users who have the same names: nothing is lost, and the other user's stays in force.
func mergeConflicts(t *testing.T, s db.Store) {
	fill(t, s, alice)
	fill(t, s, bob)
	setMode(t, s, alice, memory.ModeOff)
	setMode(t, s, bob, memory.ModeRead)
	setModeOf(t, s, bob, "talk", memory.ModeOn)
	setModeOf(t, s, alice, "not begun", memory.ModeOff)
	setModeOf(t, s, bob, "not begun", memory.ModeRead)
	same := newMemory(alice, "said by both")
	known := newMemory(bob, "said by both")
	same.Pinned = false
	insert(t, s, time.Time{}, same)
	insert(t, s, time.Time{}, known)
	e := beginMerge(t, s, db.Merge{From: alice, Into: bob})
	moveAll(t, s, e, bob, 3)
	endMerge(t, s, e)
	talks, err := s.ListConversations(t.Context(), db.ConversationFilter{Owner: bob, Limit: 100})
	must(t, err)
	wantSame(t, "conversations", len(talks), 4)
	for _, c := range talks {
		turns, err := s.ConversationTurns(t.Context(), bob, c.ID, 0, 10)
		must(t, err)
		wantSame(t, "turns of "+c.ID, len(turns), 1)
		if strings.HasPrefix(c.ID, "talk") {
			wantSame(t, "memory is on in "+c.ID, c.Memory == memory.ModeOn, c.ID == "talk")
		}
	}
	list, err := s.ListMemories(t.Context(), db.MemoryFilter{Owner: bob, Limit: 100})
	must(t, err)
	wantSame(t, "memories", len(list), 12)
	for _, m := range list {
		if m.ID == same.ID {
			wantSame(t, "what both said is superseded by", m.SupersededBy, known.ID)
		}
	}
	history := factsOf(t, s, db.Timeline{Owner: bob, Type: "profile", Key: "city"})
	wantSame(t, "facts of a timeline", len(history), 2)
	wantMode(t, s, bob, memory.ModeOff)
	modes, err := s.ExportUserModes(t.Context(), db.Extent{AppID: bob.AppID, Limit: 10}, nil)
	must(t, err)
	wantSame(t, "modes", len(modes), 3) // of the user, the conversation that was moved, and the one that has not begun
	for _, m := range modes {
		wantSame(t, "the mode of "+m.UserID+" "+m.ConversationID, m.Mode, memory.ModeOff)
	}
	erasing := begin(t, s, bob)
	all := eraseAll(t, s, erasing, 100)
	wantSame(t, "versions of instructions", all.Instructions, 6)
	wantSame(t, "files and versions", []int{all.Files, all.FileVersions}, []int{4, 8})
	wantSame(t, "documents of one ref", all.Documents, 2)
	wantSame(t, "workflows", all.Skills, 2)
	wantSame(t, "turns, candidates", []int{all.Turns, all.Candidates}, []int{6, 6})
}

// mergeAdmission is about who may be merged when.
func mergeAdmission(t *testing.T, s db.Store) {
	insert(t, s, time.Time{}, newMemory(alice, "a"))
	insert(t, s, time.Time{}, newMemory(bob, "b"))
	_, err := tryMerge(t.Context(), s, db.Merge{From: alice, Into: bob, New: true})
	wantKind(t, err, memory.KindConflict)
	e := beginMerge(t, s, db.Merge{From: alice, Into: bob})
	insert(t, s, time.Time{}, newMemory(bob, "still writable"))
	refuse := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, db.ErrErasing) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, m := range []db.Merge{
		{From: alice, Into: carol}, {From: bob, Into: carol}, {From: bob, Into: alice}, {From: carol, Into: alice},
	} {
		_, err := tryMerge(t.Context(), s, m)
		refuse("another merge", err)
	}
	for _, owner := range []memory.Owner{alice, bob} {
		_, err := s.BeginErasure(t.Context(), owner, epoch, epoch, eraseUser{owner.AppID, owner.UserID})
		refuse("an erasure during a merge", err)
	}
	if _, err := s.MoveSome(t.Context(), e, carol, db.EraseStep{Now: after(100), Limit: 1}); !errors.Is(err,
		db.ErrErased) {
		t.Errorf("a step into another user: %v", err)
	}
	moveAll(t, s, e, bob, 10)
	done := endMerge(t, s, e)
	wantSame(t, "the receipt again", beginMerge(t, s, db.Merge{From: alice, Into: bob}), done)
	insert(t, s, time.Time{}, newMemory(alice, "said later"))
	second := beginMerge(t, s, db.Merge{From: alice, Into: bob})
	wantSame(t, "the round", second.Round, 2)
	moveAll(t, s, second, bob, 10)
	endMerge(t, s, second)
	list, err := s.ListMemories(t.Context(), db.MemoryFilter{Owner: bob, Limit: 100})
	must(t, err)
	wantSame(t, "memories", len(list), 4)
}

// everyMerge calls each method of db.Merges and returns their errors.
func everyMerge(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	var e db.Erasure
	e, errs["BeginMerge"] = tryMerge(ctx, s, db.Merge{From: carol, Into: bob})
	_, errs["MoveSome"] = s.MoveSome(ctx, e, bob, db.EraseStep{Now: epoch, Limit: 1})
	_, errs["EndErasure of a merge"] = s.EndErasure(ctx, e, epoch, 0)
	return errs
}

// exerciseMerge is Exercise for db.Merges. It moves what the owner has to another user and back.
func exerciseMerge(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	other := memory.Owner{AppID: owner.AppID, UserID: "merged " + owner.UserID}
	fill(t, s, other)
	for _, m := range []db.Merge{{From: owner, Into: other}, {From: other, Into: owner, New: true}} {
		e := beginMerge(t, s, m)
		moveAll(t, s, e, m.Into, 10)
		endMerge(t, s, e)
	}
}
