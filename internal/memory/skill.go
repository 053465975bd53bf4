package memory

import (
	"math"
	"slices"
	"strings"
	"time"
)

// TypeSkill is the type of a memory that tells how something is done.
const TypeSkill Type = "skill"

// skillTag begins the tag that names the skill of a workflow's memory.
const skillTag = "skill:"

// SkillTag is the tag of the memories of a skill's workflows.
func SkillTag(name string) string { return skillTag + name }

// SkillOf is the first skill that tags name; "": none does.
func SkillOf(tags []string) string {
	i := slices.IndexFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, skillTag) })
	if i < 0 {
		return ""
	}
	return tags[i][len(skillTag):]
}

// Workflow is one way to do what a skill is for, and how it went.
type Workflow struct {
	ID string // UUIDv7
	Owner
	AgentID   string // whose it is alone; empty: all of the user's agents have it
	Skill     string // 1..MaxSkillName characters of one line
	Text      string // with the skill's name, ": " between, at most MaxContentRunes characters
	Successes int
	Failures  int
	Notes     []OutcomeNote // of the latest outcomes that had one, the latest last; at most MaxKeptNotes
	MemoryID  string        // the memory that tells it; empty: it has never worked
	FirstAt   time.Time     // of the outcome that was told first
	LastAt    time.Time     // of the latest one
}

// Content is what the memory of the workflow says.
func (w *Workflow) Content() string { return w.Skill + ": " + w.Text }

// Importance is the expected rate of success, 0..1 to four decimals, by
// Laplace's rule of succession: (successes + 1) / (outcomes + 2).
func (w *Workflow) Importance() float64 {
	return math.Round(float64(w.Successes+1)/float64(w.Successes+w.Failures+2)*1e4) / 1e4
}

// OutcomeNote is what was noted of an outcome.
type OutcomeNote struct {
	At      time.Time `json:"at"`
	Success bool      `json:"success"`
	Note    string    `json:"note"` // 1..MaxNote characters
}

// Skill sums up the workflows of one name.
type Skill struct {
	Name                string
	Workflows           int
	Successes, Failures int
	LastAt              time.Time
}

// The limits of skills.
const (
	MaxSkillName = MaxTagRunes - len(skillTag) // characters
	MaxWorkflows = 100                         // of a user's skill
	MaxKeptNotes = 5                           // of a workflow
)
