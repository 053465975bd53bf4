package api

import (
	"context"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/skills"
)

// SkillKeeper counts how workflows turn out; package skills implements it.
type SkillKeeper interface {
	// Record counts an outcome. KindInvalid: its fields are wrong. KindConflict:
	// its id was that of another, or the skill has too many workflows.
	Record(ctx context.Context, owner memory.Owner, o skills.Outcome, cause string) (skills.Result, error)
}

// SkillReader reads skills; db.Skills has it.
type SkillReader interface {
	ListSkills(ctx context.Context, f db.SkillFilter) ([]memory.Skill, error)
	Workflows(ctx context.Context, f db.SkillFilter, skill string) ([]memory.Workflow, error)
}

type workflowBody struct {
	ID         string               `json:"id"`
	AgentID    string               `json:"agent_id,omitempty"`
	Workflow   string               `json:"workflow"`
	Successes  int                  `json:"successes"`
	Failures   int                  `json:"failures"`
	Importance float64              `json:"importance"`
	Notes      []memory.OutcomeNote `json:"notes"` // the latest first
	MemoryID   string               `json:"memory_id,omitempty"`
	LastAt     time.Time            `json:"last_at"`
}

func workflowOf(w memory.Workflow) workflowBody {
	body := workflowBody{w.ID, w.AgentID, w.Text, w.Successes, w.Failures, w.Importance(), []memory.OutcomeNote{}, w.MemoryID, w.LastAt}
	for i := range w.Notes {
		body.Notes = append(body.Notes, w.Notes[len(w.Notes)-1-i])
	}
	return body
}

type skillBody struct {
	Name      string    `json:"name"`
	Workflows int       `json:"workflows"`
	Successes int       `json:"successes"`
	Failures  int       `json:"failures"`
	LastAt    time.Time `json:"last_at"`
}

func (s *Server) postOutcome(ctx context.Context, r *request) error {
	body, err := decode[struct {
		UserID   string `json:"user_id"`
		AgentID  string `json:"agent_id"`
		Success  bool   `json:"success"`
		Workflow string `json:"workflow"`
		Note     string `json:"note"`
		At       string `json:"at"`
		ID       string `json:"id"`
	}](r)
	if err != nil {
		return err
	}
	var c checks
	owner := c.owner("user_id", r.key, body.UserID)
	outcome := skills.Outcome{
		ID: body.ID, AgentID: body.AgentID, Skill: r.param("name"), Workflow: body.Workflow,
		Success: body.Success, Note: body.Note, At: c.time("at", body.At),
	}
	c.note("path.name", skills.CheckName(outcome.Skill))
	c.fields = append(c.fields, skills.Check(outcome)...)
	if err := c.err(); err != nil {
		return err
	}
	result, err := s.Skills.Record(ctx, owner, outcome, "api")
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, struct {
		Skill    string       `json:"skill"`
		Workflow workflowBody `json:"workflow"`
		Counted  bool         `json:"counted"`
	}{outcome.Skill, workflowOf(result.Workflow), result.Counted})
}

// skillFilter reads whose skills a request asks for.
func (c *checks) skillFilter(r *request) db.SkillFilter {
	agentID := r.query.Get("agent_id")
	c.note("query.agent_id", memory.CheckID(agentID, true))
	return db.SkillFilter{Owner: c.owner("query.user_id", r.key, r.query.Get("user_id")), AgentID: agentID}
}

func (s *Server) listSkills(ctx context.Context, r *request) error {
	var c checks
	page := c.pageOf(r, func(name string) bool { return skills.CheckName(name) == "" })
	filter := c.skillFilter(r)
	filter.After, filter.Limit = page.name(), page.limit
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.SkillReader.ListSkills(ctx, filter)
	if err != nil {
		return err
	}
	answer := struct {
		Skills []skillBody `json:"skills"`
		Next   string      `json:"next_cursor,omitempty"`
	}{Skills: []skillBody{}}
	for _, k := range found {
		answer.Skills = append(answer.Skills, skillBody(k))
	}
	answer.Next = page.next(len(found), func() db.Position { return byName(found[len(found)-1].Name) })
	return r.JSON(http.StatusOK, answer)
}

func (s *Server) getSkill(ctx context.Context, r *request) error {
	var c checks
	name := r.param("name")
	c.note("path.name", skills.CheckName(name))
	filter := c.skillFilter(r)
	filter.Limit = memory.MaxWorkflows // a skill has no more
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.SkillReader.Workflows(ctx, filter, name)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return memory.Errorf(memory.KindNotFound, "the user has no skill of this name: list the skills")
	}
	answer := struct {
		skillBody
		Best []workflowBody `json:"best"`
	}{skillBody{Name: name, Workflows: len(found)}, nil}
	for _, w := range found {
		answer.Successes += w.Successes
		answer.Failures += w.Failures
		if w.LastAt.After(answer.LastAt) {
			answer.LastAt = w.LastAt
		}
		answer.Best = append(answer.Best, workflowOf(w))
	}
	return r.JSON(http.StatusOK, answer)
}
