package exchange

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// zoneLine is what is known of the time zone of a user.
type zoneLine struct {
	UserID string `json:"user_id"`
	Chosen string `json:"chosen,omitempty"`
	Offset string `json:"last_offset,omitempty"`
}

func zoneLineOf(z memory.UserZone) zoneLine {
	return zoneLine{UserID: z.UserID, Chosen: z.Chosen, Offset: z.Offset}
}

func (l *zoneLine) zone(appID string) memory.UserZone {
	return memory.UserZone{
		Owner: memory.Owner{AppID: appID, UserID: l.UserID}, Chosen: l.Chosen, Offset: l.Offset,
	}
}

func (l *zoneLine) kind() Kind   { return TimeZones }
func (l *zoneLine) user() string { return l.UserID }

func (l *zoneLine) check(f *faults) {
	f.note("time_zone.user_id", memory.CheckID(l.UserID, false))
	if l.Chosen != "" {
		f.note("time_zone.chosen", memory.CheckZone(l.Chosen))
	}
	if l.Offset != "" {
		f.note("time_zone.last_offset", memory.CheckOffset(l.Offset))
	}
}

// restore adds what is not known of the zone yet. An offset that is known stays, since it is of a turn that was
// reported here.
func (l *zoneLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	z := l.zone(i.appID)
	stored, err := tx.RecordedUserZone(ctx)
	if err != nil {
		return false, err
	}
	if z.Chosen != "" && stored.Chosen != "" && z.Chosen != stored.Chosen {
		return false, memory.Errorf(memory.KindConflict,
			"the user has another time zone here, %s: nothing was overwritten", stored.Chosen)
	}
	next := stored
	if next.Chosen == "" {
		next.Chosen = z.Chosen
	}
	if next.Offset == "" {
		next.Offset = z.Offset
	}
	if next == stored {
		return false, nil
	}
	return true, tx.SetUserZone(ctx, next)
}

// noteZone keeps the zone that a line states, for the days of the user's messages.
func (i *importing) noteZone(e entry) {
	if l, ok := e.(*zoneLine); ok {
		if zone := l.zone(i.appID).Location(); zone != nil {
			i.zones[l.UserID] = zone
		}
	}
}

// zoneOf returns the zone that the export states of a user; UTC if it states no zone.
func (i *importing) zoneOf(userID string) *time.Location {
	if zone := i.zones[userID]; zone != nil {
		return zone
	}
	return time.UTC
}
