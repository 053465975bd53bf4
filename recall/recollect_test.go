package recall

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
	"hippocampus/recall/recollection"
)

// newRecollecting returns a fixture whose recalls recollect. Ada has memories about other things.
func newRecollecting(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t)
	f.set.Recollector = &recollection.Service{
		Records: f.store, Embedder: f, Now: func() time.Time { return f.now },
	}
	for _, content := range []string{"Likes green tea in the morning.", "Works as a nurse.", "Has two cats."} {
		f.add(content, nil, true)
	}
	return f
}

func (f *fixture) addFaded(content string, change func(*memory.Memory)) memory.Memory {
	f.t.Helper()
	return f.add(content, func(m *memory.Memory) {
		m.Status, m.Faded = memory.Forgotten, true
		if change != nil {
			change(m)
		}
	}, false)
}

func (f *fixture) row(id string) memory.Memory {
	f.t.Helper()
	m, err := f.store.Memory(f.t.Context(), ada.AppID, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

const boat = "Sailed a wooden boat across lake Balaton with uncle Ferenc."

var aboutTheBoat = Query{Text: "Who sailed the wooden boat across Balaton?"}

// recollected returns the contents of the recollected memories of an answer.
func recollected(a Answer) []string {
	list := []string{}
	for _, r := range a.Memories {
		if r.Recollected {
			list = append(list, r.Memory.Content)
		}
	}
	return list
}

func TestRecollect_BringsBackWhatFaded(t *testing.T) {
	t.Parallel()
	f := newRecollecting(t)
	m := f.addFaded(boat, nil)
	f.now = begin.Add(time.Hour)
	first := f.recall(aboutTheBoat)
	if got := recollected(first); len(got) != 1 || got[0] != boat || first.Memories[0].Memory.ID != m.ID {
		t.Fatalf("recollected %q at the top of %q", got, contents(first))
	}
	if r := first.Memories[0]; r.Confidence < leastConfidence || r.Memory.Status != memory.Active || r.Memory.Faded {
		t.Errorf("the recollected memory is %+v", r)
	}
	if got := f.row(m.ID); got.Status != memory.Active || got.Faded || !got.LastAccessedAt.Equal(f.now) {
		t.Errorf("the stored memory is %+v", got)
	}
	events, err := f.store.History(t.Context(), ada.AppID, m.ID)
	if err != nil || len(events) != 1 || events[0].Kind != memory.EventRestored || events[0].Cause != "recollected" {
		t.Errorf("its history is %+v, %v", events, err)
	}
	second := f.recall(aboutTheBoat)
	if got := recollected(second); len(got) != 0 || second.Memories[0].Memory.ID != m.ID {
		t.Errorf("the next recall recollects %q and answers %q", got, contents(second))
	}
}

func TestRecollect_WithoutTouchWritesNothing(t *testing.T) {
	t.Parallel()
	f := newRecollecting(t)
	m := f.addFaded(boat, nil)
	before := f.row(m.ID)
	q := aboutTheBoat
	q.NoTouch = true
	for range 2 {
		if got := recollected(f.recall(q)); len(got) != 1 {
			t.Fatalf("recollected %q", got)
		}
	}
	if got := f.row(m.ID); got.Status != memory.Forgotten || !got.Faded || !got.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("the stored memory is %+v", got)
	}
	kept := f.Recollect(t.Context(), ada, f.recall(q).Memories)
	if got := f.row(m.ID); got.Status != memory.Active || kept[0].Memory.Status != memory.Active {
		t.Errorf("after its use the stored memory is %+v", got)
	}
}

func TestRecollect_KeepsWithinTheQuery(t *testing.T) {
	t.Parallel()
	f := newRecollecting(t)
	where, wrong := filter.Parse([]byte(`{"metadata": {"boat": "red"}}`))
	if wrong != nil {
		t.Fatal(wrong)
	}
	f.addFaded(boat, func(m *memory.Memory) {
		m.Tags, m.AgentID, m.ConversationID, m.Importance = []string{"lake"}, "sailor", "talk", 0.5
	})
	ask := func(change func(*Query)) Query {
		q := aboutTheBoat
		q.NoTouch = true
		change(&q)
		return q
	}
	for name, q := range map[string]Query{
		"types":         ask(func(q *Query) { q.Types = []memory.Type{memory.TypeMessage} }),
		"domains":       ask(func(q *Query) { q.Domains = []memory.Domain{memory.Tasks} }),
		"tags":          ask(func(q *Query) { q.Tags = []string{"lake", "sea"} }),
		"agent":         ask(func(q *Query) { q.AgentID = "nurse" }),
		"conversation":  ask(func(q *Query) { q.ConversationID = "another" }),
		"since":         ask(func(q *Query) { q.Since = begin }),
		"until":         ask(func(q *Query) { q.Until = begin.Add(-2 * time.Hour) }),
		"importance":    ask(func(q *Query) { q.MinImportance = 0.6 }),
		"similarity":    ask(func(q *Query) { q.MinSimilarity = 0.99 }),
		"confidence":    ask(func(q *Query) { q.MinConfidence = 0.99 }),
		"metadata":      ask(func(q *Query) { q.Where = where }),
		"as of":         ask(func(q *Query) { q.AsOf = begin }),
		"not wanted":    ask(func(q *Query) { q.NoRecollection = true }),
		"another user":  ask(func(q *Query) { q.Owner = bob }),
		"another app":   ask(func(q *Query) { q.Owner = memory.Owner{AppID: "other", UserID: ada.UserID} }),
		"another topic": ask(func(q *Query) { q.Text = "Which car did the neighbour sell?" }),
	} {
		if got := recollected(f.recall(q)); len(got) != 0 {
			t.Errorf("%s: recollected %q", name, got)
		}
	}
	admitted := ask(func(q *Query) {
		q.Types, q.Domains = []memory.Type{memory.TypeFact}, []memory.Domain{memory.Lifestyle}
		q.Tags, q.AgentID, q.ConversationID, q.MinImportance = []string{"lake"}, "sailor", "talk", 0.5
		q.Since, q.Until = begin.Add(-2*time.Hour), begin
	})
	if got := recollected(f.recall(admitted)); len(got) != 1 {
		t.Errorf("with filters that admit it: recollected %q", got)
	}
}

func TestRecollect_LeavesAnAnswerWithConfidence(t *testing.T) {
	t.Parallel()
	f := newRecollecting(t)
	f.addFaded(boat, nil)
	f.add("Sailed the wooden boat across Balaton alone.", nil, true)
	if got := f.recall(aboutTheBoat); len(recollected(got)) != 0 || got.Memories[0].Confidence < sure {
		t.Errorf("recollected %q, and the best is %+v", recollected(got), got.Memories[0])
	}
}

func TestRecollect_OnlyWhatHasFaded(t *testing.T) {
	t.Parallel()
	f := newRecollecting(t)
	f.addFaded(boat, func(m *memory.Memory) { m.Faded = false })
	message := f.addFaded(boat, func(m *memory.Memory) { m.Type = memory.TypeMessage })
	former := f.add("Sailed a boat.", func(m *memory.Memory) { m.Status = memory.Superseded }, false)
	f.relate(former.ID, message.ID)
	if got := recollected(f.recall(aboutTheBoat)); len(got) != 0 {
		t.Errorf("recollected %q", got)
	}
}

// A fact stands for the message that it was taken from, and the message stays faded.
func TestRecollect_MakesOneItemOfAFactAndItsMessage(t *testing.T) {
	t.Parallel()
	f := newRecollecting(t)
	message := f.addFaded("I sailed a wooden boat across lake Balaton with uncle Ferenc.", func(m *memory.Memory) {
		m.Type = memory.TypeMessage
	})
	fact := f.addFaded(boat, nil)
	f.relate(fact.ID, message.ID)
	if got := recollected(f.recall(aboutTheBoat)); len(got) != 1 || got[0] != boat {
		t.Errorf("recollected %q", got)
	}
	if got := f.row(message.ID); !got.Faded {
		t.Errorf("the message is %+v", got)
	}
}

func (f *fixture) relate(from, to string) {
	f.t.Helper()
	if err := f.store.InUser(f.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: from, Kind: memory.DerivedFrom, To: to, CreatedAt: begin},
		})
	}); err != nil {
		f.t.Fatal(err)
	}
}

// A request to forget wins over recalls at the same time: whatever comes first, the memory is forgotten in the end, and
// was active again at most once.
func TestRecollect_YieldsToARequestToForget(t *testing.T) {
	t.Parallel()
	f := newRecollecting(t)
	for range 10 {
		m := f.addFaded(boat, nil)
		var work sync.WaitGroup
		for range 3 {
			work.Go(func() { f.set.Recollector.Recollect(t.Context(), ada, []memory.Memory{m}) })
		}
		work.Go(func() {
			if err := f.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
				found, err := tx.Memories(ctx, []string{m.ID})
				if err != nil {
					return err
				}
				forgotten := found[0]
				forgotten.Status, forgotten.Faded = memory.Forgotten, false
				changes := history.NewRecorder(tx, "test", begin)
				if err := changes.Update(ctx, found[0], &forgotten); err != nil {
					return err
				}
				return changes.Flush(ctx)
			}); err != nil {
				t.Error(err)
			}
		})
		work.Wait()
		events, err := f.store.History(t.Context(), ada.AppID, m.ID)
		if got := f.row(m.ID); got.Status != memory.Forgotten || got.Faded || len(events) > 1 || err != nil {
			t.Errorf("the memory is %+v with %d events, %v", got, len(events), err)
		}
		if got := recollected(f.recall(aboutTheBoat)); len(got) != 0 {
			t.Errorf("recollected %q", got)
		}
	}
}

// An index keeps the words of what has faded until a memory leaves it, without memories that are active again.
func TestIndex_KeepsWordsOfFadedMemories(t *testing.T) {
	t.Parallel()
	first, second := memory.NewID(), memory.NewID()
	x := newIndex(1, []db.Document{{ID: memory.NewID(), CreatedAt: begin}})
	x.faded.Store(newFadedWords([]db.FadedWords{{ID: first, Lexemes: "boat"}, {ID: second, Lexemes: "red house"}}))
	x = x.changed(db.Changes{Revision: 2, Documents: []db.Document{{ID: memory.NewID(), CreatedAt: begin}}})
	kept := x.faded.Load()
	if kept == nil || kept.id(0) != first || kept.id(1) != second {
		t.Fatalf("after a new memory it has %+v", kept)
	}
	x = x.changed(db.Changes{Revision: 3, Documents: []db.Document{{ID: first, CreatedAt: begin}}})
	kept = x.faded.Load()
	if kept == nil || len(kept.ids) != 1 || kept.id(0) != second ||
		!slices.Equal(kept.lexemesOf(0), appendHashes(nil, "red house")) {
		t.Errorf("after a memory is active again it has %+v", kept)
	}
	if x = x.changed(db.Changes{Revision: 4, Gone: []string{first}}); x.faded.Load() != nil {
		t.Error("it still has the words, though a memory is gone")
	}
}
