package dbtest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// aboutUser is a job about a user.
type aboutUser struct {
	AppID  string `json:"app_id"`
	UserID string `json:"user_id"`
	More   int    `json:"more"`
}

func (aboutUser) Kind() string { return "dbtest_about_user" }

// eraseUser is the job of an erasure.
type eraseUser struct {
	AppID  string `json:"app_id"`
	UserID string `json:"user_id"`
}

func (eraseUser) Kind() string { return "dbtest_erase_user" }

func begin(t *testing.T, s db.Store, owner memory.Owner) db.Erasure {
	t.Helper()
	e, err := s.BeginErasure(t.Context(), owner, after(100), after(130), eraseUser{owner.AppID, owner.UserID})
	must(t, err)
	return e
}

// eraseAll runs all steps of an erasure except its end.
func eraseAll(t *testing.T, s db.Store, e db.Erasure, limit int) (all db.Erased) {
	t.Helper()
	for range 1000 {
		some, err := s.EraseSome(t.Context(), e, db.EraseStep{Now: after(100), Limit: limit, Keep: eraseUser{}.Kind()})
		must(t, err)
		if d := some.Deleted; d.Turns > limit || d.Conversations > limit || d.Consolidations > limit ||
			d.Memories > limit || d.Events > limit || d.Facts > limit || d.Instructions > limit || d.Skills > limit ||
			d.Outcomes > limit || d.Files > limit || d.FileVersions > limit || len(some.Memories) > d.Memories {
			t.Errorf("a step of at most %d rows deleted %+v, memories %q", limit, d, some.Memories)
		}
		if some.Deleted == (db.Erased{}) {
			wantSame(t, "left", some.Left, 0)
			return all
		}
		all = all.Plus(some.Deleted)
	}
	t.Fatal("the erasure did not end after 1000 steps")
	return all
}

// fill stores rows of every kind for an owner: 3 turns, 2 conversations with 3 consolidations, 3 candidates, 4 jobs,
// 5 memories, 4 events, 2 relations, 3 facts, 2 instructions in 3 versions, 2 workflows, an outcome,
// 2 files with 4 versions, 2 logged recalls, a state, two modes and the offset of a zone.
func fill(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	ctx := t.Context()
	done := newTurn(owner, "")
	failed := newTurn(owner, "")
	waiting := newTurn(owner, "client-"+memory.NewID())
	failed.ConversationID, waiting.ConversationID = "talk", "another talk"
	waiting.Offset = "+08:00"
	accepted(t, s, done, failed, waiting)
	refused := newCandidate("")
	refused.Verdict = memory.InvalidAnswer
	must(t, s.FailTurn(ctx, failed.ID, 1, "bad", epoch, &refused))
	var memories []memory.Memory
	for i := range 5 {
		memories = append(memories, newMemory(owner, describe(i)))
	}
	memories[4].Status = memory.Forgotten
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.FinishTurn(ctx, done.ID, 1, epoch, memory.Scoring{}))
		must(t, tx.AddCandidates(ctx, []memory.Candidate{newCandidate(done.ID), newCandidate(done.ID)}))
		must(t, tx.Insert(ctx, memories, time.Time{}))
		must(t, tx.SetState(ctx, db.UserState{ReflectedAt: epoch}))
		must(t, tx.AddRelations(ctx, []memory.Relation{
			{From: memories[0].ID, To: memories[4].ID, Kind: memory.DerivedFrom, CreatedAt: epoch},
			{From: memories[3].ID, To: memories[0].ID, Kind: memory.Supports, CreatedAt: epoch},
		}))
		return tx.AddEvents(ctx, []memory.Event{
			newEvent(memories[0].ID, memory.EventCreated, epoch), newEvent(memories[0].ID, memory.EventUpdated, after(1)),
			newEvent(memories[4].ID, memory.EventForgotten, after(1)), newEvent(memory.NewID(), memory.EventPurged, after(1)),
		})
	}))
	addFacts(t, s, newFact(owner, "city", `1`, epoch), newFact(owner, "job", `1`, epoch),
		newFact(owner, "team", `1`, epoch))
	planAll(t, s, newConsolidation(owner, "talk", memory.FastReplay, 1, 1),
		newConsolidation(owner, "talk", memory.DeepReflection, 1, 1),
		newConsolidation(owner, "another talk", memory.FastReplay, 1, 1))
	fillProcedures(t, s, owner)
	fillFiles(t, s, owner)
	putSource(t, s, newSource(owner, "id:handbook"))
	setMode(t, s, owner, memory.ModeRead)
	setModeOf(t, s, owner, "talk", memory.ModeOff)
	must(t, s.LogRecalls(ctx, []memory.LoggedRecall{newRecall(owner, 10_000), newRecall(owner, 10_001)}))
	enqueue(t, s, aboutUser{owner.AppID, owner.UserID, 1}, true)
}

var filled = db.Erased{
	Memories:       5,
	Turns:          3,
	Conversations:  2,
	Consolidations: 3,
	Candidates:     3,
	Events:         4,
	Relations:      2,
	Facts:          3,
	Instructions:   3,
	Skills:         2,
	Outcomes:       1,
	Files:          2,
	FileVersions:   4,
	Documents:      1,
	Announcements:  5,
	Recalls:        2,
	Jobs:           4,
}

// contents returns everything of an owner that can be listed.
func contents(t *testing.T, s db.Store, owner memory.Owner) map[string]any {
	t.Helper()
	ctx := t.Context()
	turns, err := s.ListTurns(ctx, db.TurnFilter{AppID: owner.AppID, UserID: owner.UserID, Limit: 100})
	must(t, err)
	memories, err := s.ListMemories(ctx, db.MemoryFilter{Owner: owner, Limit: 100})
	must(t, err)
	candidates, err := s.ListCandidates(ctx, db.CandidateFilter{AppID: owner.AppID, UserID: owner.UserID, Limit: 100})
	must(t, err)
	state, err := s.State(ctx, owner)
	must(t, err)
	var jobs []string
	kinds := []string{aboutUser{}.Kind(), eraseUser{}.Kind(), work{}.Kind()}
	found, err := s.ListJobs(ctx, db.JobFilter{Kinds: kinds, Limit: memory.MaxPage})
	must(t, err)
	for _, j := range found {
		var of struct {
			aboutUser
			TurnID string `json:"turn_id"`
		}
		must(t, json.Unmarshal(j.Payload, &of))
		if of.AppID == owner.AppID && of.UserID == owner.UserID || slices.ContainsFunc(turns, func(t memory.Turn) bool {
			return t.ID == of.TurnID
		}) {
			jobs = append(jobs, string(j.Payload))
		}
	}
	events := 0
	for _, m := range memories {
		history, err := s.History(ctx, owner.AppID, m.ID)
		must(t, err)
		events += len(history)
	}
	recalls, err := s.ListRecalls(ctx, db.RecallFilter{Owner: owner, Limit: 100})
	must(t, err)
	zone, err := s.UserZone(ctx, owner)
	must(t, err)
	mode, err := s.ModeOf(ctx, owner, "talk")
	must(t, err)
	return map[string]any{
		"mode": mode.Mode, "recalls": recalls, "offset": zone.Offset,
		"turns": turns, "memories": memories, "candidates": candidates, "state": state, "jobs": jobs, "events": events,
		"facts":          factsOf(t, s, db.Timeline{Owner: owner, Type: "profile", Key: "city"}),
		"consolidations": consolidationsOf(t, s, owner, "talk"), "procedures": proceduresOf(t, s, owner),
		"files": filesOf(t, s, owner),
	}
}

func erase(t *testing.T, s db.Store) {
	ctx := t.Context()
	_, err := s.Erasure(ctx, alice)
	wantKind(t, err, memory.KindNotFound)
	others := []memory.Owner{
		{AppID: "app", UserID: "bob"},
		{AppID: "other", UserID: "alice"},
		{AppID: "app", UserID: "Alice"},
		{AppID: "appa", UserID: "lice"},
	}
	for _, owner := range append(others, alice) {
		fill(t, s, owner)
	}
	var before []map[string]any
	for _, owner := range others {
		before = append(before, contents(t, s, owner))
	}

	e := begin(t, s, alice)
	wantSame(t, "a new erasure", e, db.Erasure{Owner: alice, Round: 1, RequestedAt: after(100)})
	again, err := s.BeginErasure(ctx, alice, after(200), after(230), eraseUser{alice.AppID, alice.UserID})
	must(t, err)
	wantSame(t, "begun again", again, e)
	if _, err := s.EndErasure(ctx, e, after(101), 0); !errors.Is(err, db.ErrLeft) {
		t.Errorf("ending before anything is deleted: %v", err)
	}
	wantRefused(t, s, alice)
	for _, owner := range others {
		insert(t, s, time.Time{}, newMemory(owner, "still writable"))
	}
	for i, owner := range others {
		before[i] = contents(t, s, owner)
	}

	wantSame(t, "deleted", eraseAll(t, s, e, 2), filled)
	wantRefused(t, s, alice)
	_, err = s.EraseSome(ctx, e, db.EraseStep{Now: after(100), Limit: 1, Keep: eraseUser{}.Kind(), Vectors: 7})
	must(t, err)
	done, err := s.EndErasure(ctx, e, after(105), 2)
	must(t, err)
	want := db.Erasure{Owner: alice, Round: 1, RequestedAt: after(100), DoneAt: after(105), Deleted: filled}
	want.Deleted.Vectors = 9
	wantSame(t, "the ended erasure", done, want)
	stored, err := s.Erasure(ctx, alice)
	must(t, err)
	wantSame(t, "the stored erasure", stored, want)
	wantSame(t, "contents of the erased user", contents(t, s, alice), map[string]any{
		"mode":           memory.ModeOn,
		"offset":         "",
		"recalls":        []memory.LoggedRecall{},
		"turns":          []memory.Turn{},
		"memories":       []memory.Memory{},
		"candidates":     []db.Proposal{},
		"state":          db.UserState{Erased: 1, ErasedAt: after(105)},
		"jobs":           []string(nil),
		"events":         0,
		"facts":          []memory.Fact{},
		"consolidations": []memory.Consolidation{},
		"procedures":     "[] []",
		"files":          "[] []",
	})
	for i, owner := range others {
		wantSame(t, "contents of another user", contents(t, s, owner), before[i])
	}
	for _, scope := range []memory.Scope{{AppID: alice.AppID, Kind: memory.UserScope, ID: alice.UserID},
		{AppID: alice.AppID, Kind: memory.AgentScope, ID: alice.UserID}, {AppID: alice.AppID, Kind: memory.AppScope}} {
		var want db.UserState
		if scope.Kind == memory.UserScope {
			want = db.UserState{Erased: 1, ErasedAt: after(105)}
		}
		must(t, s.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) error {
			state, err := tx.State(ctx)
			wantSame(t, "state in a scope of the kind "+string(scope.Kind), state, want)
			return err
		}))
	}
	if _, err := s.EraseSome(ctx, e, db.EraseStep{Now: after(200), Limit: 1}); !errors.Is(err, db.ErrErased) {
		t.Errorf("a step after the end: %v", err)
	}
	if _, err := s.EndErasure(ctx, e, after(200), 0); !errors.Is(err, db.ErrErased) {
		t.Errorf("ending twice: %v", err)
	}

	fill(t, s, alice) // the user may return
	second := begin(t, s, alice)
	wantSame(t, "the round", second.Round, 2)
	if _, err := s.EraseSome(ctx, e, db.EraseStep{Now: after(200), Limit: 100}); !errors.Is(err, db.ErrErased) {
		t.Errorf("a step of the previous erasure: %v", err)
	}
	state, err := s.State(ctx, alice)
	must(t, err)
	wantSame(t, "state during the second erasure", state, db.UserState{ReflectedAt: epoch, Erased: 1})
	wantSame(t, "deleted in the second round", eraseAll(t, s, second, 100), filled)
	_, err = s.EndErasure(ctx, second, after(300), 0)
	must(t, err)
}

// eraseWaitsForPushes checks that a memory stays until the claim on its vector ends.
func eraseWaitsForPushes(t *testing.T, s db.Store) {
	claimed := newMemory(alice, "claimed")
	created := newMemory(alice, "claimed at creation")
	free := newMemory(alice, "free")
	insert(t, s, time.Time{}, claimed, free)
	insert(t, s, after(110), created)
	tasks, err := s.ClaimVectors(t.Context(), []string{claimed.ID}, epoch, after(500))
	must(t, err)
	e := begin(t, s, alice)
	step := func(now int, left int, want ...string) {
		t.Helper()
		some, err := s.EraseSome(t.Context(), e, db.EraseStep{Now: after(now), Limit: 10})
		must(t, err)
		wantSame(t, "deleted memories", some.Memories, want)
		wantSame(t, "left memories", some.Left, left)
	}
	step(100, 2, free.ID)
	step(109, 2)
	step(110, 1, created.ID)
	step(120, 1)
	must(t, s.FinishVectors(t.Context(), tasks, after(121)))
	step(122, 0, claimed.ID)
	again, err := s.ClaimDueVectors(t.Context(), after(9999), after(10000), 10)
	must(t, err)
	wantSame(t, "vectors left to push", again, []db.VectorTask{})
}

// eraseHostile uses owner ids that are syntax in some language.
func eraseHostile(t *testing.T, s db.Store) {
	names := []string{
		"a/b", "%", "a%2Fb", `"`, `'`, `\`, `\"`, `{"x":1}`, "$", "🧠", "é", "e\u0301", strings.Repeat("中", 85), "_", "*",
		"?",
	}
	for _, name := range names {
		fill(t, s, memory.Owner{AppID: "app", UserID: name})
	}
	for i, name := range names {
		owner := memory.Owner{AppID: "app", UserID: name}
		e := begin(t, s, owner)
		wantSame(t, "deleted of "+name, eraseAll(t, s, e, 100), filled)
		_, err := s.EndErasure(t.Context(), e, after(100), 0)
		must(t, err)
		for _, other := range names[i+1:] {
			left, err := s.ListMemories(t.Context(), db.MemoryFilter{
				Owner: memory.Owner{AppID: "app", UserID: other},
				Limit: 10,
			})
			must(t, err)
			wantSame(t, "memories of "+other, len(left), 5)
		}
	}
}

// everyErasure calls each method of db.Erasures and returns their errors.
func everyErasure(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	e := db.Erasure{Owner: alice, Round: 1}
	_, errs["BeginErasure"] = s.BeginErasure(ctx, alice, epoch, epoch, eraseUser{"app", "alice"})
	_, errs["Erasure"] = s.Erasure(ctx, alice)
	_, errs["EraseSome"] = s.EraseSome(ctx, e, db.EraseStep{Now: epoch, Limit: 1})
	_, errs["ErasedCopies"] = s.ErasedCopies(ctx, alice)
	_, errs["EndErasure"] = s.EndErasure(ctx, e, epoch, 0)
	return errs
}

// exerciseErasure is Exercise for db.Erasures. It erases the owner.
func exerciseErasure(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	e := begin(t, s, owner)
	eraseAll(t, s, e, 10)
	_, err := s.ErasedCopies(t.Context(), owner)
	must(t, err)
	_, err = s.EndErasure(t.Context(), e, after(100), 0)
	must(t, err)
}
