package ingest

import (
	"context"
	"slices"

	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// Rescored is what scoring a turn again means, before its new facts are compared with the memories of other turns.
type Rescored struct {
	Turn    memory.Turn
	Added   []memory.Candidate // kept facts that the turn did not state before
	Kept    []StillStated      // facts that are stated again, or that the user decides about
	Removed []memory.Memory    // facts that are not stated again, and that nothing else states
	Skipped string             // why the turn is not scored again; the lists are empty then
}

// StillStated is a memory that stays, and why.
type StillStated struct {
	memory.Memory
	Why string
}

// Why a fact stays.
const (
	becauseAgain     = "it is stated again"
	becauseUser      = "it is as the user or the app left it"
	becauseOthers    = "something else states it too"
	becauseCondensed = "an insight stands for it"
)

// rescoring is a turn that is scored again, with what becomes of its facts.
type rescoring struct {
	*Service
	r reading
	Rescored
	candidates []memory.Candidate // new ones, with their verdicts
	replaced   []memory.Candidate // former ones that these take the place of
	held       map[string]bool    // ids of the new candidates that state what a memory states already
	refits     []refit
	taking     *withdrawal // of Removed
}

// refit gives a memory the fields that the new scoring proposes for the same words.
type refit struct {
	id string
	to memory.Candidate
}

func (f refit) apply(m *memory.Memory) {
	m.Importance, m.Domain = f.to.Importance, f.to.Domain
	m.Type, m.Tags = f.to.Type, f.to.Tags
	if !f.to.ExpiresAt.IsZero() {
		m.ExpiresAt = f.to.ExpiresAt
	}
}

// rescore asks the scorer about a processed turn and finds out what its answer changes. It stores nothing.
func (s *Service) rescore(ctx context.Context, turn memory.Turn) (*rescoring, error) {
	a := &rescoring{Service: s, Rescored: Rescored{Turn: turn}, held: map[string]bool{}}
	set, err := s.Records.ModeOf(ctx, turn.Owner, turn.ConversationID)
	switch {
	case err != nil:
		return nil, err
	case turn.Status != memory.TurnProcessed:
		a.Skipped = "the turn is " + string(turn.Status)
		return a, nil
	case !turn.Memory.Keeps() || !set.Keeps():
		a.Skipped = "memory is off"
		return a, nil
	}
	if turn.Zone, err = s.Zone.Of(ctx, turn.Owner); err != nil {
		return nil, err
	}
	rules, err := s.policyOf(ctx, turn.AppID)
	if err != nil {
		return nil, err
	}
	if a.r, err = s.reading(ctx, rules, turn); err != nil {
		return nil, err
	}
	a.r.echoes = echoes{} // what recall returned then is not known any more
	var facts []scorer.Fact
	if len(a.r.question.Messages) > 0 {
		if facts, err = s.Scorer.Score(ctx, a.r.question.Turn, a.r.question.before); err != nil {
			return nil, err
		}
	}
	facts, never := splitNever(facts)
	a.r = s.without(a.r, never)
	if a.candidates, err = s.verdicts(ctx, a.r, facts, never); err != nil {
		return nil, err
	}
	err = a.compare(ctx)
	return a, err
}

// compare finds out which facts stay, come and go.
func (a *rescoring) compare(ctx context.Context) error {
	formers, err := a.formers(ctx)
	if err != nil {
		return err
	}
	stays := make([]bool, len(formers))
	for i := range a.candidates {
		if c := &a.candidates[i]; c.Verdict == memory.Kept {
			a.hold(c, formers, stays)
		}
	}
	if err := a.refuseForgotten(ctx); err != nil {
		return err
	}
	for _, c := range a.candidates {
		if c.Verdict == memory.Kept && !a.held[c.ID] {
			a.Added = append(a.Added, c)
		}
	}
	return a.takeBack(ctx, formers, stays)
}

// hold settles a candidate that states what a former fact stated.
func (a *rescoring) hold(c *memory.Candidate, formers []former, stays []bool) {
	for i, f := range formers {
		isGoneByItself := !f.isUsers && (f.Memory.ID == "" || isGone(f.Memory))
		if isGoneByItself || !f.states(c.Content) {
			continue
		}
		c.MemoryID, c.Reason = f.MemoryID, becauseAgain
		c.Verdict = f.Verdict
		if f.isUsers {
			c.Reason = becauseUser
			c.Verdict = memory.Duplicate
		}
		a.held[c.ID], stays[i] = true, true
		m := f.Memory
		isOwn := m.SourceTurnID == a.Turn.ID && f.Verdict == memory.Kept && m.Status == memory.Active && !f.isUsers
		again, refit := m, refit{id: m.ID, to: *c}
		refit.apply(&again)
		if isOwn && history.Diff(m, again) != nil {
			a.refits = append(a.refits, refit)
		}
		return
	}
}

// takeBack plans to forget the facts that are not stated again. Facts that the user has decided about stay, and so do
// those that an insight stands for.
func (a *rescoring) takeBack(ctx context.Context, formers []former, stays []bool) error {
	var gone []memory.Candidate
	for i, f := range formers {
		why := ""
		switch {
		case stays[i]:
			why = becauseAgain
		case f.isUsers:
			why = becauseUser
		case f.Status == memory.Consolidated:
			why = becauseCondensed
		}
		if why == "" {
			gone = append(gone, f.Candidate)
			continue
		}
		if f.isUsers {
			why = becauseUser
		}
		if !stays[i] { // its candidate says where it came from
			a.replaced = slices.DeleteFunc(a.replaced, func(c memory.Candidate) bool { return c.ID == f.Candidate.ID })
		}
		if f.Memory.ID != "" && !isGone(f.Memory) {
			a.Kept = append(a.Kept, StillStated{f.Memory, why})
		}
	}
	w := &withdrawal{forgetting: forgetting{
		Service: a.Service, by: llm.Serving(a.Embedder), owner: a.Turn.Owner, turn: &a.Turn, keepsTurn: true, rescores: true,
	}}
	memories, err := w.heldBy(ctx, nil, gone)
	if err != nil {
		return err
	}
	isStated := func(m memory.Memory) bool { // by another candidate of the turn
		return slices.ContainsFunc(a.Kept, func(k StillStated) bool { return k.ID == m.ID })
	}
	memories = slices.DeleteFunc(memories, isStated)
	if err := w.planMemories(ctx, memories); err != nil {
		return err
	}
	a.taking, a.Removed = w, w.batch
	for _, m := range memories {
		if !w.isGone(m.ID) {
			a.Kept = append(a.Kept, StillStated{m, becauseOthers})
		}
	}
	return nil
}

// isStated reports whether a turn that is not being scored again states a memory. Of a turn without candidates, such as
// an imported one, it is not known.
func (w *withdrawal) isStated(ctx context.Context, turn memory.Turn, memoryID string) (bool, error) {
	if turn.Status == memory.TurnWithdrawn {
		return false, nil
	}
	candidates, err := w.Records.TurnCandidates(ctx, turn.AppID, turn.ID)
	if err != nil || len(candidates) == 0 {
		return turn.Scored.By != w.Scorer.Name(), err
	}
	return slices.ContainsFunc(candidates, func(c memory.Candidate) bool {
		return c.MemoryID == memoryID && c.Verdict != memory.Echo
	}), nil
}
