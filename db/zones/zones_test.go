package zones_test

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/zones"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// counted counts the zones that are read.
type counted struct {
	zones.Records
	reads int
}

func (c *counted) UserZone(ctx context.Context, owner memory.Owner) (memory.UserZone, error) {
	c.reads++
	return c.Records.UserZone(ctx, owner)
}

func TestService_FindsTheZoneInItsOrder(t *testing.T) {
	t.Parallel()
	store, clock := apptest.SQLite(t), apptest.NewClock(begin)
	records := &counted{Records: store}
	s := zones.New(records, time.FixedZone("settings", 3600), clock.Now)
	want := func(name string) {
		t.Helper()
		zone, err := s.Of(t.Context(), ada)
		if err != nil || zone.String() != name {
			t.Errorf("the zone is %v, want %s: %v", zone, name, err)
		}
	}
	want("settings")
	want("settings")
	if records.reads != 1 {
		t.Errorf("the zone was read %d times", records.reads)
	}
	turn := memory.Turn{
		ID: memory.NewID(), Owner: ada, Messages: []memory.Message{{Role: "user", Content: "hi"}}, Offset: "-08:00",
		At: begin, Status: memory.TurnAccepted, AcceptedAt: begin, QueuedAt: begin,
	}
	if _, _, err := store.AcceptTurn(t.Context(), turn, begin, nil); err != nil {
		t.Fatal(err)
	}
	want("settings") // as it was read
	clock.Advance(10 * time.Minute)
	want("-08:00")
	reads := records.reads
	s.OnTurnAccepted(turn) // its offset is known
	want("-08:00")
	if records.reads != reads {
		t.Error("the zone was read again after a turn with the same offset")
	}
	turn.ID, turn.Offset = memory.NewID(), "+05:30"
	if _, _, err := store.AcceptTurn(t.Context(), turn, begin, nil); err != nil {
		t.Fatal(err)
	}
	s.OnTurnAccepted(turn)
	want("+05:30")
	z, used, err := s.Choose(t.Context(), ada, "Asia/Shanghai")
	if err != nil || z.Chosen != "Asia/Shanghai" || z.Offset != "+05:30" || used.String() != "Asia/Shanghai" {
		t.Errorf("chosen: %+v, %v, %v", z, used, err)
	}
	want("Asia/Shanghai")
	if _, _, err := s.Choose(t.Context(), ada, ""); err != nil {
		t.Error(err)
	}
	want("+05:30")
	if zone, err := zones.Finder(nil).Of(t.Context(), ada); err != nil || zone != time.UTC {
		t.Errorf("without a finder: %v, %v", zone, err)
	}
}

func TestService_ChoosesNoZoneOfAUserWhoIsBeingErased(t *testing.T) {
	t.Parallel()
	store := apptest.SQLite(t)
	s := zones.New(store, nil, func() time.Time { return begin })
	if _, err := store.BeginErasure(t.Context(), ada, begin, begin, erasing{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Choose(t.Context(), ada, "Asia/Shanghai"); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("choosing a zone: %v", err)
	}
}

type erasing struct{}

func (erasing) Kind() string { return "erasing" }

var _ db.Job = erasing{}
