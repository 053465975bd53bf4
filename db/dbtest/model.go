package dbtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // draws less under the race detector
)

// row is the model of one memory.
type row struct {
	memory   memory.Memory
	state    memory.VectorState
	attempts int
	due      time.Time
	claimed  time.Time
	claims   int
	syncedAt time.Time
	again    bool // requeued while claimed
}

func (r *row) claimable(now time.Time) bool {
	return (r.state == memory.VectorPending || r.state == memory.VectorRemoving) && !r.claimed.After(now)
}

// claim claims the row as a store does and returns its task.
func (r *row) claim(until time.Time) db.VectorTask {
	r.claimed, r.again = until, false
	r.claims++
	task := db.VectorTask{
		Memory:   r.memory,
		Remove:   r.state == memory.VectorRemoving,
		Claim:    r.claims,
		Attempts: r.attempts,
	}
	if task.Remove {
		task.Memory.Embedding = nil
	}
	return task
}

// release ends the claim of a task if it is the last claim of the row. Otherwise
// the row is pushed again after the last one.
func (r *row) release(task db.VectorTask) {
	if r.claims == task.Claim {
		r.claimed, r.again = time.Time{}, false
	} else {
		r.again = !r.claimed.IsZero()
	}
}

// wait makes the row wait for a push.
func (r *row) wait() {
	r.state = memory.VectorRemoving
	if r.memory.Status == memory.Active {
		r.state = memory.VectorPending
	}
}

// randomOperations runs random sequences of writes, pushes and touches on the
// store and on a model in memory, and compares all results.
func randomOperations(t *testing.T, s db.Store) {
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		m := &model{store: s, rows: map[string]*row{}, clock: epoch.Add(time.Duration(run) * 1000 * time.Hour)}
		for range 3 {
			m.owners = append(m.owners, memory.Owner{AppID: memory.NewID(), UserID: memory.NewID()}) // new owners in each run
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert":  m.insert,
			"update":  m.update,
			"claim":   m.claim,
			"finish":  m.finish,
			"retry":   m.retry,
			"touch":   m.touch,
			"requeue": m.requeue,
			"":        m.check,
		})
	})
}

type model struct {
	store  db.Store
	owners []memory.Owner
	rows   map[string]*row
	order  []string // ids, as inserted
	inPush []db.VectorTask
	clock  time.Time
}

func (m *model) tick(t *rapid.T) time.Time {
	m.clock = m.clock.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
	return m.clock
}

// some draws one to four of the known ids, possibly repeated.
func (m *model) some(t *rapid.T) []string {
	if len(m.order) == 0 {
		t.Skip("no memory yet")
	}
	return rapid.SliceOfN(rapid.SampledFrom(m.order), 1, 4).Draw(t, "ids")
}

func (m *model) insert(t *rapid.T) {
	now := m.tick(t)
	owner := rapid.SampledFrom(m.owners).Draw(t, "owner")
	claimed := rapid.SampledFrom([]time.Time{{}, now.Add(2 * time.Second)}).Draw(t, "claimed")
	var fresh []memory.Memory
	for range rapid.IntRange(1, 3).Draw(t, "count") {
		one := newMemory(owner, rapid.StringMatching(`[a-c茶🍵' ]{1,3}`).Draw(t, "content"))
		one.CreatedAt = now
		one.UpdatedAt = now
		one.LastAccessedAt = now
		one.AgentID = rapid.SampledFrom([]string{"", "a"}).Draw(t, "agent")
		fresh = append(fresh, one)
	}
	refused := rapid.SampledFrom([]error{nil, nil, nil, errors.New("refused")}).Draw(t, "refused")
	err := m.store.InUser(context.Background(), owner, func(ctx context.Context, tx db.UserTx) error {
		return errors.Join(tx.Insert(ctx, fresh, claimed), refused)
	})
	if (err == nil) != (refused == nil) {
		t.Fatal(err)
	}
	for _, one := range fresh {
		if refused == nil {
			r := &row{memory: one, state: memory.VectorPending, due: now, claimed: claimed}
			if !claimed.IsZero() {
				r.claims = 1
			}
			m.rows[one.ID], m.order = r, append(m.order, one.ID)
		}
	}
}

func (m *model) update(t *rapid.T) {
	r := m.rows[m.some(t)[0]]
	changed := r.memory
	changed.UpdatedAt = m.tick(t)
	changed.Status = rapid.SampledFrom(memory.Statuses).Draw(t, "status")
	changed.Faded = changed.Status == memory.Forgotten && rapid.Bool().Draw(t, "faded")
	changed.Content = rapid.SampledFrom([]string{changed.Content, "other"}).Draw(t, "content")
	changed.Asked = rapid.SampledFrom([]string{changed.Asked, ""}).Draw(t, "asked")
	changed.Importance = rapid.Float64Range(0, 1).Draw(t, "importance")
	accesses := changed.AccessCount // changed by Touch only
	changed.AccessCount = rapid.IntRange(0, 9).Draw(t, "accesses")
	if changed.Content != r.memory.Content || changed.Status != r.memory.Status {
		changed.Revision++
		r.state, r.due = memory.VectorRemoving, changed.UpdatedAt
		if changed.Status == memory.Active {
			r.state = memory.VectorPending
		}
	}
	r.memory = changed
	r.memory.AccessCount = accesses
	err := m.store.InUser(context.Background(), changed.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Update(ctx, changed)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (m *model) claim(t *rapid.T) {
	now := m.tick(t)
	until := now.Add(3 * time.Second)
	chosen := m.some(t)
	got, err := m.store.ClaimVectors(context.Background(), chosen, now, until)
	if err != nil {
		t.Fatal(err)
	}
	var want []db.VectorTask
	slices.Sort(chosen)
	for _, id := range slices.Compact(chosen) {
		if r := m.rows[id]; r.claimable(now) {
			want = append(want, r.claim(until))
		}
	}
	slices.SortFunc(got, func(a, b db.VectorTask) int { return cmp.Compare(a.Memory.ID, b.Memory.ID) })
	same(t, "claimed", got, want)
	m.inPush = append(m.inPush, got...)
}

// pushed draws and removes one of the running pushes.
func (m *model) pushed(t *rapid.T) db.VectorTask {
	if len(m.inPush) == 0 {
		t.Skip("no push is running")
	}
	i := rapid.IntRange(0, len(m.inPush)-1).Draw(t, "push")
	task := m.inPush[i]
	m.inPush = slices.Delete(m.inPush, i, i+1)
	return task
}

func (m *model) finish(t *rapid.T) {
	now, task := m.tick(t), m.pushed(t)
	if err := m.store.FinishVectors(context.Background(), []db.VectorTask{task}, now); err != nil {
		t.Fatal(err)
	}
	r := m.rows[task.Memory.ID]
	again := r.again
	r.release(task)
	switch {
	case r.claims != task.Claim || r.memory.Revision != task.Memory.Revision || again:
		r.due = now
		r.wait()
	case task.Remove:
		r.state = memory.VectorAbsent
		r.attempts = 0
		r.syncedAt = now
	default:
		r.state = memory.VectorSynced
		r.attempts = 0
		r.syncedAt = now
	}
}

func (m *model) retry(t *rapid.T) {
	now, task := m.tick(t), m.pushed(t)
	due := now.Add(2 * time.Second)
	retry := []db.VectorRetry{{ID: task.Memory.ID, Claim: task.Claim, Due: due}}
	if err := m.store.RetryVectors(context.Background(), retry); err != nil {
		t.Fatal(err)
	}
	r := m.rows[task.Memory.ID]
	waiting := r.state == memory.VectorPending || r.state == memory.VectorRemoving
	if !waiting && r.claims == task.Claim {
		return
	}
	again := r.again
	r.release(task)
	r.again = r.again || again
	r.due = due
	r.wait()
	if r.claims == task.Claim {
		r.attempts++
	}
}

func (m *model) requeue(t *rapid.T) {
	now, chosen := m.tick(t), m.some(t)
	if _, err := m.store.Requeue(context.Background(), chosen, now); err != nil {
		t.Fatal(err)
	}
	for _, id := range chosen {
		r := m.rows[id]
		r.due = now
		r.again = !r.claimed.IsZero()
		r.wait()
	}
}

func (m *model) touch(t *rapid.T) {
	var touches []db.Touch
	for _, id := range m.some(t) {
		at := m.clock.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "at")) * time.Second)
		r := &m.rows[id].memory
		touches = append(touches, db.Touch{Owner: r.Owner, ID: id, Count: rapid.IntRange(1, 3).Draw(t, "count"), At: at})
		r.AccessCount += touches[len(touches)-1].Count
		if at.After(r.LastAccessedAt) {
			r.LastAccessedAt = at
		}
	}
	if err := m.store.Touch(context.Background(), touches); err != nil {
		t.Fatal(err)
	}
}

// check compares everything that the store returns for one of the owners.
func (m *model) check(t *rapid.T) {
	ctx := context.Background()
	since := m.clock.Add(-2 * time.Second)
	owner := rapid.SampledFrom(m.owners).Draw(t, "checked owner")
	var all, active, unconfirmed, handedOut []memory.Memory
	states := map[memory.VectorState]int{}
	for _, id := range m.order {
		r := m.rows[id]
		if r.memory.Owner != owner {
			continue
		}
		all = append(all, bare(r.memory))
		states[r.state]++
		if r.memory.Status != memory.Active {
			continue
		}
		active = append(active, r.memory)
		if r.state == memory.VectorPending || r.state == memory.VectorSynced && !r.syncedAt.Before(since) {
			unconfirmed = append(unconfirmed, r.memory)
		}
		if r.memory.AccessCount > 0 && !r.memory.LastAccessedAt.Before(since) {
			handedOut = append(handedOut, bare(r.memory))
		}
	}
	newest := func(list []memory.Memory, at func(memory.Memory) time.Time) []memory.Memory {
		slices.SortFunc(list, func(a, b memory.Memory) int { return -cmp.Or(at(a).Compare(at(b)), cmp.Compare(a.ID, b.ID)) })
		return list
	}
	created := func(m memory.Memory) time.Time { return m.CreatedAt }
	updated := func(m memory.Memory) time.Time { return m.UpdatedAt }
	accessed := func(m memory.Memory) time.Time { return m.LastAccessedAt }

	got, err := m.store.ListMemories(ctx, db.MemoryFilter{Owner: owner, Limit: memory.MaxPage})
	same(t, "list", got, newest(all, created))
	got, err2 := m.store.Unconfirmed(ctx, owner, since, 1000)
	same(t, "unconfirmed", got, newest(unconfirmed, updated))
	got, err3 := m.store.HandedOut(ctx, owner, since, 1000)
	same(t, "handed out", got, newest(handedOut, accessed))
	got, err4 := m.store.Hydrate(ctx, owner, m.order, m.order)
	same(t, "hydrated", newest(got, created), newest(active, created))
	stats, err5 := m.store.Stats(ctx, owner.AppID)
	same(t, "vector states", stats.Vectors, states)
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
}

func same(t *rapid.T, what string, got, want any) {
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
