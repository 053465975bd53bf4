package dbtest

import (
	"context"
	"errors"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func userSettings(t *testing.T, s db.Store) {
	userZones(t, s)
	userModes(t, s)
}

func userModes(t *testing.T, s db.Store) {
	namesake := memory.Owner{AppID: "other", UserID: alice.UserID}
	wantMode(t, s, alice, memory.ModeOn)

	setMode(t, s, alice, memory.ModeRead)
	wantMode(t, s, alice, memory.ModeRead)
	wantMode(t, s, bob, memory.ModeOn)
	wantMode(t, s, namesake, memory.ModeOn)
	setMode(t, s, bob, memory.ModeRead)
	setMode(t, s, namesake, memory.ModeRead)
	setMode(t, s, alice, memory.ModeOff)
	wantMode(t, s, alice, memory.ModeOff)
	wantMode(t, s, bob, memory.ModeRead)
	turnsFollowModes(t, s)
	conversationModes(t, s)

	all := []memory.UserMode{{Owner: alice, Mode: memory.ModeOff}, {Owner: bob, Mode: memory.ModeRead}}
	of := db.Extent{AppID: alice.AppID, Limit: 1}
	page, err := s.ExportUserModes(t.Context(), of, nil)
	must(t, err)
	wantSame(t, "the first page", page, all[:1])
	page, err = s.ExportUserModes(t.Context(), of, &page[0])
	must(t, err)
	wantSame(t, "the second page", page, all[1:])
	setMode(t, s, alice, memory.ModeOn)
	wantMode(t, s, alice, memory.ModeOn)
	of.UserID = alice.UserID
	page, err = s.ExportUserModes(t.Context(), of, nil)
	must(t, err)
	wantSame(t, "of a user for whom memory is on", len(page), 0)
}

// turnsFollowModes stores turns of alice, for whom memory is off. A repetition finds the turn that was stored before.
func turnsFollowModes(t *testing.T, s db.Store) {
	known := newTurn(bob, "known")
	known.ClientID, known.Memory = "said before", memory.ModeRead
	off := newTurn(alice, "off")
	off.Memory = memory.ModeOff
	for _, turn := range []memory.Turn{known, off} {
		_, fresh, err := s.AcceptTurn(t.Context(), turn, epoch, nil)
		must(t, err)
		wantSame(t, "fresh", fresh, true)
	}
	known.Memory = memory.ModeOn
	if _, fresh, err := s.AcceptTurn(t.Context(), known, epoch, nil); fresh || err != nil {
		t.Errorf("a repetition: fresh %v, %v", fresh, err)
	}
	for name, turn := range map[string]memory.Turn{
		"a turn": newTurn(alice, "on"), "a turn of a conversation": talked(alice, "talk", epoch, "on"),
	} {
		if _, _, err := s.AcceptTurn(t.Context(), turn, epoch, nil); !errors.Is(err, db.ErrMode) {
			t.Errorf("%s that is on: %v", name, err)
		}
		must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			if _, _, err := tx.AcceptTurn(ctx, turn, epoch, nil); !errors.Is(err, db.ErrMode) {
				t.Errorf("%s that is on, within a transaction: %v", name, err)
			}
			return nil
		}))
	}
	for _, after := range []int64{0, 1} {
		read, err := s.Changes(t.Context(), alice, after, epoch, 10)
		must(t, err)
		wantSame(t, "the mode among the changes", read.Mode.Mode, memory.ModeOff)
	}
}

// conversationModes sets modes of conversations of bob, for whom memory is read.
func conversationModes(t *testing.T, s db.Store) {
	ctx := t.Context()
	setModeOf(t, s, bob, "temporary", memory.ModeOff)
	setModeOf(t, s, bob, "same", memory.ModeRead)
	setModeOf(t, s, carol, "read", memory.ModeRead)
	for conversation, want := range map[string]memory.ModeSetting{
		"": {Mode: memory.ModeRead, Level: memory.LevelUser}, "same": {Mode: memory.ModeRead, Level: memory.LevelUser},
		"other":     {Mode: memory.ModeRead, Level: memory.LevelUser},
		"temporary": {Mode: memory.ModeOff, Level: memory.LevelConversation},
	} {
		set, err := s.ModeOf(ctx, bob, conversation)
		must(t, err)
		wantSame(t, "the mode of the conversation "+conversation, set, want)
	}
	refused, allowed := talked(carol, "read", epoch, "on"), talked(carol, "other", epoch, "on")
	for _, log := range []*db.LogState{nil, {}} {
		if _, _, err := s.AcceptTurn(ctx, refused, epoch, log); !errors.Is(err, db.ErrMode) {
			t.Errorf("a turn that is on, of a conversation with a mode: %v", err)
		}
	}
	_, fresh, err := s.AcceptTurn(ctx, allowed, epoch, nil)
	must(t, err)
	wantSame(t, "a turn of another conversation is fresh", fresh, true)
	refused.Memory = memory.ModeRead
	_, _, err = s.AcceptTurn(ctx, refused, epoch, nil)
	must(t, err)
	found, err := s.Conversation(ctx, carol.AppID, carol.UserID, "read")
	must(t, err)
	wantSame(t, "the mode of the conversation", found.Memory, memory.ModeRead)
	read, err := s.Changes(ctx, carol, 0, epoch, 10)
	must(t, err)
	wantSame(t, "the mode among the changes", read.Mode.Mode, memory.ModeOn)

	titled, err := s.SetTitle(ctx, carol, "read", "A title")
	must(t, err)
	wantSame(t, "the mode with a new title", titled.Memory, memory.ModeRead)
	_, err = s.DeleteConversation(ctx, carol, "read")
	must(t, err)
	set, err := s.ModeOf(ctx, carol, "read")
	must(t, err)
	wantSame(t, "the mode of a deleted conversation", set, memory.ModeSetting{})
	for _, conversation := range []string{"temporary", "same"} {
		setModeOf(t, s, bob, conversation, memory.ModeOn)
	}
}

func setMode(t *testing.T, s db.Store, owner memory.Owner, mode memory.Mode) {
	t.Helper()
	setModeOf(t, s, owner, "", mode)
}

// setModeOf sets the mode of a conversation; of the user if it is empty.
func setModeOf(t *testing.T, s db.Store, owner memory.Owner, conversation string, mode memory.Mode) {
	t.Helper()
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.SetMode(ctx, conversation, mode))
		set, err := tx.RecordedMode(ctx, conversation)
		wantSame(t, "the mode within the transaction", set.Mode, mode)
		return err
	}))
}

func wantMode(t *testing.T, s db.Store, owner memory.Owner, mode memory.Mode) {
	t.Helper()
	want := memory.ModeSetting{Mode: mode}
	if mode != memory.ModeOn {
		want.Level = memory.LevelUser
	}
	got, err := s.ModeOf(t.Context(), owner, "")
	must(t, err)
	wantSame(t, "the mode of "+owner.UserID, got, want)
}

// exerciseModes runs every query about modes.
func exerciseModes(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	setMode(t, s, owner, memory.ModeOff)
	wantMode(t, s, owner, memory.ModeOff)
	for _, userID := range []string{"", owner.UserID} {
		_, err := s.ExportUserModes(t.Context(), db.Extent{AppID: owner.AppID, UserID: userID, Limit: 5},
			&memory.UserMode{Owner: memory.Owner{UserID: "a"}, ConversationID: "c"})
		must(t, err)
	}
	setMode(t, s, owner, memory.ModeOn)
}
