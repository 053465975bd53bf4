package api

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/skills"
	"hippocampus/server/frame"
)

// SkillParts are the parts behind the routes of skills.
type SkillParts struct {
	Recorder SkillRecorder
	Reader   SkillReader
}

// SkillRecorder counts the outcomes of workflows; package skills implements it.
type SkillRecorder interface {
	// Record counts an outcome. KindInvalid: its fields are wrong. KindConflict:
	// another outcome has its id, or the skill has too many workflows.
	Record(ctx context.Context, owner memory.Owner, o skills.Outcome, cause string) (skills.Result, error)
}

// SkillReader reads skills; db.Skills implements it.
type SkillReader interface {
	ListSkills(ctx context.Context, f db.SkillFilter) ([]memory.Skill, error)
	Workflows(ctx context.Context, f db.SkillFilter, skill string) ([]memory.Workflow, error)
}

type skillHandlers struct {
	SkillParts
	modes ModeKeeper
}

func (h skillHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/skills", memory.RoleRead, frame.List[db.SkillFilter, memory.Skill, skillBody]{
		Name:     "skills",
		Named:    true,
		Filter:   skillFilter,
		Find:     h.Reader.ListSkills,
		Body:     func(s memory.Skill) skillBody { return skillBody(s) },
		Position: func(s memory.Skill) db.Position { return frame.NamePosition(s.Name) },
	}.Handle)
	r.Add("GET /v1/skills/:name", memory.RoleRead, h.get)
	r.Add("POST /v1/skills/:name/outcomes", memory.RoleWrite, frame.WithBody(h.postOutcome))
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
	notes := append([]memory.OutcomeNote{}, w.Notes...)
	slices.Reverse(notes)
	return workflowBody{
		ID: w.ID, AgentID: w.AgentID, Workflow: w.Text, Successes: w.Successes, Failures: w.Failures,
		Importance: w.Importance(), Notes: notes, MemoryID: w.MemoryID, LastAt: w.LastAt,
	}
}

type skillBody struct {
	Name      string    `json:"name"`
	Workflows int       `json:"workflows"`
	Successes int       `json:"successes"`
	Failures  int       `json:"failures"`
	LastAt    time.Time `json:"last_at"`
}

type outcomeRequest struct {
	UserID   string `json:"user_id"`
	AgentID  string `json:"agent_id"`
	Success  bool   `json:"success"`
	Workflow string `json:"workflow"`
	Note     string `json:"note"`
	At       string `json:"at"`
	ID       string `json:"id"`
}

func (h skillHandlers) postOutcome(ctx context.Context, r *frame.Request, body outcomeRequest) (any, error) {
	owner := r.BodyOwner(body.UserID)
	outcome := skills.Outcome{
		ID: body.ID, AgentID: body.AgentID, Skill: r.PathValue("name"), Workflow: body.Workflow,
		Success: body.Success, Note: body.Note, At: r.Time("at", body.At),
	}
	r.Note("path.name", skills.CheckName(outcome.Skill))
	r.NoteAll(skills.Check(outcome))
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, owner, ""); err != nil {
		return nil, err
	}
	result, err := h.Recorder.Record(ctx, owner, outcome, "api")
	return struct {
		Skill    string       `json:"skill"`
		Workflow workflowBody `json:"workflow"`
		Counted  bool         `json:"counted"`
		// The versions of the user's instructions that it counts for.
		Instructions []namedVersion `json:"instructions,omitempty"`
		frame.Altered
	}{
		Skill: outcome.Skill, Workflow: workflowOf(result.Workflow), Counted: result.Counted,
		Instructions: frame.BodiesOf(result.Instructions, namedVersionOf), Altered: r.Altered,
	}, err
}

// namedVersion names a version of an instruction.
type namedVersion struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

func namedVersionOf(i memory.ActiveInstruction) namedVersion { return namedVersion{i.Name, i.Number} }

// skillFilter reads whose skills a request asks for.
func skillFilter(r *frame.Request, p frame.Page) db.SkillFilter {
	agentID := r.QueryID("agent_id")
	return db.SkillFilter{Owner: r.QueryOwner(), AgentID: agentID, After: p.After(), Limit: p.Limit}
}

func (h skillHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	name := r.PathValue("name")
	r.Note("path.name", skills.CheckName(name))
	filter := skillFilter(r, frame.Page{Limit: memory.MaxWorkflows}) // of all workflows
	if err := r.Err(); err != nil {
		return nil, err
	}
	found, err := h.Reader.Workflows(ctx, filter, name)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, memory.Errorf(memory.KindNotFound, "the user has no skill of this name: list the skills")
	}
	body := struct {
		skillBody
		Best []workflowBody `json:"best"`
	}{skillBody{Name: name, Workflows: len(found)}, frame.BodiesOf(found, workflowOf)}
	for _, w := range found {
		body.Successes += w.Successes
		body.Failures += w.Failures
		if w.LastAt.After(body.LastAt) {
			body.LastAt = w.LastAt
		}
	}
	return body, nil
}
