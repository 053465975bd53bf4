package memory

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
