package memory

import (
	"fmt"
	"slices"
	"time"
)

// UserZone holds the known data of a user's time zone.
type UserZone struct {
	Owner
	Chosen string // an IANA name, such as Asia/Shanghai; empty: no zone was chosen
	Offset string // of the time of the user's last turn that had an offset, such as +08:00; empty: no turn had one
}

// Location returns the chosen zone, else one with the offset; nil if neither is known.
func (z UserZone) Location() *time.Location {
	if z.Chosen != "" {
		if zone, err := time.LoadLocation(z.Chosen); err == nil {
			return zone
		}
	}
	return offsetZone(z.Offset)
}

// offsetZone returns the zone of an offset, with the offset as its name; nil for another text.
func offsetZone(offset string) *time.Location {
	t, err := time.Parse("-07:00", offset)
	if err != nil {
		return nil
	}
	_, seconds := t.Zone()
	return time.FixedZone(offset, seconds)
}

// OffsetOf returns the offset of an RFC 3339 time from UTC, such as +08:00; "" for an offset of 0 or another text.
func OffsetOf(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	if _, seconds := t.Zone(); seconds == 0 {
		return ""
	}
	return t.Format("-07:00")
}

// In returns copies of memories whose CreatedAt is in a zone, for prompts that state days.
func In(zone *time.Location, memories ...Memory) []Memory {
	copies := slices.Clone(memories)
	for i := range copies {
		copies[i].CreatedAt = copies[i].CreatedAt.In(zone)
	}
	return copies
}

// maxZoneName is the greatest number of bytes of the name of a zone.
const maxZoneName = 64

// CheckZone returns what is wrong with the name of a time zone, or "".
func CheckZone(name string) string {
	_, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" || len(name) > maxZoneName {
		return "is not the name of a time zone, such as Europe/Berlin or Asia/Shanghai"
	}
	return ""
}

// CheckOffset returns what is wrong with an offset from UTC, or "".
func CheckOffset(offset string) string {
	if offsetZone(offset) == nil {
		return fmt.Sprintf("%q is not an offset such as +08:00", offset)
	}
	return ""
}
