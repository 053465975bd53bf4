package ingest

import (
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// Consolidation holds what is stored when a conversation is consolidated.
type Consolidation struct {
	Owner memory.Owner
	// ConversationID and Edition name the log that it is made from. KindUnavailable: the log has a later edition.
	ConversationID string
	Edition        int64

	Cause  string // recorded with each event
	Scorer string // of the candidates of stated facts
	Stated []Stated
	// Threshold is the importance from which a stated fact is kept.
	Threshold float64
	// Made are drafts derived from the conversation: AgentID, ConversationID, Content,
	// Type, Domain, Importance and CreatedAt; Consolidate fills in the rest.
	Made []memory.Memory
	// Similarity is 0 if the drafts in Made are not compared with memories. Otherwise the judge decides about the memories
	// near each draft. Without its answer, a draft is merged into an active memory of the same agent from this cosine on,
	// and that memory keeps its wording.
	Similarity float64
	// Last runs at the end of the transaction; its error rolls everything back. It may run more than once.
	Last func(ctx context.Context, tx db.UserTx, done Consolidated) error
}

// isPresent refuses a consolidation of an earlier edition of the log, which may state what was forgotten since.
func (c *Consolidation) isPresent(ctx context.Context, tx db.UserTx) error {
	log, found, err := tx.RecordedConversation(ctx, c.ConversationID)
	if err == nil && found && log.Edition != c.Edition {
		return memory.Errorf(memory.KindUnavailable, "a statement was forgotten or restored while the conversation was read")
	}
	return err
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
	Made       []write.Written    // one for each draft, in order
}

// Consolidate takes the stated facts through the stages of a write, with a candidate for
// each, and stores the drafts in Made, all in one transaction.
func (s *Service) Consolidate(ctx context.Context, c Consolidation) (done Consolidated, err error) {
	candidates, err := s.gateStated(ctx, c)
	if err != nil {
		return done, err
	}
	var facts []memory.Memory
	var kept []int // places of the first facts among the candidates
	for i, candidate := range candidates {
		if candidate.Verdict == memory.Kept {
			fact := factOf(candidate, c.Stated[i].Turn)
			fact.Tags = slices.Concat(c.Stated[i].Tags, fact.Tags)
			facts, kept = append(facts, fact), append(kept, i)
		}
	}
	for _, m := range c.Made {
		m.Owner = c.Owner
		facts = append(facts, m)
	}
	facts, err = s.complete(ctx, facts)
	if err != nil {
		return done, err
	}
	drafts := draftsOf(facts, write.Judged)
	made := drafts[len(kept):]
	for i := range made {
		made[i].Least = c.Similarity
		if c.Similarity == 0 {
			made[i].Compare = write.Alone
		}
	}
	_, err = s.Writer.Write(ctx, write.Batch{
		Owner: c.Owner, Cause: c.Cause, Drafts: drafts, First: c.isPresent,
		Also: func(ctx context.Context, tx db.UserTx, _ *history.Recorder, written []write.Written) error {
			for i, place := range kept {
				settle(&candidates[place], written[i])
			}
			done = Consolidated{Candidates: candidates, Made: written[len(kept):]}
			if len(candidates) > 0 {
				if err := tx.AddCandidates(ctx, candidates); err != nil {
					return err
				}
			}
			return c.Last(ctx, tx, done)
		},
	})
	if err != nil {
		return Consolidated{}, err
	}
	s.counts.count(0, OutcomeProcessed, candidates...)
	return done, nil
}
