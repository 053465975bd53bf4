package skills

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// change is the work of one transaction on a workflow's memory.
type change struct {
	*history.Recorder
	s   *Service
	tx  db.UserTx
	now time.Time
}

// origin is the detail of the events of a workflow's memory.
type origin struct {
	*history.Change
	Workflow string `json:"workflow"` // its id
}

// updateMemory updates the memory of a workflow, or creates and returns it.
func (c *change) updateMemory(ctx context.Context, w *memory.Workflow, o Outcome, at time.Time, vector []float32,
	model string) ([]memory.Memory, error) {
	if w.MemoryID != "" {
		found, err := c.tx.Memories(ctx, []string{w.MemoryID})
		if err != nil {
			return nil, err
		}
		if len(found) == 1 && found[0].Status == memory.Active {
			return nil, c.weigh(ctx, w, found[0], at)
		}
	}
	switch {
	case !o.Success:
		return nil, nil
	case vector == nil:
		return nil, errNotEmbedded
	}
	m := c.draft(w, at, vector, model)
	w.MemoryID = m.ID
	c.Note(m.ID, memory.EventCreated, origin{Workflow: w.ID})
	return []memory.Memory{m}, c.tx.Insert(ctx, []memory.Memory{m}, c.s.Pusher.ClaimedUntil())
}

// weigh sets the importance of a memory by its workflow's outcomes. An outcome
// counts as an access, so that the memory does not fade.
func (c *change) weigh(ctx context.Context, w *memory.Workflow, m memory.Memory, at time.Time) error {
	before := m
	m.Importance = w.Importance()
	if at.After(m.LastAccessedAt) {
		m.LastAccessedAt = at
	}
	if diff := history.Diff(before, m); diff != nil {
		c.Note(m.ID, memory.EventUpdated, origin{diff, w.ID})
	}
	return c.Update(ctx, before, &m)
}

// draft is the memory of a workflow. All workflows of a skill have one domain, so
// that a query finds them all.
func (c *change) draft(w *memory.Workflow, at time.Time, vector []float32, model string) memory.Memory {
	content := w.Content()
	metadata, _ := json.Marshal(map[string]any{"skill": map[string]string{"name": w.Skill,
		"workflow": w.ID}}) // strings only: cannot fail
	m := memory.Memory{
		ID: memory.NewID(), Owner: w.Owner, AgentID: w.AgentID, Content: content, Type: memory.TypeSkill,
		Domain: c.s.Guess(w.Skill),
		Tags:   []string{memory.SkillTag(w.Skill)}, Importance: w.Importance(), Metadata: metadata, Status: memory.Active,
		CreatedAt: at, UpdatedAt: c.now, LastAccessedAt: at, Lexemes: text.Join(text.Lexemes(content)),
		Revision: 1,
	}
	m.Embed(vector, model)
	return m
}
