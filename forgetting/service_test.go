package forgetting

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var ada = memory.Owner{AppID: "app", UserID: "ada"}

// fixture is a service on a real SQLite database and a clock that the test moves.
type fixture struct {
	*Service
	t      *testing.T
	store  *sqlite.Store
	clock  *apptest.Clock
	pusher *apptest.Pusher
	enter  func() // called before each user's transaction; nil: nothing
}

// records lets a test act between the read and the write of a run.
type records struct {
	*sqlite.Store
	b *fixture
}

func (r records) InUser(ctx context.Context, owner memory.Owner,
	f func(ctx context.Context, tx db.UserTx) error) error {
	if r.b.enter != nil {
		r.b.enter()
	}
	return r.Store.InUser(ctx, owner, f)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	clock := apptest.NewClock(begin)
	b := &fixture{t: t, store: apptest.SQLite(t), clock: clock, pusher: apptest.NewPusher(clock)}
	b.Service = New(records{b.store, b}, b.pusher, Settings{Rule: strengthening, PurgeAfter: 30 * 24 * time.Hour},
		b.clock.Now, zaptest.NewLogger(t))
	return b
}

// add writes n memories that were last accessed this number of days before begin.
func (b *fixture) add(n, days int, change func(*memory.Memory)) []memory.Memory {
	b.t.Helper()
	list := make([]memory.Memory, n)
	at := begin.AddDate(0, 0, -days)
	for i := range list {
		list[i] = memory.Memory{
			ID: memory.NewID(), Owner: ada, Content: fmt.Sprintf("memory %d of day %d", i, days), Type: memory.TypeFact,
			Domain:     memory.GeneralChat,
			Importance: 0.8, Status: memory.Active, Embedding: []float32{1}, EmbeddingModel: "test", Revision: 1,
			CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
		}
		if change != nil {
			change(&list[i])
		}
	}
	if err := b.store.InUser(b.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, list, at)
	}); err != nil {
		b.t.Fatal(err)
	}
	return list
}

func (b *fixture) run(whole bool) Report {
	b.t.Helper()
	report, err := b.Run(b.t.Context(), ada, "test", whole, Listing{Limit: 3})
	if err != nil {
		b.t.Fatal(err)
	}
	return report
}

func (b *fixture) status(id string) memory.Status {
	b.t.Helper()
	m, err := b.store.Memory(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return m.Status
}

// confirm marks every vector change as applied.
func (b *fixture) confirm() {
	b.t.Helper()
	tasks, err := b.store.ClaimDueVectors(b.t.Context(), b.clock.Now().AddDate(1, 0, 0), b.clock.Now().AddDate(1, 0, 1),
		10_000)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.store.FinishVectors(b.t.Context(), tasks, b.clock.Now()); err != nil {
		b.t.Fatal(err)
	}
}

func TestRun_ForgetsFadedMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	fresh, old := b.add(600, 0, nil), b.add(130, 40, nil)
	pinned := b.add(1, 400, func(m *memory.Memory) { m.Pinned = true })[0]
	insight := b.add(1, 400, func(m *memory.Memory) { m.Type = memory.TypeReflection })[0]

	preview, err := b.Preview(t.Context(), ada, begin, b.Rule(), Listing{Limit: 1000})
	if err != nil || preview.Active != 732 || preview.Due != 130 || preview.Stopped != "" || len(preview.Forgotten) != 0 {
		t.Fatalf("preview of %d, due %d, stopped %q, %v", preview.Active, preview.Due, preview.Stopped, err)
	}
	if len(preview.Listed) != 732 {
		t.Fatalf("%d memories are listed", len(preview.Listed))
	}
	first, last := preview.Listed[0], preview.Listed[731]
	if !first.Faded || first.Retention >= 0.1 || !first.FadesAt.Before(begin) || !last.FadesAt.IsZero() || last.Faded {
		t.Errorf("first %+v, last %+v", first, last)
	}
	if b.status(old[0].ID) != memory.Active {
		t.Error("a preview forgets")
	}

	report := b.run(false)
	var want []string
	for _, m := range old {
		want = append(want, m.ID)
	}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(report.Forgotten))
	if !slices.Equal(got, want) || !slices.Equal(slices.Sorted(slices.Values(b.pusher.Pushed())), want) {
		t.Errorf("%d gone, %d pushed, want %d", len(got), len(b.pusher.Pushed()), len(want))
	}
	for _, id := range []string{fresh[0].ID, pinned.ID, insight.ID} {
		if b.status(id) != memory.Active {
			t.Errorf("%s was forgotten", id)
		}
	}
	events, err := b.store.History(t.Context(), ada.AppID, old[0].ID)
	if err != nil || len(events) != 1 || events[0].Kind != memory.EventForgotten || events[0].Cause != "test" ||
		!strings.Contains(string(events[0].Detail), `"status":"forgotten"`) ||
		!strings.Contains(string(events[0].Detail), `"retention":0.0`) {
		t.Errorf("events %+v, %v", events, err)
	}
	if again := b.run(false); again.Due != 0 || len(again.Forgotten) != 0 {
		t.Errorf("a second run: %+v", again)
	}
}

// More than the share has faded: each run forgets its share, the lowest retention first, until nothing is due.
func TestRun_ForgetsTheMaxShareAtATime(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.add(6, 0, nil)
	var want []string // the oldest first
	for _, days := range []int{90, 80, 70, 60, 50, 40} {
		want = append(want, b.add(1, days, nil)[0].ID)
	}
	unimportant := b.add(1, 40, func(m *memory.Memory) { m.Importance = 0 })[0].ID // 0.0074, and 0.0133 of importance 0.8
	want = slices.Insert(want, 5, unimportant)
	for _, step := range []struct {
		active, due, forgotten int
		warned                 bool
	}{
		{active: 13, due: 7, forgotten: 2, warned: true}, {active: 11, due: 5, forgotten: 2, warned: true},
		{active: 9, due: 3, forgotten: 1, warned: true}, {active: 8, due: 2, forgotten: 1, warned: true},
		{active: 7, due: 1, forgotten: 1},
	} {
		preview, err := b.Preview(t.Context(), ada, begin, b.Rule(), Listing{})
		if err != nil {
			t.Fatal(err)
		}
		r := b.run(false)
		if r.Active != step.active || r.Due != step.due || r.Stopped != "" || (r.Warning != "") != step.warned ||
			r.Warning != preview.Warning {
			t.Errorf("got %d of %d due, stopped %q, warning %q, want %+v", r.Due, r.Active, r.Stopped, r.Warning, step)
		}
		if !slices.Equal(r.Forgotten, want[:step.forgotten]) {
			t.Fatalf("forgot %v, want %v", r.Forgotten, want[:step.forgotten])
		}
		want = want[step.forgotten:]
	}
}

func TestRun_ForgetsAllAtOnceIfWhole(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.add(7, 0, nil)
	b.add(3, 40, nil)
	if r := b.run(true); r.Stopped+r.Warning != "" || r.Due != 3 || len(r.Forgotten) != 3 {
		t.Errorf("%+v", r)
	}
}

func TestRun_StopsIfTheMaxShareIsZero(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MaxShare = 0
	b.add(7, 0, nil)
	if r := b.run(false); r.Stopped != "" {
		t.Errorf("stopped although nothing has faded: %s", r.Stopped)
	}
	b.add(3, 40, nil)
	if r := b.run(false); r.Stopped == "" || r.Warning != "" || r.Due != 3 || len(r.Forgotten) != 0 {
		t.Errorf("%+v", r)
	}
}

// Memories that are accessed or pinned during a run stay.
func TestRun_KeepsMemoriesAccessedInTheMeantime(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.add(20, 0, nil)
	old := b.add(2, 40, nil)
	b.enter = func() {
		b.enter = nil
		touch := db.Touch{Owner: old[0].Owner, ID: old[0].ID, Count: 1, At: begin}
		if err := b.store.Touch(t.Context(), []db.Touch{touch}); err != nil {
			t.Error(err)
		}
	}
	if r := b.run(false); !slices.Equal(r.Forgotten, []string{old[1].ID}) || b.status(old[0].ID) != memory.Active {
		t.Errorf("gone %v", r.Forgotten)
	}
}

func TestPurge_DeletesWhatWasForgottenLongAgo(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.add(2000, 0, nil)
	old := b.add(250, 40, nil)
	b.run(false)
	purge := func() int {
		t.Helper()
		n, err := b.Purge(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	b.clock.Set(begin.AddDate(0, 0, 31))
	if n := purge(); n != 0 {
		t.Errorf("%d purged before the vector store let go of them", n)
	}
	b.clock.Set(begin.AddDate(0, 0, 29))
	b.confirm()
	if n := purge(); n != 0 {
		t.Errorf("%d purged within 30 days", n)
	}
	b.clock.Set(begin.AddDate(0, 0, 31))
	if n := purge(); n != 250 {
		t.Errorf("%d purged, want 250", n)
	}
	if _, err := b.store.Memory(t.Context(), ada.AppID, old[0].ID); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("a purged memory: %v", err)
	}
	events, err := b.store.History(t.Context(), ada.AppID, old[0].ID)
	if err != nil || len(events) != 2 || events[1].Kind != memory.EventPurged {
		t.Errorf("events %+v, %v", events, err)
	}
}

// A message that was said a year ago and recorded today fades on the same night as a message of today.
func TestRunAll_KeepsThePastAsLongAsThePresent(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	message := func(m *memory.Memory) { m.Type = memory.TypeMessage }
	present := b.add(1, 0, message)[0]
	past := b.add(1, 0, func(m *memory.Memory) {
		message(m)
		m.CreatedAt = begin.AddDate(-1, 0, 0)
		m.LastAccessedAt = m.CreatedAt
	})[0]
	b.add(20, 0, func(m *memory.Memory) { m.Pinned = true }) // so that the share admits both
	var nights [2]int
	for night := range 30 {
		b.clock.Set(begin.AddDate(0, 0, night))
		if _, err := b.RunAll(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		for i, m := range []memory.Memory{past, present} {
			if b.status(m.ID) == memory.Active {
				nights[i] = night
			}
		}
	}
	if nights[0] != nights[1] || nights[1] < 20 || nights[1] > 28 {
		t.Errorf("the last night of the past message is %d, of the present one %d", nights[0], nights[1])
	}
}

// A message that is forgotten for its age says so, though its retention is high.
func TestRun_StatesTheAgeOfOldMessages(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MessageAge = 10 * 24 * time.Hour
	old := b.add(1, 12, func(m *memory.Memory) {
		m.Type = memory.TypeMessage
		m.LastAccessedAt = begin
	})[0]
	b.add(9, 0, nil)
	if r := b.run(false); !slices.Equal(r.Forgotten, []string{old.ID}) {
		t.Fatalf("forgotten %v", r.Forgotten)
	}
	events, err := b.store.History(t.Context(), ada.AppID, old.ID)
	if err != nil || len(events) != 1 {
		t.Fatalf("events %+v, %v", events, err)
	}
	detail := string(events[0].Detail)
	if !strings.Contains(detail, `"age_days":12,"keep_days":10`) || strings.Contains(detail, "retention") {
		t.Errorf("the event states %s", detail)
	}
}

// A faded memory can be recollected, except for a message that is older than messages are kept.
func TestRun_MarksWhatHasFaded(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.MessageAge = 10 * 24 * time.Hour
	isMessage := func(m *memory.Memory) { m.Type = memory.TypeMessage }
	faded, old := b.add(1, 100, nil)[0], b.add(1, 100, isMessage)[0]
	if r := b.run(true); len(r.Forgotten) != 2 {
		t.Fatalf("forgotten %v", r.Forgotten)
	}
	for id, want := range map[string]bool{faded.ID: true, old.ID: false} {
		if m, err := b.store.Memory(t.Context(), ada.AppID, id); err != nil || m.Faded != want {
			t.Errorf("%s: faded %t, %v", m.Content, m.Faded, err)
		}
	}
}
