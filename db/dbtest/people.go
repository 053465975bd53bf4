package dbtest

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// people take part in a conversation by their names, each with a copy of its turns.
func people(t *testing.T, s db.Store) {
	ctx := t.Context()
	ana, ben := memory.Owner{AppID: "a", UserID: "ana"}, memory.Owner{AppID: "a", UserID: "ben"}
	other := memory.Owner{AppID: "b", UserID: "ana"}
	shared := func(owner memory.Owner, of, name string) memory.Turn {
		turn := newTurn(owner, "")
		turn.ConversationID = "group"
		turn.Shared = memory.Share{Turn: of, Name: name}
		if of == "" {
			turn.Shared.Turn = turn.ID
		}
		turn.Messages = []memory.Message{
			{Role: memory.RoleUser, Name: "Cleo", Content: "Hello."}, {Role: memory.RoleUser, Content: "I like tea."},
		}
		accepted(t, s, turn)
		stored, err := s.Turn(ctx, owner.AppID, turn.ID)
		must(t, err)
		wantSame(t, "the share of a turn", stored.Shared, turn.Shared)
		return stored
	}
	first := shared(ben, "", "Ben")
	copied := shared(ana, first.ID, "Ana")
	shared(ana, memory.NewID(), "Annie")
	foreign := shared(other, first.ID, "Ana")
	alone := newTurn(ana, "")
	alone.ConversationID = "group"
	accepted(t, s, alone)

	in := func(o memory.Owner, name string) memory.Participant {
		return memory.Participant{Owner: o, ConversationID: "group", Name: name}
	}
	list := func(app string, after memory.Participant, limit int) []memory.Participant {
		found, err := s.Participants(ctx, app, "group", after, limit)
		must(t, err)
		return found
	}
	all := []memory.Participant{in(ana, "Ana"), in(ana, "Annie"), in(ben, "Ben")}
	wantSame(t, "who takes part", list("a", memory.Participant{}, 9), all)
	wantSame(t, "who takes part after one", list("a", all[0], 1), all[1:2])
	wantSame(t, "who takes part in another app", list("b", memory.Participant{}, 9),
		[]memory.Participant{in(other, "Ana")})
	names, err := s.Participations(ctx, ana)
	must(t, err)
	wantSame(t, "the names of a user", names, all[:2])
	copies, err := s.SharedTurns(ctx, "a", first.ID)
	must(t, err)
	wantSame(t, "the copies of a turn", copies, []memory.Turn{copied, first})
	none, err := s.SharedTurns(ctx, "a", "no id")
	must(t, err)
	wantSame(t, "the copies of no turn", len(none), 0)
	among, err := s.SharedAmong(ctx, ana, []string{copied.ID, alone.ID, first.ID, foreign.ID})
	must(t, err)
	wantSame(t, "the copies among turns", among, []string{copied.ID})

	found := []memory.Candidate{newCandidate(copied.ID), newCandidate(copied.ID)}
	messages := []memory.Message{{Role: memory.RoleUser, Content: "[removed]"}, copied.Messages[1]}
	must(t, s.InUser(ctx, ana, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.AddCandidates(ctx, found))
		must(t, tx.RedactTurn(ctx, copied.ID, messages, []string{found[0].ID}))
		must(t, tx.RedactTurn(ctx, alone.ID, messages, nil)) // the turn of one user
		return tx.RedactTurn(ctx, first.ID, messages, nil)   // another user's
	}))
	left, err := s.TurnCandidates(ctx, "a", copied.ID)
	must(t, err)
	wantSame(t, "the candidates that are left", len(left), 1)
	for turn, want := range map[string][]memory.Message{
		copied.ID: messages, alone.ID: alone.Messages, first.ID: first.Messages,
	} {
		stored, err := s.Turn(ctx, "a", turn)
		must(t, err)
		wantSame(t, "the messages after words were removed", stored.Messages, want)
	}
	_, err = s.DeleteConversation(ctx, ana, "group")
	must(t, err)
	wantSame(t, "who takes part after one has deleted the conversation", list("a", memory.Participant{}, 9), all)
}

func exercisePeople(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	ctx := t.Context()
	turn := newTurn(owner, "")
	turn.ConversationID, turn.Shared = "people", memory.Share{Turn: turn.ID, Name: "Ana"}
	accepted(t, s, turn)
	_, err := s.Participants(ctx, owner.AppID, "people", memory.Participant{}, 20)
	must(t, err)
	_, err = s.Participations(ctx, owner)
	must(t, err)
	_, err = s.SharedTurns(ctx, owner.AppID, turn.ID)
	must(t, err)
	_, err = s.SharedAmong(ctx, owner, []string{turn.ID})
	must(t, err)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.RedactTurn(ctx, turn.ID, turn.Messages, []string{memory.NewID()})
	}))
}
