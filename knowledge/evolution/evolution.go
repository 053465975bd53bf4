// Package evolution proposes instructions from what users ask again and from what their skills lead to:
//
//	requests on two days, or a workflow that fails -> proposal, with its evidence -> approved: the active version
//	what a line rests on is forgotten or superseded -> the line leaves every version
//
// A request becomes a line in the user's own words. The instruction of a skill is written by the chat model from
// workflows and notes, or without one by rule. Nothing is proposed twice from the same evidence.
package evolution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/zones"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/instructions"
)

// Records is the part of the database that evolution uses.
type Records interface {
	jobs.OwnerLister
	db.Skills
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
	ActiveInstructions(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
	LostGrounds(ctx context.Context, owner memory.Owner) ([]string, error)
	ListProposedInsights(ctx context.Context, f db.ProposedFilter) ([]db.ProposedInsight, error)
	ModeOf(ctx context.Context, owner memory.Owner, conversationID string) (memory.ModeSetting, error)
	State(ctx context.Context, owner memory.Owner) (db.UserState, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Parts are what a Service works with.
type Parts struct {
	Records      Records
	Instructions *instructions.Service
	Chat         llm.Chat     // nil: skills are read by rule
	Zone         zones.Finder // of the days of requests
	// Refuse refuses what the app's policy never keeps (KindConflict).
	Refuse  func(ctx context.Context, appID, text string) error
	Publish bool // proposals are approved at once
	Now     func() time.Time
}

// Service proposes instructions.
type Service struct{ Parts }

// New makes a service.
func New(p Parts) *Service { return &Service{p} }

// Totals counts the results of a run over all users.
type Totals struct {
	Users     int `json:"users"`
	Proposed  int `json:"proposed"`
	Published int `json:"published"`
	Asked     int `json:"asked"` // answers of the chat model
	Failed    int `json:"failed"`
}

// EvolveAll proposes instructions for every user; see jobs.EachOwner.
func (s *Service) EvolveAll(ctx context.Context) (totals Totals, err error) {
	totals.Failed, err = jobs.EachOwner(ctx, s.Records, func(owner memory.Owner) error {
		totals.Users++
		return s.evolve(ctx, owner, &totals)
	})
	return totals, err
}

// drafting is one run for a user.
type drafting struct {
	*Service
	owner  memory.Owner
	active []memory.ActiveInstruction
	known  []db.ProposedInsight // the newest first, also decided ones
	drafts []db.ProposedInsight
	asked  int
}

func (s *Service) evolve(ctx context.Context, owner memory.Owner, totals *Totals) error {
	ctx = llm.ForApp(ctx, owner.AppID)
	state, err := s.Records.State(ctx, owner)
	if err != nil {
		return err
	}
	lost, err := s.Records.LostGrounds(ctx, owner)
	if err != nil {
		return err
	}
	d := &drafting{Service: s, owner: owner}
	if err := d.find(ctx); err != nil {
		return err
	}
	totals.Asked += d.asked
	if len(lost)+len(d.drafts) > 0 {
		if err := s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			if now, err := tx.State(ctx); err != nil {
				return err
			} else if now.Erased != state.Erased {
				return memory.Errorf(memory.KindConflict, "the user was erased in the meantime: nothing is left to propose")
			}
			if err := tx.RemoveLines(ctx, lost); err != nil || len(d.drafts) == 0 {
				return err
			}
			return tx.ProposeInsights(ctx, d.drafts)
		}); err != nil {
			return err
		}
	}
	totals.Proposed += len(slices.DeleteFunc(d.drafts, func(p db.ProposedInsight) bool { return p.Decided }))
	return s.publish(ctx, owner, totals)
}

// find drafts what the evidence of a user supports. While memory is off or only read for the user, that is nothing.
func (d *drafting) find(ctx context.Context) (err error) {
	set, err := d.Records.ModeOf(ctx, d.owner, "")
	if err != nil || !set.Mode.Keeps() {
		return err
	}
	wishes, err := d.wishes(ctx)
	if err != nil {
		return err
	}
	failing, err := d.failing(ctx)
	if err != nil || len(wishes)+len(failing) == 0 {
		return err
	}
	if d.active, err = d.Records.ActiveInstructions(ctx, d.owner.AppID, "", d.owner.UserID); err != nil {
		return err
	}
	d.known, err = d.Records.ListProposedInsights(ctx, db.ProposedFilter{
		AppID: d.owner.AppID, UserID: d.owner.UserID, Limit: db.MaxProposedInsights, All: true,
	})
	if err != nil {
		return err
	}
	if err := d.ask(ctx, wishes); err != nil {
		return err
	}
	return d.instruct(ctx, failing)
}

// add adds a draft, unless the app's policy never keeps its text.
// Its id follows from what it is about and from its evidence: of two runs at once, the second one stores nothing.
func (d *drafting) add(ctx context.Context, about string, p db.ProposedInsight) error {
	err := d.Refuse(ctx, d.owner.AppID, p.Content)
	if memory.IsKind(err, memory.KindConflict) {
		return nil
	}
	p.ID, p.Owner = memory.CopiedID(about, memory.Owner{UserID: p.Instruction}, int(p.Basis)), d.owner
	p.ProposedAt = memory.Instant(d.Now())
	for _, g := range p.Grounds {
		for _, id := range g.Memories {
			if !slices.Contains(p.Sources, id) {
				p.Sources = append(p.Sources, id)
			}
		}
	}
	d.drafts = append(d.drafts, p)
	return err
}

// publish approves what is proposed, if that is the setting.
func (s *Service) publish(ctx context.Context, owner memory.Owner, totals *Totals) error {
	if !s.Publish {
		return nil
	}
	open, err := s.Records.ListProposedInsights(ctx, db.ProposedFilter{
		AppID: owner.AppID, UserID: owner.UserID, Limit: db.MaxProposedInsights,
	})
	slices.Reverse(open)
	for _, p := range open {
		if err == nil && p.Instruction != "" {
			_, _, err = s.Approve(ctx, p)
			totals.Published++
		}
	}
	return err
}

// Approve makes a proposed instruction the active version of its name. KindNotFound: it was decided, or does not stand.
// KindConflict: the app's policy never keeps its text, or see instructions.Publish.
func (s *Service) Approve(ctx context.Context, p db.ProposedInsight) (
	memory.Instruction, memory.InstructionVersion, error,
) {
	if err := s.Refuse(ctx, p.Owner.AppID, p.Content); err != nil {
		return memory.Instruction{}, memory.InstructionVersion{}, err
	}
	scope := memory.Scope{AppID: p.Owner.AppID, Kind: memory.UserScope, ID: p.Owner.UserID}
	return s.Instructions.Publish(ctx, scope, instructions.Draft{
		Name: p.Instruction, Content: p.Content, Activate: true,
		Note:     fmt.Sprintf("proposal %s of %s", p.ID, p.ProposedAt.Format(time.DateOnly)),
		Proposal: p.ID, Append: p.Instruction == memory.RequestsInstruction, Grounds: p.Grounds,
	})
}
