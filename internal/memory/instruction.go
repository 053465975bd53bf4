package memory

import "time"

// Scope is for whom instructions are: everybody of an app, an agent, or a user.
type Scope struct {
	AppID string
	Kind  ScopeKind
	ID    string // the agent's or the user's, 1..MaxIDBytes bytes; empty for the app
}

// Owner is the user of a scope of kind UserScope.
func (s Scope) Owner() Owner { return Owner{AppID: s.AppID, UserID: s.ID} }

// ScopeKind is what a scope is of.
type ScopeKind string

// The kinds of scope, from the farthest to the nearest: of instructions with
// one name the nearest counts.
const (
	AppScope   ScopeKind = "app"
	AgentScope ScopeKind = "agent"
	UserScope  ScopeKind = "user"
)

// ScopeKinds lists every kind, the farthest first.
var ScopeKinds = []ScopeKind{AppScope, AgentScope, UserScope}

// Instruction is a named text for the model, published in versions of which at
// most one is active.
type Instruction struct {
	Scope
	Name      string // 1..MaxInstructionName characters of one line
	Latest    int    // the number of the newest version; they are counted from 1
	Active    int    // the number of the active one; 0: none is
	Before    []int  // what was active before, the latest last; at most MaxActiveBefore
	ChangedAt time.Time
}

// InstructionVersion is one text of an instruction. It never changes.
type InstructionVersion struct {
	Number      int
	Content     string // 1..MaxInstruction characters
	Note        string // why there is this version, at most MaxNote characters; may be empty
	PublishedAt time.Time
}

// ActiveInstruction is what an instruction says now.
type ActiveInstruction struct {
	Scope
	Name string
	InstructionVersion
}

// The limits of instructions.
const (
	MaxInstructionName    = 128      // characters
	MaxInstruction        = 16 << 10 // characters of a text
	MaxNote               = 1000     // characters of a note, of a version or an outcome
	MaxActiveInstructions = 100      // of a scope
	MaxActiveBefore       = 100      // activations that a roll back can return from
)

// CheckName says what is wrong with the name of an instruction or a skill: one
// line of at most so many characters.
func CheckName(s string, maxRunes int) string {
	if why := CheckContent(s, maxRunes); why != "" {
		return why
	}
	return checkText(s, true)
}
