package exchange

import (
	"context"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/skills"
)

// skillLine is a workflow of a skill, with how it has done.
type skillLine struct {
	ID        string               `json:"id"`
	UserID    string               `json:"user_id"`
	AgentID   string               `json:"agent_id,omitempty"`
	Name      string               `json:"name"`
	Workflow  string               `json:"workflow"`
	Successes int                  `json:"successes"`
	Failures  int                  `json:"failures"`
	Notes     []memory.OutcomeNote `json:"notes"`               // of the latest outcomes, the latest last
	MemoryID  string               `json:"memory_id,omitempty"` // that tells it
	FirstAt   time.Time            `json:"first_at"`
	LastAt    time.Time            `json:"last_at"`
}

// outcomeLine is that an outcome was counted under a client's id, so that it
// is not counted again.
type outcomeLine struct {
	ID     string    `json:"id"`
	UserID string    `json:"user_id"`
	Hash   string    `json:"hash"` // of all that the client sent
	At     time.Time `json:"counted_at"`
}

func skillLineOf(w memory.Workflow) skillLine {
	return skillLine{
		ID: w.ID, UserID: w.UserID, AgentID: w.AgentID, Name: w.Skill, Workflow: w.Text, Successes: w.Successes, Failures: w.Failures,
		Notes: append([]memory.OutcomeNote{}, w.Notes...), MemoryID: w.MemoryID, FirstAt: w.FirstAt, LastAt: w.LastAt,
	}
}

func (l *skillLine) workflow(appID string) memory.Workflow {
	w := memory.Workflow{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, AgentID: l.AgentID, Skill: l.Name, Text: l.Workflow,
		Successes: l.Successes, Failures: l.Failures, MemoryID: l.MemoryID, FirstAt: memory.Instant(l.FirstAt), LastAt: memory.Instant(l.LastAt),
	}
	for _, n := range l.Notes {
		n.At = memory.Instant(n.At)
		w.Notes = append(w.Notes, n)
	}
	return w
}

func outcomeLineOf(o db.CountedOutcome) outcomeLine { return outcomeLine{o.ID, o.UserID, o.Hash, o.At} }

func (l *skillLine) kind() Kind   { return Skills }
func (l *outcomeLine) kind() Kind { return Outcomes }

func (l *skillLine) check(c *complaints) {
	c.id("skill.id", l.ID)
	c.note("skill.user_id", memory.CheckID(l.UserID, false))
	c.note("skill.agent_id", memory.CheckID(l.AgentID, true))
	c.note("skill.name", skills.CheckName(l.Name))
	c.note("skill.workflow", memory.CheckContent(l.Workflow, memory.MaxContentRunes))
	if most := skills.MaxWorkflow(l.Name); utf8.RuneCountInString(l.Workflow) > most {
		c.note("skill.workflow", fmt.Sprintf("has more than the %d characters that the skill's name leaves", most))
	}
	for path, n := range map[string]int{"skill.successes": l.Successes, "skill.failures": l.Failures} {
		if n < 0 || n > math.MaxInt32 {
			c.note(path, fmt.Sprintf("is not in 0 to %d", math.MaxInt32))
		}
	}
	if l.Successes == 0 && l.Failures == 0 {
		c.note("skill.successes", "and failures are both 0: it was never tried")
	}
	if len(l.Notes) > memory.MaxKeptNotes {
		c.note("skill.notes", fmt.Sprintf("has more than %d notes", memory.MaxKeptNotes))
	}
	for n, note := range l.Notes {
		c.note(fmt.Sprintf("skill.notes[%d].note", n), memory.CheckContent(note.Note, memory.MaxNote))
		c.time(fmt.Sprintf("skill.notes[%d].at", n), note.At)
	}
	if l.MemoryID != "" {
		c.id("skill.memory_id", l.MemoryID)
	}
	c.time("skill.first_at", l.FirstAt)
	c.time("skill.last_at", l.LastAt)
}

func (l *outcomeLine) check(c *complaints) {
	c.note("outcome.id", memory.CheckID(l.ID, false))
	c.note("outcome.user_id", memory.CheckID(l.UserID, false))
	c.hash("outcome.hash", l.Hash)
	c.time("outcome.counted_at", l.At)
}

func (l *skillLine) wait(ctx context.Context, i *importing, number, size int) error {
	w := l.workflow(i.appID)
	return i.waitForUser(ctx, w.UserID, number, size, Skills, func(ctx context.Context, tx db.UserTx) (bool, error) { return putWorkflow(ctx, tx, w) })
}

func (l *outcomeLine) wait(ctx context.Context, i *importing, number, size int) error {
	o := *l
	return i.waitForUser(ctx, o.UserID, number, size, Outcomes, func(ctx context.Context, tx db.UserTx) (bool, error) { return putOutcome(ctx, tx, o) })
}

// putWorkflow stores a workflow.
func putWorkflow(ctx context.Context, tx db.UserTx, w memory.Workflow) (fresh bool, err error) {
	is, ok, err := tx.Workflow(ctx, w.AgentID, w.Skill, w.Text)
	if err != nil {
		return false, err
	}
	if ok {
		return false, same("this workflow", skillLineOf(w), skillLineOf(is))
	}
	if n, err := tx.CountWorkflows(ctx, w.Skill); err != nil || n >= memory.MaxWorkflows {
		return false, orConflict(err, "the skill has %d workflows here, and no more are allowed", n)
	}
	return true, taken(tx.RestoreWorkflow(ctx, w), "a workflow")
}

// putOutcome notes that an outcome was counted. When that was is not compared.
func putOutcome(ctx context.Context, tx db.UserTx, o outcomeLine) (fresh bool, err error) {
	hash, ok, err := tx.Counted(ctx, o.ID)
	if err != nil {
		return false, err
	}
	if !ok {
		return true, tx.AddCounted(ctx, o.ID, o.Hash, memory.Instant(o.At))
	}
	if hash != o.Hash {
		err = memory.Errorf(memory.KindConflict, "another outcome was counted under this id: nothing was overwritten")
	}
	return false, err
}
