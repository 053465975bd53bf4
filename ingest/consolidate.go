package ingest

import (
	"context"
	"fmt"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// Consolidation holds what is to be remembered of a conversation.
type Consolidation struct {
	Owner  memory.Owner
	Cause  string // recorded with each event
	Scorer string // of the candidates of stated facts
	Stated []Stated
	// Threshold is the importance from which a stated fact is kept.
	Threshold float64
	// Made are drafts derived from the conversation: AgentID, ConversationID, Content,
	// Type, Domain, Importance and CreatedAt; Consolidate fills in the rest.
	Made []memory.Memory
	// Similarity is 0 if the drafts in Made are not compared with memories. Otherwise the judge decides about the
	// memories near each draft. Without its answer, a draft is merged into an active memory of the same agent from
	// this cosine, and the memory's wording stays.
	Similarity float64
	// Last runs at the end of the transaction; its error rolls everything back. It may run more than once.
	Last func(ctx context.Context, tx db.UserTx, done Consolidated) error
}

// Stated is a fact that a backend has stated in a turn. No scorer is asked. A fact that
// cannot be a memory becomes an invalid candidate.
type Stated struct {
	Turn memory.Turn
	Fact scorer.Fact
	Tags []string // of the memory
}

// Consolidated is the result of a consolidation.
type Consolidated struct {
	Candidates []memory.Candidate // one for each stated fact, in order
	Made       []Written          // one for each draft, in order
}

// Consolidate takes the stated facts through the stages of a write, with a candidate for
// each, and stores the drafts in Made, all in one transaction.
func (s *Service) Consolidate(ctx context.Context, c Consolidation) (done Consolidated, err error) {
	candidates, err := s.gateStated(ctx, c)
	if err != nil {
		return done, err
	}
	drafts, _, err := s.embed(ctx, func(i int) memory.Turn { return c.Stated[i].Turn }, candidates, nil)
	if err != nil {
		return done, err
	}
	near, err := s.neighbours(ctx, c.Owner, drafts)
	if err != nil {
		return done, err
	}
	made, around, err := s.embedMade(ctx, c)
	if err != nil {
		return done, err
	}
	var w *writing
	err = s.Records.InUser(ctx, c.Owner, func(ctx context.Context, tx db.UserTx) error {
		w = s.writing(tx, c.Cause)
		done = Consolidated{Candidates: candidates}
		for i := range candidates {
			if draft, kept := drafts[i]; kept {
				draft.Tags = c.Stated[i].Tags
				held, err := w.put(ctx, draft, near[i])
				if err != nil {
					return err
				}
				candidates[i].Verdict = held.Verdict
				candidates[i].MemoryID = held.Memory.ID
				candidates[i].Reason = held.Reason
			}
		}
		for i, draft := range made {
			held, err := w.absorb(ctx, draft, around[i], c.Similarity)
			if err != nil {
				return err
			}
			done.Made = append(done.Made, held)
		}
		if len(candidates) > 0 {
			if err := tx.AddCandidates(ctx, candidates); err != nil {
				return err
			}
		}
		if err := w.flush(ctx); err != nil {
			return err
		}
		return c.Last(ctx, tx, done)
	})
	if err != nil {
		return Consolidated{}, err
	}
	s.counts.count(0, OutcomeProcessed, candidates...)
	w.push(ctx, c.Owner)
	return done, nil
}

// gateStated gives each stated fact its first verdict, turn by turn.
func (s *Service) gateStated(ctx context.Context, c Consolidation) ([]memory.Candidate, error) {
	candidates := make([]memory.Candidate, 0, len(c.Stated))
	for rest := c.Stated; len(rest) > 0; {
		turn := rest[0].Turn
		turn.Messages = withoutContexts(turn.Messages)
		var facts []scorer.Fact
		for len(rest) > 0 && rest[0].Turn.ID == turn.ID {
			facts, rest = append(facts, rest[0].Fact), rest[1:]
		}
		echoes, err := s.echoes(ctx, turn)
		if err != nil {
			return nil, err
		}
		proposed := s.gate(turn, c.Scorer, c.Threshold, facts, echoes)
		for i := range proposed {
			p := &proposed[i]
			if why := memory.CheckContent(p.Content, memory.MaxContentRunes); why != "" {
				p.Verdict = memory.InvalidAnswer
				p.Reason = "it " + why
				p.MemoryID = ""
				p.Content = excerpt(p.Content)
			}
		}
		candidates = append(candidates, proposed...)
	}
	return candidates, nil
}

// embedMade completes the drafts in Made, and finds what they mean for the memories near them.
func (s *Service) embedMade(ctx context.Context, c Consolidation) (
	made []memory.Memory, around map[int]neighbourhood, err error,
) {
	if len(c.Made) == 0 {
		return nil, nil, nil
	}
	texts := make([]string, len(c.Made))
	for i, m := range c.Made {
		texts[i] = m.Content
	}
	by := llm.Serving(s.Embedder)
	vectors, err := by.Embed(ctx, llm.ForDocument, texts)
	if err != nil {
		return nil, nil, err
	}
	made = make([]memory.Memory, len(c.Made))
	compared := map[int]memory.Memory{}
	for i, m := range c.Made {
		m.Owner = c.Owner
		made[i] = s.draft(m, vectors[i], by.Model())
		if c.Similarity > 0 {
			compared[i] = made[i]
		}
	}
	around, err = s.neighbours(ctx, c.Owner, compared)
	return made, around, err
}

// absorb stores a derived draft by the decisions of the judge. Without them, it merges the draft into the active
// memory that says about the same. That memory keeps its wording and gets the higher importance.
func (w *writing) absorb(ctx context.Context, draft memory.Memory, near neighbourhood, least float64) (Written, error) {
	if least == 0 {
		return w.add(draft), nil
	}
	if near.asked {
		return w.put(ctx, draft, near)
	}
	same, similarity, err := w.nearest(ctx, draft, near.ids)
	if err != nil {
		return Written{}, err
	}
	if same == nil || similarity < least {
		return w.add(draft), nil
	}
	verdict := memory.Merged
	if draft.Importance <= same.Importance {
		verdict = memory.Duplicate // nothing changes
	}
	draft.Content = same.Content
	return w.merge(ctx, same, draft, similarity, verdict,
		fmt.Sprintf("similarity %.3f to an active memory is at or over %.2f: they are one", similarity, least))
}
