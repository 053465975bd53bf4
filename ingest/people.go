package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"hippocampus/internal/memory"
)

// unkeptWords stand in the copies of others for what a participant says while memory is not on for that participant.
const unkeptWords = "[memory off]"

// Copy is what one participant of a turn has got of it.
type Copy struct {
	Name  string
	Turn  memory.Turn
	Fresh bool // this request has stored it
}

// ownCopy returns the copy of a turn in which several people take part for its user: the user's messages have no name,
// and the words of others for whom memory is not on are gone.
func (s *Service) ownCopy(ctx context.Context, turn memory.Turn) (memory.Turn, error) {
	turn.Shared = memory.Share{Turn: cmp.Or(turn.Shared.Turn, turn.ID), Name: turn.People.NameOf(turn.UserID)}
	turn.Messages = slices.Clone(turn.Messages)
	keeps := map[string]bool{}
	for i := range turn.Messages {
		m := &turn.Messages[i]
		userID, isKnown := turn.People[m.Name]
		switch {
		case m.Role != memory.RoleUser || !isKnown:
			continue
		case userID == turn.UserID:
			m.Name = ""
			continue
		}
		if _, isRead := keeps[userID]; !isRead {
			mode, err := s.Records.ModeOf(ctx, memory.Owner{AppID: turn.AppID, UserID: userID}, turn.ConversationID)
			if err != nil {
				return turn, err
			}
			keeps[userID] = mode.Keeps()
		}
		if !keeps[userID] {
			*m = memory.Message{ID: m.ID, Role: m.Role, Name: m.Name, At: m.At, Kind: m.Kind, Content: unkeptWords}
		}
	}
	return turn, nil
}

// Share gives the other participants of a turn their copies. given is the copy of its user, which Accept has returned.
// A copy takes the place of the participant's copy of the turn that the turn Replaces; a participant who has no copy of
// the new turn loses that of the former one. Share again changes nothing. The copies are in the order of the names.
func (s *Service) Share(
	ctx context.Context, given memory.Turn, fresh bool, turn memory.Turn,
) (copies []Copy, err error) {
	former := map[string]string{} // ids of copies of the turn that is replaced, by their users
	if turn.Replaces != "" {
		old, err := s.Records.Turn(ctx, turn.AppID, turn.Replaces)
		if err != nil && !memory.IsKind(err, memory.KindNotFound) {
			return nil, err
		}
		of, err := s.others(ctx, old)
		if err != nil {
			return nil, err
		}
		for _, t := range of {
			former[t.UserID] = t.ID
		}
	}
	for _, name := range slices.Sorted(maps.Keys(turn.People)) {
		userID := turn.People[name]
		if userID == turn.UserID {
			copies = append(copies, Copy{Name: name, Turn: given, Fresh: fresh})
			continue
		}
		of := turn
		of.ID, of.Offset = "", ""
		of.UserID, of.ClientID = userID, copyID(turn.ClientID, userID)
		of.Shared.Turn, of.Replaces = given.ID, former[userID]
		delete(former, userID)
		c := Copy{Name: name}
		if c.Turn, c.Fresh, err = s.Accept(ctx, of); err != nil {
			return nil, err
		}
		copies = append(copies, c)
	}
	for _, id := range former {
		if _, err := s.Withdraw(ctx, turn.AppID, id); err != nil && !memory.IsKind(err, memory.KindNotFound) {
			return nil, err
		}
	}
	return copies, nil
}

// copyID is the client id of a participant's copy; empty if the turn has no client id.
func copyID(clientID, userID string) string {
	if clientID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(clientID + "\x00" + userID))
	return "copy:" + hex.EncodeToString(sum[:])
}

// others returns the copies that others have of a turn which was given for its user.
func (s *Service) others(ctx context.Context, turn memory.Turn) ([]memory.Turn, error) {
	if !turn.Shared.Is() || turn.Shared.Turn != turn.ID {
		return nil, nil
	}
	copies, err := s.Records.SharedTurns(ctx, turn.AppID, turn.ID)
	return slices.DeleteFunc(copies, func(t memory.Turn) bool { return t.ID == turn.ID }), err
}

// WithdrawShared is Withdraw. If the turn was given for its user, and others have copies, it takes these back too.
func (s *Service) WithdrawShared(ctx context.Context, appID, ref string) (done Withdrawn, err error) {
	if done, err = s.Withdraw(ctx, appID, ref); err != nil {
		return done, err
	}
	copies, err := s.others(ctx, done.Turn)
	for _, t := range copies {
		more, withdrawErr := s.Withdraw(ctx, appID, t.ID)
		if memory.IsKind(withdrawErr, memory.KindNotFound) { // the participant was erased
			continue
		}
		err = errors.Join(err, withdrawErr)
		more.Turn = done.Turn
		done.add(more)
	}
	return done, err
}
