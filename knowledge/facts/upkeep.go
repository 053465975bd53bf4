package facts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Totals is what a run over all users did.
type Totals struct {
	Due    int `json:"due"`    // facts whose time had begun or ended
	Begun  int `json:"begun"`  // memories of facts that have become valid
	Ended  int `json:"ended"`  // memories of facts that are not valid any more
	Failed int `json:"failed"` // facts for which it failed
}

const duePage = 100

// RunDue brings the memories in step with the facts whose time has begun or
// ended. The cause is recorded with each event. What fails for one fact does
// not keep the others from theirs, so that without an embedder what ends still
// does; the error then comes at the end. Where the facts cannot be listed, or
// ctx ends, it comes at once.
func (s *Service) RunDue(ctx context.Context, cause string) (totals Totals, err error) {
	now := memory.Instant(s.Now())
	var first error
	for after := (db.Position{}); ; {
		facts, err := s.Records.DueFacts(ctx, now, after, duePage)
		if err != nil {
			return totals, err
		}
		for _, f := range facts {
			after = db.Position{At: f.Due, ID: f.ID}
			done, err := s.follow(ctx, f, now, cause)
			if errors.Is(err, db.ErrErasing) {
				continue
			}
			totals.Due++
			totals.Begun += len(done.added)
			totals.Ended += len(done.changed)
			if ctx.Err() != nil {
				return totals, err
			}
			if err != nil {
				totals.Failed++
				if first == nil {
					first = err
				}
			}
		}
		if len(facts) < duePage {
			break
		}
	}
	if first != nil {
		return totals, fmt.Errorf("the memories of %d of %d facts could not be kept in step, first because of: %w", totals.Failed, totals.Due, first)
	}
	return totals, nil
}

// follow brings the memory of a fact's timeline in step.
func (s *Service) follow(ctx context.Context, f memory.Fact, now time.Time, cause string) (done Applied, err error) {
	p := &Prepared{owner: f.Owner}
	valid, err := s.Records.ListFacts(ctx, db.FactFilter{Owner: f.Owner, Type: f.Type, Key: f.Key, At: now, Limit: 1})
	if err != nil {
		return done, err
	}
	if len(valid) > 0 {
		by := llm.Serving(s.Embedder)
		content := Content(f.Key, valid[0].Value)
		vectors, err := by.Embed(ctx, llm.ForDocument, []string{content})
		if err != nil {
			return done, err
		}
		p.vectors, p.model = map[string][]float32{content: vectors[0]}, by.Model()
	}
	err = s.Records.InUser(ctx, f.Owner, func(ctx context.Context, tx db.UserTx) error {
		c := s.begin(tx, p, cause)
		is, ok, err := tx.FactAt(ctx, f.Type, f.Key, f.ValidFrom)
		if err != nil {
			return err
		}
		if ok { // its time may have come and gone
			if err := c.save(ctx, &is); err != nil {
				return err
			}
		}
		c.touch(line{f.Type, f.Key})
		done, err = c.finish(ctx)
		return err
	})
	if err != nil {
		return Applied{}, err
	}
	s.Push(ctx, done)
	return done, nil
}
