package memory

import (
	"math"
	"slices"
	"strings"
	"time"
)

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
)
