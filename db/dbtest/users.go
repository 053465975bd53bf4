package dbtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func roundTrip(t *testing.T, s db.Store) {
	full := newMemory(alice, "他说：\"it's 'fine' \\ — 🍵\"\n\ttwo lines; DROP TABLE agent_memories")
	full.CreatedAt = after(-1)
	full.UpdatedAt = after(2)
	full.LastAccessedAt = after(3)
	full.AccessCount = 7
	full.Status = memory.Superseded
	full.SupersededBy = memory.NewID()
	full.Revision = 41
	least := memory.Memory{
		ID:             memory.NewID(),
		Owner:          alice,
		Content:        "x",
		Type:           memory.TypeFact,
		Domain:         memory.GeneralChat,
		Status:         memory.Active,
		CreatedAt:      epoch,
		UpdatedAt:      epoch,
		LastAccessedAt: epoch,
		Revision:       1,
	}
	old := newMemory(alice, strings.Repeat("茶", memory.MaxContentRunes))
	old.CreatedAt = time.Date(1969, 7, 20, 20, 17, 40, 999999000, time.UTC)
	insert(t, s, time.Time{}, full, least, old)
	check := func(what string, want ...memory.Memory) {
		t.Helper()
		for _, m := range want {
			got, err := s.Memory(t.Context(), "app", m.ID)
			must(t, err)
			wantSame(t, what, got, bare(m))
			must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
				found, err := tx.Memories(ctx, []string{m.ID, "no id", memory.NewID()})
				wantSame(t, what+", within the transaction", found, []memory.Memory{m})
				return err
			}))
		}
	}
	check("inserted", full, least, old)

	changed := full
	changed.AgentID = ""
	changed.ConversationID = "c2"
	changed.SourceTurnID = ""
	changed.Content = "changed 内容"
	changed.Type = "task"
	changed.Domain = memory.Tasks
	changed.Tags = nil
	changed.Importance = 0.1
	changed.Metadata = nil
	changed.Pinned = false
	changed.Status = memory.Forgotten
	changed.SupersededBy = ""
	changed.UpdatedAt, changed.LastAccessedAt = after(10), after(11)
	changed.Lexemes = "changed"
	changed.Embedding = []float32{0, 1, 0}
	changed.EmbeddingModel = "other"
	changed.Revision = 42
	update(t, s, changed)
	least.Tags = []string{"t"}
	least.Metadata = json.RawMessage(`{}`)
	least.Embedding = []float32{-0.5}
	update(t, s, least)
	check("updated", changed, least, old)

	precise := newMemory(alice, "nanoseconds are cut")
	precise.CreatedAt = epoch.Add(999 * time.Nanosecond).In(time.FixedZone("", 8*3600))
	insert(t, s, time.Time{}, precise)
	precise.CreatedAt = memory.Instant(precise.CreatedAt)
	check("cut to microseconds", precise)
}

func limits(t *testing.T, s db.Store) {
	for what, spoil := range map[string]func(*memory.Memory){
		"empty content":            func(m *memory.Memory) { m.Content = "" },
		"long content":             func(m *memory.Memory) { m.Content = strings.Repeat("a", memory.MaxContentRunes+1) },
		"importance":               func(m *memory.Memory) { m.Importance = 1.01 },
		"low importance":           func(m *memory.Memory) { m.Importance = -0.01 },
		"unknown type":             func(m *memory.Memory) { m.Type = "unknown" },
		"unknown domain":           func(m *memory.Memory) { m.Domain = "" },
		"unknown status":           func(m *memory.Memory) { m.Status = "unknown" },
		"metadata no object":       func(m *memory.Memory) { m.Metadata = json.RawMessage(`[1]`) },
		"no id":                    func(m *memory.Memory) { m.ID = "7" },
		"long agent":               func(m *memory.Memory) { m.AgentID = strings.Repeat("é", 129) },
		"revision":                 func(m *memory.Memory) { m.Revision = 0 },
		"active with SupersededBy": func(m *memory.Memory) { m.SupersededBy = memory.NewID() },
		"no turn":                  func(m *memory.Memory) { m.SourceTurnID = "turn" },
		"other owner":              func(m *memory.Memory) { m.UserID = "bob" },
	} {
		m := newMemory(alice, "fine")
		spoil(&m)
		err := s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			return tx.Insert(ctx, []memory.Memory{newMemory(alice, "valid"), m}, time.Time{})
		})
		if !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("%s: got %v, want an error of kind invalid", what, err)
		}
	}
	left, err := s.ListMemories(t.Context(), db.MemoryFilter{Owner: alice, Limit: 10})
	must(t, err)
	wantSame(t, "memories left", left, []memory.Memory{})
	m := newMemory(alice, "one")
	insert(t, s, time.Time{}, m)
	wantKind(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{newMemory(alice, "two"), m}, time.Time{})
	}), memory.KindConflict)
}

func rollback(t *testing.T, s db.Store) {
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	kept, lost := newMemory(alice, "kept"), newMemory(alice, "lost")
	insert(t, s, time.Time{}, kept)
	everything := func(ctx context.Context, tx db.UserTx) {
		must(t, tx.Insert(ctx, []memory.Memory{lost}, time.Time{}))
		changed := kept
		changed.Content, changed.Revision = "changed", 2
		must(t, tx.Update(ctx, changed))
		must(t, tx.AddEvents(ctx, []memory.Event{newEvent(kept.ID, memory.EventUpdated, epoch)}))
		must(t, tx.AddCandidates(ctx, []memory.Candidate{newCandidate(turn.ID)}))
		must(t, tx.FinishTurn(ctx, turn.ID, 1, epoch, memory.Scoring{}))
	}
	unchanged := func(what string) {
		t.Helper()
		_, err := s.Memory(t.Context(), "app", lost.ID)
		wantKind(t, err, memory.KindNotFound)
		m, err := s.Memory(t.Context(), "app", kept.ID)
		must(t, err)
		wantSame(t, what, m, bare(kept))
		events, err := s.History(t.Context(), "app", kept.ID)
		must(t, err)
		wantSame(t, what, events, []memory.Event{})
		candidates, err := s.TurnCandidates(t.Context(), "app", turn.ID)
		must(t, err)
		wantSame(t, what, candidates, []memory.Candidate{})
		found, err := s.Turn(t.Context(), "app", turn.ID)
		must(t, err)
		wantSame(t, what, found, turn)
	}

	errRefused := errors.New("refused")
	err := s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		everything(ctx, tx)
		return errRefused
	})
	if err != errRefused { //nolint:errorlint // the error must be returned unwrapped
		t.Errorf("InUser returned %v, want the error of f itself", err)
	}
	unchanged("after an error")

	func() {
		defer func() {
			if recover() != "stop" {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			everything(ctx, tx)
			panic("stop")
		})
	}()
	unchanged("after a panic")

	ctx, cancel := context.WithCancel(t.Context())
	err = s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		everything(ctx, tx)
		cancel()
		return nil
	})
	wantKind(t, err, memory.KindUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error does not wrap its cause: %v", err)
	}
	unchanged("after the context ended")
}

func mutualExclusion(t *testing.T, s db.Store) {
	owners := []memory.Owner{alice, {AppID: "app", UserID: "bob"}, {AppID: "app2", UserID: "alice"}}
	const (
		writers = 4
		rounds  = 8
		step    = 1. / 64
	) // exact in binary
	var group errgroup.Group
	counters := make([]memory.Memory, len(owners))
	for i, owner := range owners {
		counters[i] = newMemory(owner, "counter")
		counters[i].Importance = 0
		insert(t, s, time.Time{}, counters[i])
		for range writers {
			group.Go(func() error {
				for range rounds {
					err := s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
						found, err := tx.Memories(ctx, []string{counters[i].ID})
						if err != nil {
							return err
						}
						found[0].Importance += step
						found[0].Revision++
						return tx.Update(ctx, found[0])
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	must(t, group.Wait())
	for _, m := range counters {
		found, err := s.Memory(t.Context(), m.AppID, m.ID)
		must(t, err)
		wantSame(t, "increments", found.Importance, writers*rounds*step)
		wantSame(t, "revision", found.Revision, int64(writers*rounds+1))
	}
}

func waitingForTheLock(t *testing.T, s db.Store) {
	held, release := make(chan struct{}), make(chan struct{})
	holder := make(chan error, 1)
	go func() {
		holder <- s.InUser(t.Context(), alice, func(context.Context, db.UserTx) error {
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.InUser(ctx, alice, func(context.Context, db.UserTx) error {
		t.Error("two transactions of one user run at the same time")
		return nil
	})
	wantKind(t, err, memory.KindUnavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error does not wrap its cause: %v", err)
	}
	close(release)
	must(t, <-holder)
	insert(t, s, time.Time{}, newMemory(alice, "the lock is free again"))
}

// oneBusyUser checks that waiting writers of one user do not delay other users.
func oneBusyUser(t *testing.T, s db.Store) {
	const waiters = 12 // more than the connection pools of the tests have
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	insert(t, s, time.Time{}, newMemory(bob, "bob's"))
	held, release := make(chan struct{}), make(chan struct{})
	var group errgroup.Group
	group.Go(func() error {
		return s.InUser(t.Context(), alice, func(context.Context, db.UserTx) error {
			close(held)
			<-release
			return nil
		})
	})
	<-held
	for range waiters {
		group.Go(func() error {
			return s.InUser(t.Context(), alice, func(context.Context, db.UserTx) error { return nil })
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for range 100 { // while the waiters arrive
		found, err := s.Documents(ctx, bob)
		if err != nil || len(found) != 1 {
			t.Errorf("while another user's writers wait: %d documents, %v", len(found), err)
			break
		}
	}
	close(release)
	must(t, group.Wait())
}
