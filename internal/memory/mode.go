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
	LevelTurn         Level = "turn"
	LevelKey          Level = "key"
	LevelConversation Level = "conversation"
	LevelUser         Level = "user"
)

// Levels lists every level.
var Levels = []Level{LevelTurn, LevelKey, LevelConversation, LevelUser}

// ModeSetting is a mode with the level that it is set for. The zero ModeSetting is On.
type ModeSetting struct {
	Mode
	Level Level
}

// ModeAt is a mode that is set for a level.
func ModeAt(level Level, mode Mode) ModeSetting {
	if mode == ModeOn {
		return ModeSetting{}
	}
	return ModeSetting{Mode: mode, Level: level}
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

// Refusal is why a request about a user, and about a conversation unless that is empty, is refused because of a mode,
// and how the mode can be changed. KindForbidden: it is the mode of the key, which nothing changes; else KindConflict.
func (s ModeSetting) Refusal(owner Owner, conversationID string) error {
	if s.Level == LevelKey {
		return Errorf(KindForbidden, "memory is %q for the key that was sent, so that this was not done: use a key that was "+
			"made without it", s.Mode)
	}
	path := "/v1/users/" + url.PathEscape(owner.UserID)
	if s.Level == LevelConversation {
		path = "/v1/conversations/" + url.PathEscape(conversationID) + "?user_id=" + url.QueryEscape(owner.UserID)
	}
	return Errorf(KindConflict, "the setting memory of the %s is %q, so that this was not done: PUT %s with "+
		"{\"memory\": \"on\"} changes it", s.Level, s.Mode, path)
}

// UserMode is the mode of a user or, with the id of a conversation, of that.
type UserMode struct {
	Owner
	ConversationID string // empty: of the user
	Mode           Mode
}

// Setting is the mode with its level.
func (m UserMode) Setting() ModeSetting {
	if m.ConversationID == "" {
		return ModeAt(LevelUser, m.Mode)
	}
	return ModeAt(LevelConversation, m.Mode)
}
