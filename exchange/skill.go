package exchange

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/skills"
)

// skillLine is a workflow of a skill with its outcomes. Like a turnLine, it is not the body of the API.
type skillLine struct {
	ID        string               `json:"id"`
	UserID    string               `json:"user_id"`
	AgentID   string               `json:"agent_id,omitempty"`
	Name      string               `json:"name"`
	Workflow  string               `json:"workflow"`
	Successes int                  `json:"successes"`
	Failures  int                  `json:"failures"`
	Notes     []memory.OutcomeNote `json:"notes"` // of the latest outcomes, the latest last
	MemoryID  string               `json:"memory_id,omitempty"`
	FirstAt   time.Time            `json:"first_at"`
	LastAt    time.Time            `json:"last_at"`
}

// outcomeLine is an outcome that was counted under a client's id, so that it is
// not counted again.
type outcomeLine struct {
	ID     string    `json:"id"`
	UserID string    `json:"user_id"`
	Hash   string    `json:"hash"` // of all that the client sent
	At     time.Time `json:"counted_at"`
}

func skillLineOf(w memory.Workflow) skillLine {
	return skillLine{
		ID: w.ID, UserID: w.UserID, AgentID: w.AgentID, Name: w.Skill, Workflow: w.Text,
		Successes: w.Successes, Failures: w.Failures, Notes: append([]memory.OutcomeNote{}, w.Notes...),
		MemoryID: w.MemoryID, FirstAt: w.FirstAt, LastAt: w.LastAt,
	}
}

func (l *skillLine) workflow(appID string) memory.Workflow {
	w := memory.Workflow{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, AgentID: l.AgentID,
		Skill: l.Name, Text: l.Workflow, Successes: l.Successes, Failures: l.Failures, MemoryID: l.MemoryID,
		FirstAt: memory.Instant(l.FirstAt), LastAt: memory.Instant(l.LastAt),
	}
	for _, n := range l.Notes {
		n.At = memory.Instant(n.At)
		w.Notes = append(w.Notes, n)
	}
	return w
}

func outcomeLineOf(o db.CountedOutcome) outcomeLine {
	return outcomeLine{ID: o.ID, UserID: o.UserID, Hash: o.Hash, At: o.At}
}

func (l *skillLine) kind() Kind     { return Skills }
func (l *skillLine) user() string   { return l.UserID }
func (l *outcomeLine) kind() Kind   { return Outcomes }
func (l *outcomeLine) user() string { return l.UserID }

func (l *skillLine) check(f *faults) {
	f.id("skill.id", l.ID)
	f.note("skill.user_id", memory.CheckID(l.UserID, false))
	f.note("skill.agent_id", memory.CheckID(l.AgentID, true))
	f.note("skill.name", skills.CheckName(l.Name))
	f.note("skill.workflow", memory.CheckContent(l.Workflow, memory.MaxContentRunes))
	if most := skills.MaxWorkflow(l.Name); utf8.RuneCountInString(l.Workflow) > most {
		f.note("skill.workflow", fmt.Sprintf("has more than the %d characters that the skill's name leaves", most))
	}
	inRange(f, "skill.successes", l.Successes, 0, maxNumber)
	inRange(f, "skill.failures", l.Failures, 0, maxNumber)
	if l.Successes == 0 && l.Failures == 0 {
		f.note("skill.successes", "and failures are both 0: it was never tried")
	}
	if len(l.Notes) > memory.MaxKeptNotes {
		f.note("skill.notes", fmt.Sprintf("has more than %d notes", memory.MaxKeptNotes))
	}
	for n, note := range l.Notes {
		path := fmt.Sprintf("skill.notes[%d].", n)
		f.note(path+"note", memory.CheckContent(note.Note, memory.MaxNote))
		f.time(path+"at", note.At)
	}
	f.optionalID("skill.memory_id", l.MemoryID)
	f.time("skill.first_at", l.FirstAt)
	f.time("skill.last_at", l.LastAt)
}

func (l *outcomeLine) check(f *faults) {
	f.note("outcome.id", memory.CheckID(l.ID, false))
	f.note("outcome.user_id", memory.CheckID(l.UserID, false))
	f.hash("outcome.hash", l.Hash)
	f.time("outcome.counted_at", l.At)
}

func (l *skillLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	w := l.workflow(i.appID)
	stored, found, err := tx.Workflow(ctx, w.AgentID, w.Skill, w.Text)
	if err != nil || found {
		return false, orDifference(err, "this workflow", skillLineOf(w), skillLineOf(stored))
	}
	if n, err := tx.CountWorkflows(ctx, w.Skill); err != nil || n >= memory.MaxWorkflows {
		return false, orConflict(err, "the skill has %d workflows here, and no more are allowed", n)
	}
	return true, idTaken(tx.RestoreWorkflow(ctx, w), "a workflow")
}

// restore does not compare when the outcome was counted.
func (l *outcomeLine) restore(ctx context.Context, _ *importing, tx db.UserTx) (fresh bool, err error) {
	hash, found, err := tx.Counted(ctx, l.ID)
	switch {
	case err != nil:
		return false, err
	case !found:
		return true, tx.AddCounted(ctx, l.ID, l.Hash, memory.Instant(l.At))
	case hash != l.Hash:
		err = memory.Errorf(memory.KindConflict, "another outcome was counted under this id: nothing was overwritten")
	}
	return false, err
}
