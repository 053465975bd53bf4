package exchange

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// modeLine is how much of memory is on for a user. These lines end an export, so that an import has stored what was
// remembered before.
type modeLine struct {
	UserID string      `json:"user_id"`
	Mode   memory.Mode `json:"mode"`
}

func modeLineOf(m memory.UserMode) modeLine { return modeLine{m.UserID, m.Mode} }

func (l *modeLine) kind() Kind   { return MemoryModes }
func (l *modeLine) user() string { return l.UserID }

func (l *modeLine) check(f *faults) {
	f.note("memory_mode.user_id", memory.CheckID(l.UserID, false))
	oneOf(f, "memory_mode.mode", memory.Modes[1:], l.Mode)
}

// restore makes the mode at least as strict as the line says.
func (l *modeLine) restore(ctx context.Context, _ *importing, tx db.UserTx) (fresh bool, err error) {
	stored, err := tx.RecordedMode(ctx)
	if err != nil || memory.Strictest(stored, memory.ModeSetting{Mode: l.Mode}) == stored {
		return false, err
	}
	return true, tx.SetMode(ctx, l.Mode)
}

// refusalOf returns an error if nothing new was kept of a user when the import came to the user.
func (i *importing) refusalOf(ctx context.Context, owner memory.Owner) error {
	set, known := i.modes[owner]
	if !known {
		var err error
		if set, err = i.records.ModeOf(ctx, owner); err != nil {
			return err
		}
		i.modes[owner] = set
	}
	if set.Keeps() {
		return nil
	}
	return set.Refusal(owner)
}

// takesWhileOff reports whether an entry of a kind is imported although nothing new is kept of its user.
func takesWhileOff(kind Kind) bool { return kind == MemoryModes || kind == TimeZones }
