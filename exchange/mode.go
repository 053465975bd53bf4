package exchange

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// modeLine is how much of memory is on for a user, or for one of the user's conversations. These lines end an export,
// so that an import has stored what was remembered before.
type modeLine struct {
	UserID         string      `json:"user_id"`
	ConversationID string      `json:"conversation_id,omitempty"`
	Mode           memory.Mode `json:"mode"`
}

func modeLineOf(m memory.UserMode) modeLine { return modeLine{m.UserID, m.ConversationID, m.Mode} }

func (l *modeLine) kind() Kind   { return MemoryModes }
func (l *modeLine) user() string { return l.UserID }

func (l *modeLine) check(f *faults) {
	f.note("memory_mode.user_id", memory.CheckID(l.UserID, false))
	f.note("memory_mode.conversation_id", memory.CheckID(l.ConversationID, true))
	oneOf(f, "memory_mode.mode", memory.Modes[1:], l.Mode)
}

// restore makes the mode at least as strict as the line says.
func (l *modeLine) restore(ctx context.Context, _ *importing, tx db.UserTx) (fresh bool, err error) {
	stored, err := tx.RecordedMode(ctx, l.ConversationID)
	if err != nil || memory.Strictest(stored, memory.ModeSetting{Mode: l.Mode}) == stored {
		return false, err
	}
	return true, tx.SetMode(ctx, l.ConversationID, l.Mode)
}

// refusalOf returns an error if nothing new was kept of a user, or of a conversation unless that is empty, when the
// import came to the user.
func (i *importing) refusalOf(ctx context.Context, owner memory.Owner, conversationID string) error {
	modes, known := i.modes[owner]
	if !known {
		modes = map[string]memory.ModeSetting{}
		of := db.Extent{AppID: owner.AppID, UserID: owner.UserID, Limit: pageRows}
		err := each(pageRows, func(last *memory.UserMode) ([]memory.UserMode, error) {
			return i.records.ExportUserModes(ctx, of, last)
		}, func(m memory.UserMode) error {
			modes[m.ConversationID] = m.Setting()
			return nil
		})
		if err != nil {
			return err
		}
		i.modes[owner] = modes
	}
	set := memory.Strictest(modes[""], modes[conversationID])
	if set.Keeps() {
		return nil
	}
	return set.Refusal(owner, conversationID)
}

// takesWhileOff reports whether an entry of a kind is imported although nothing new is kept of its user.
func takesWhileOff(kind Kind) bool { return kind == MemoryModes || kind == TimeZones }
