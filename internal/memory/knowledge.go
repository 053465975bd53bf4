package memory

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
)

// Fact is one piece of evidence on a timeline, with its outcome. Each user,
// type and key has one timeline. At most one fact of a timeline is valid at any
// instant: an accepted one, from ValidFrom (included) until ValidUntil (excluded).
type Fact struct {
	ID string // UUIDv7
	Owner
	Type, Key  string          // 1..MaxFactName characters, as normalised by knowledge/facts
	Value      json.RawMessage // at most MaxFactValue bytes; nil: no value is valid (FactEnded)
	Confidence float64         // 0..1; the highest of all evidence for this value
	ValidFrom  time.Time       // UTC, microseconds
	ValidUntil time.Time       // zero: until another fact is valid
	Source     string          // origin of the evidence, at most MaxFactSource characters; may be empty
	State      FactState
	Reason     string // for people: why this state
	RecordedAt time.Time

	MemoryID   string    // the memory that states or stated the fact; empty: no memory does
	EndsMemory bool      // the memory must end when the fact is no longer valid
	Due        time.Time // when its memory must be created or ended; zero: no change is due
}

// The limits of a fact.
const (
	MaxFactName   = 128     // characters of a type and of a key
	MaxFactValue  = 4 << 10 // bytes of JSON
	MaxFactSource = 256     // characters
)

// Valid reports whether the fact is valid at an instant.
func (f *Fact) Valid(at time.Time) bool {
	return f.State == FactAccepted && !at.Before(f.ValidFrom) && (f.ValidUntil.IsZero() || at.Before(f.ValidUntil))
}

// FactState is the outcome of a piece of evidence.
type FactState string

// The states of a fact. Accepted and ended ones make the timeline.
const (
	FactAccepted  FactState = "accepted"  // valid from ValidFrom until ValidUntil
	FactConfirmed FactState = "confirmed" // has the same value as another fact
	FactReplaced  FactState = "replaced"  // was accepted, but other facts now cover its whole interval
	FactRefused   FactState = "refused"   // weighed less than the valid fact
	FactEnded     FactState = "ended"     // the valid fact ended at ValidFrom without a successor
)

// FactStates lists every state.
var FactStates = []FactState{FactAccepted, FactConfirmed, FactReplaced, FactRefused, FactEnded}

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

// InstructionVersion is one text of an instruction. It never changes, except that lines leave it whose grounds are
// forgotten.
type InstructionVersion struct {
	Number        int
	Content       string // 1..MaxInstruction characters
	Note          string // why this version was published, at most MaxNote characters; may be empty
	PublishedAt   time.Time
	Grounds       []Ground // of lines that were drawn from what the user has said and reported; nil: there are none
	Before, After Outcomes // of the skill, before its publication and while it was active
}

// Ground names the memories that a line of an instruction was drawn from.
type Ground struct {
	Line     string   `json:"line"`
	Memories []string `json:"memories"` // ids; empty: it was drawn from outcomes alone
}

// Outcomes counts outcomes of workflows.
type Outcomes struct{ Successes, Failures int }

// The names of instructions that evolve by themselves.
const (
	RequestsInstruction = "requests" // what the user has asked for more than once
	skillInstruction    = "skill: "
)

// SkillInstruction is the name of the instruction that evolves by the outcomes of a skill.
func SkillInstruction(skill string) string { return skillInstruction + skill }

// InstructedSkill returns the skill of an instruction; "" if its name is no SkillInstruction.
func InstructedSkill(name string) string {
	skill, ok := strings.CutPrefix(name, skillInstruction)
	if !ok {
		return ""
	}
	return skill
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

// TypeSkill is the type of a memory that describes a workflow.
const TypeSkill Type = "skill"

// skillTag is the prefix of the tag that names the skill of a workflow's memory.
const skillTag = "skill:"

// SkillTag is the tag that the memories of a skill's workflows have.
func SkillTag(name string) string { return skillTag + name }

// SkillOf returns the first skill that the tags name; "" if no tag does.
func SkillOf(tags []string) string {
	i := slices.IndexFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, skillTag) })
	if i < 0 {
		return ""
	}
	return tags[i][len(skillTag):]
}

// Workflow is one way to perform a skill, with its outcomes.
type Workflow struct {
	ID string // UUIDv7
	Owner
	AgentID   string // the agent that alone has it; empty: all of the user's agents do
	Skill     string // 1..MaxSkillName characters of one line
	Text      string // Content() has at most MaxContentRunes characters
	Successes int
	Failures  int
	Notes     []OutcomeNote // the latest notes, the latest last; at most MaxKeptNotes
	MemoryID  string        // the memory that describes it; empty: it has never succeeded
	FirstAt   time.Time     // time of the outcome that was reported first
	LastAt    time.Time     // time of the latest outcome
}

// Content is the content of the workflow's memory.
func (w *Workflow) Content() string { return w.Skill + ": " + w.Text }

// Importance is the expected rate of success, 0..1, rounded to four decimals, by
// Laplace's rule of succession: (successes + 1) / (outcomes + 2).
func (w *Workflow) Importance() float64 {
	return math.Round(float64(w.Successes+1)/float64(w.Successes+w.Failures+2)*1e4) / 1e4
}

// OutcomeNote is a note on an outcome.
type OutcomeNote struct {
	At      time.Time `json:"at"`
	Success bool      `json:"success"`
	Note    string    `json:"note"` // 1..MaxNote characters
}

// Skill aggregates the workflows of one name.
type Skill struct {
	Name                string
	Workflows           int
	Successes, Failures int
	LastAt              time.Time
}

// The limits of skills.
const (
	MaxSkillName = MaxTagRunes - len(skillTag) // characters
	MaxWorkflows = 100                         // for each skill of a user
	MaxKeptNotes = 5                           // for each workflow
	// Characters of a reported workflow: a memory holds it with the longest name of a skill and ": ".
	MaxWorkflow = MaxContentRunes - MaxSkillName - 2
)
