package memory

import (
	"net/url"
	"slices"
)

// Mode says how much of memory is on, for a turn and for all that it belongs to. The zero Mode is On.
type Mode string

// The modes.
const (
	ModeOn   Mode = ""     // memories are recalled, and made of what is said
	ModeRead Mode = "read" // memories are recalled, and nothing new is kept
	ModeOff  Mode = "off"  // no memory is recalled, and nothing new is kept
)

// Modes lists every mode, the least strict first.
var Modes = []Mode{ModeOn, ModeRead, ModeOff}

// nameOfOn is how texts name ModeOn.
const nameOfOn = "on"

// ModeNamed returns the mode with a name: on, read or off. Without a name it returns ModeOn.
func ModeNamed(name string) Mode {
	if name == nameOfOn {
		return ModeOn
	}
	return Mode(name)
}

// String returns the name of the mode.
func (m Mode) String() string {
	if m == ModeOn {
		return nameOfOn
	}
	return string(m)
}

// Keeps reports whether memories are made.
func (m Mode) Keeps() bool { return m == ModeOn }

// Recalls reports whether memories are recalled.
func (m Mode) Recalls() bool { return m != ModeOff }

// Level is what a mode is set for.
type Level string

// The levels.
const (
	LevelTurn Level = "turn"
	LevelUser Level = "user"
)

// Levels lists every level.
var Levels = []Level{LevelTurn, LevelUser}

// ModeSetting is a mode with the level that it is set for. The zero ModeSetting is On.
type ModeSetting struct {
	Mode
	Level Level
}

// ModeOfUser is a mode that is set for a user.
func ModeOfUser(mode Mode) ModeSetting {
	if mode == ModeOn {
		return ModeSetting{}
	}
	return ModeSetting{Mode: mode, Level: LevelUser}
}

// Strictest returns the strictest of settings, and the first of several that are equally strict.
func Strictest(settings ...ModeSetting) (strictest ModeSetting) {
	for _, s := range settings {
		if slices.Index(Modes, s.Mode) > slices.Index(Modes, strictest.Mode) {
			strictest = s
		}
	}
	return strictest
}

// Refusal is why a request about a user is refused because of the mode of the user, and how the mode can be changed.
func (s ModeSetting) Refusal(owner Owner) error {
	return Errorf(KindConflict, "the setting memory of the user is %q, so that this was not done: PUT /v1/users/%s with "+
		"{\"memory\": \"on\"} changes it", s.Mode, url.PathEscape(owner.UserID))
}

// UserMode is the mode of a user.
type UserMode struct {
	Owner
	Mode Mode
}
