package ingest

import (
	"cmp"
	"context"
	"slices"
	"unicode"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// omit adds an omission for the message at a place of a turn, if anything of the message is left out.
func omit(
	list []memory.Omission, place int, reason memory.OmissionReason, characters int,
) []memory.Omission {
	if characters == 0 {
		return list
	}
	return append(list, memory.Omission{Message: place, Reason: reason, Characters: characters})
}

// unkept returns a turn that is to be stored. If nothing is kept from it, all its messages are left out, and without a
// conversation, whose log would have them, their words are dropped.
func unkept(turn memory.Turn) memory.Turn {
	if turn.Memory.Keeps() {
		return turn
	}
	turn.LeftOut = nil
	messages := slices.Clone(turn.Messages)
	for i, m := range messages {
		turn.LeftOut = omit(turn.LeftOut, i, memory.OmittedMemoryOff, visible(m.Content))
		if turn.ConversationID == "" {
			messages[i] = memory.Message{Role: m.Role, Kind: m.Kind}
		}
	}
	for i := range turn.LeftOut {
		turn.LeftOut[i].Level = turn.MemoryLevel
	}
	turn.Messages = messages
	if turn.ConversationID == "" {
		turn.Metadata = nil
	}
	return turn
}

// inOrder joins lists in the order of their messages.
func inOrder(lists ...[]memory.Omission) []memory.Omission {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b memory.Omission) int { return cmp.Compare(a.Message, b.Message) })
	return all
}

// withoutLost leaves out the complete messages that no search would find.
func withoutLost(messages []memory.Memory) (kept []memory.Memory, leftOut []memory.Omission) {
	for _, m := range messages {
		if isLost(m) {
			leftOut = omit(leftOut, memory.PlaceOf(m.ID), memory.OmittedRefused, visible(m.Content))
		} else {
			kept = append(kept, m)
		}
	}
	return kept, leftOut
}

// leaveOut stores what is left out of a turn, if anything is and it is not stored yet, and what the policy withholds.
func leaveOut(ctx context.Context, tx db.UserTx, turn memory.Turn) error {
	if err := storeCut(ctx, tx, turn); err != nil {
		return err
	}
	if len(turn.LeftOut) == 0 {
		return nil
	}
	return tx.LeaveOut(ctx, turn.ID, turn.LeftOut)
}

// visible is the number of characters of a text, without white space.
func visible(s string) (n int) {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}
