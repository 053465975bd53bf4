package memory

import "time"

// Scope says whom instructions apply to: a whole app, an agent, or a user.
type Scope struct {
	AppID string
	Kind  ScopeKind
	ID    string // the agent's or the user's, 1..MaxIDBytes bytes; empty for the app
}

// Owner is the user of a scope of kind UserScope.
func (s Scope) Owner() Owner { return Owner{AppID: s.AppID, UserID: s.ID} }

// ScopeKind is the kind of a scope.
type ScopeKind string

// The kinds of scope, from the widest to the narrowest. If several
// instructions have the same name, the narrowest one applies.
const (
	AppScope   ScopeKind = "app"
	AgentScope ScopeKind = "agent"
	UserScope  ScopeKind = "user"
)

// ScopeKinds lists every kind, the widest first.
var ScopeKinds = []ScopeKind{AppScope, AgentScope, UserScope}

// Instruction is a named text for the model, published in versions. At most one
// version is active.
type Instruction struct {
	Scope
	Name             string // 1..MaxInstructionName characters of one line
	Latest           int    // number of the newest version, from 1
	Active           int    // number of the active version; 0: no version is active
	PreviouslyActive []int  // numbers of earlier active versions, the latest last; at most MaxPreviouslyActive
	ChangedAt        time.Time
}

// InstructionVersion is one text of an instruction. It never changes.
type InstructionVersion struct {
	Number      int
	Content     string // 1..MaxInstruction characters
	Note        string // why this version was published, at most MaxNote characters; may be empty
	PublishedAt time.Time
}

// ActiveInstruction is the active version of an instruction.
type ActiveInstruction struct {
	Scope
	Name string
	InstructionVersion
}

// The limits of instructions.
const (
	MaxInstructionName    = 128      // characters
	MaxInstruction        = 16 << 10 // characters of a text
	MaxNote               = 1000     // characters of a note on a version or an outcome
	MaxActiveInstructions = 100      // in a scope
	MaxPreviouslyActive   = 100      // activations that can be rolled back
)

// CheckName says what is wrong with the name of an instruction or a skill, which
// is one line of at most maxRunes characters.
func CheckName(s string, maxRunes int) string {
	if why := CheckContent(s, maxRunes); why != "" {
		return why
	}
	return checkText(s, true)
}
