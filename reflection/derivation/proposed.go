package derivation

import (
	"cmp"
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/grounding"
	"hippocampus/internal/memory"
)

// Proposed is a proposed insight with the facts that it rests on.
type Proposed struct {
	db.ProposedInsight
	Evidence []memory.Memory // its sources in their order, without embeddings
}

// Propose stores the conclusions as proposed insights, and no memory, in one transaction. Errors are those of Commit.
func (s *Service) Propose(ctx context.Context, d Derivation, conclusions []Conclusion) ([]Proposed, error) {
	at := memory.Instant(s.now())
	list, insights := make([]Proposed, len(conclusions)), make([]db.ProposedInsight, len(conclusions))
	var sources []memory.Memory
	for i, c := range conclusions {
		insights[i] = db.ProposedInsight{
			ID: memory.NewID(), Owner: d.Owner, AgentID: c.Sources[0].AgentID, Content: c.Content, Domain: c.Domain,
			Importance: c.Importance, Sources: memory.IDs(c.Sources), ProposedAt: at,
		}
		for _, m := range c.Sources {
			if slices.Contains(d.Retire, m.ID) {
				insights[i].Retires = append(insights[i].Retires, m.ID)
			}
		}
		list[i] = Proposed{insights[i], c.Sources}
		sources = append(sources, c.Sources...)
	}
	err := s.records.InUser(ctx, d.Owner, func(ctx context.Context, tx db.UserTx) error {
		if err := updateState(ctx, tx, d.State); err != nil {
			return err
		}
		if _, err := unchanged(ctx, tx, sources); err != nil {
			return err
		}
		return tx.ProposeInsights(ctx, insights)
	})
	return list, err
}

// Approve makes a memory of a proposed insight, as Derive does, and consolidates the facts that it retires.
// KindNotFound: it does not exist, or does not stand. KindConflict: its facts have changed and do not state it.
func (s *Service) Approve(ctx context.Context, p Proposed) (Result, error) {
	why := cmp.Or(grounding.Read(groundsOf(p.Evidence)...).Why(p.Content), accountOf(p.Evidence).Opposes(p.Content))
	if why != "" {
		return Result{}, memory.Errorf(memory.KindConflict,
			"the facts that the insight rests on have changed, and it %s: reject it", why)
	}
	d := Derivation{Owner: p.Owner, Cause: "approval", Compared: true, decides: p.ID}
	for _, m := range p.Evidence {
		if slices.Contains(p.Retires, m.ID) && !m.Pinned {
			d.Retire = append(d.Retire, m.ID)
		}
	}
	return s.Derive(ctx, d, []Conclusion{{
		Content: p.Content, Type: memory.TypeReflection, Domain: p.Domain, Importance: p.Importance, Sources: p.Evidence,
	}})
}

// Reject removes a proposed insight of the app. KindNotFound: it does not exist, or does not stand.
func (s *Service) Reject(ctx context.Context, appID, id string) error {
	p, err := s.records.ProposedInsight(ctx, appID, id)
	if err != nil {
		return err
	}
	return s.records.InUser(ctx, p.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.DecideInsight(ctx, id)
	})
}

// Proposed returns a proposed insight of the app with its facts. KindNotFound: it does not exist,
// or does not stand.
func (s *Service) Proposed(ctx context.Context, appID, id string) (p Proposed, err error) {
	if p.ProposedInsight, err = s.records.ProposedInsight(ctx, appID, id); err != nil {
		return p, err
	}
	p.Evidence, err = s.evidence(ctx, p.ProposedInsight)
	return p, err
}

// List lists the proposed insights that stand, newest first, with their facts.
func (s *Service) List(ctx context.Context, f db.ProposedFilter) ([]Proposed, error) {
	insights, err := s.records.ListProposedInsights(ctx, f)
	if err != nil {
		return nil, err
	}
	list := make([]Proposed, len(insights))
	for i, p := range insights {
		list[i].ProposedInsight = p
		if list[i].Evidence, err = s.evidence(ctx, p); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// evidence reads the facts that a proposed insight rests on.
func (s *Service) evidence(ctx context.Context, p db.ProposedInsight) ([]memory.Memory, error) {
	facts := make([]memory.Memory, 0, len(p.Sources))
	for _, id := range p.Sources {
		m, err := s.records.Memory(ctx, p.Owner.AppID, id)
		if err != nil {
			return nil, err
		}
		m.Embedding = nil
		facts = append(facts, m)
	}
	return facts, nil
}
