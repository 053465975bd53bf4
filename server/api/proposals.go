package api

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/reflection/derivation"
	"hippocampus/server/frame"
)

// ProposalParts are the parts behind the routes of proposals.
type ProposalParts struct {
	Insights     InsightDecider
	Instructions InstructionApprover
	Workflows    SkillReader // that a proposed instruction rests on
}

// InstructionApprover makes a proposed instruction the active version of its name; knowledge/evolution implements it.
type InstructionApprover interface {
	Approve(ctx context.Context, p db.ProposedInsight) (memory.Instruction, memory.InstructionVersion, error)
}

// InsightDecider lists what is proposed, and decides about insights; reflection/derivation implements it.
type InsightDecider interface {
	List(ctx context.Context, f db.ProposedFilter) ([]derivation.Proposed, error)
	Proposed(ctx context.Context, appID, id string) (derivation.Proposed, error)
	Approve(ctx context.Context, p derivation.Proposed) (derivation.Result, error)
	Reject(ctx context.Context, appID, id string) error
}

type insightHandlers struct {
	ProposalParts
	quotas *quotas
	modes  ModeKeeper
}

func (h insightHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/proposals", memory.RoleRead, frame.List[db.ProposedFilter, proposal, insightBody]{
		Name: "proposals",
		Filter: func(r *frame.Request, p frame.Page) db.ProposedFilter {
			f := db.ProposedFilter{AppID: r.Key.AppID, UserID: r.QueryID("user_id"), Limit: p.Limit}
			if p.Before != nil {
				f.Before = p.Before.ID
			}
			return f
		},
		Find:     h.list,
		Body:     evidencedOf,
		Position: func(p proposal) db.Position { return db.Position{At: p.ProposedAt, ID: p.ID} },
	}.Handle)
	r.Add("POST /v1/proposals/:id/approve", memory.RoleWrite, h.quotas.bound(h.approve, memories))
	r.Add("POST /v1/proposals/:id/reject", memory.RoleWrite, h.reject)
}

// proposal is a proposal, with the workflows that an instruction of a skill rests on.
type proposal struct {
	derivation.Proposed
	workflows []memory.Workflow
}

func (h insightHandlers) list(ctx context.Context, f db.ProposedFilter) ([]proposal, error) {
	found, err := h.Insights.List(ctx, f)
	all := make([]proposal, len(found))
	for i, p := range found {
		all[i].Proposed = p
		if skill := memory.InstructedSkill(p.Instruction); skill != "" && err == nil {
			of := db.SkillFilter{Owner: p.Owner, Limit: memory.MaxWorkflows}
			all[i].workflows, err = h.Workflows.Workflows(ctx, of, skill)
		}
	}
	return all, err
}

type insightBody struct {
	ID         string         `json:"id"`
	UserID     string         `json:"user_id"`
	AgentID    string         `json:"agent_id,omitempty"`
	Content    string         `json:"content"`
	Domain     memory.Domain  `json:"domain"`
	Importance float64        `json:"importance"`
	ProposedAt time.Time      `json:"proposed_at"`
	Evidence   []evidenceBody `json:"evidence"`

	Instruction string         `json:"instruction,omitempty"` // name
	Workflows   []workflowBody `json:"workflows,omitempty"`
}

// evidenceBody is a fact that an insight rests on.
type evidenceBody struct {
	Memory  wire.Memory `json:"memory"`
	Retires bool        `json:"retires"`
}

func insightOf(p derivation.Proposed) insightBody {
	evidence := make([]evidenceBody, len(p.Evidence))
	for i, m := range p.Evidence {
		evidence[i] = evidenceBody{wire.MemoryOf(m), slices.Contains(p.Retires, m.ID)}
	}
	return insightBody{
		ID: p.ID, UserID: p.Owner.UserID, AgentID: p.AgentID, Content: p.Content, Domain: p.Domain,
		Importance: p.Importance, ProposedAt: p.ProposedAt, Evidence: evidence,
		Instruction: p.Instruction,
	}
}

func evidencedOf(p proposal) insightBody {
	body := insightOf(p.Proposed)
	body.Workflows = frame.BodiesOf(p.workflows, workflowOf)
	return body
}

// approvedBody has the memory that a proposal became, or the one that says the same; or the version of an instruction.
type approvedBody struct {
	Memory      *wire.Memory             `json:"memory,omitempty"`
	Retired     []string                 `json:"retired"`
	Instruction *instructionBody         `json:"instruction,omitempty"`
	Version     *wire.InstructionVersion `json:"version,omitempty"`
}

func (h insightHandlers) approve(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	p, err := h.Insights.Proposed(ctx, r.Key.AppID, id)
	if err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, p.Owner, ""); err != nil {
		return nil, err
	}
	if p.Instruction != "" {
		in, v, err := h.Instructions.Approve(ctx, p.ProposedInsight)
		instruction, version := instructionOf(in), versionOf(v)
		return approvedBody{Retired: []string{}, Instruction: &instruction, Version: &version}, err
	}
	result, err := h.Insights.Approve(ctx, p)
	if err != nil {
		return nil, err
	}
	body := approvedBody{Retired: frame.NotNil(result.Retired)}
	for _, m := range slices.Concat(result.Held, result.Stored) {
		stored := wire.MemoryOf(m)
		body.Memory = &stored
	}
	return body, nil
}

func (h insightHandlers) reject(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	return struct {
		ID string `json:"id"`
	}{id}, h.Insights.Reject(ctx, r.Key.AppID, id)
}
