package facts

import (
	"context"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Totals is what a run over all users did.
type Totals struct {
	Due    int `json:"due"`    // facts whose time has begun or ended
	Begun  int `json:"begun"`  // new memories of facts that have become valid
	Ended  int `json:"ended"`  // memories of facts that are no longer valid
	Failed int `json:"failed"` // facts whose memory could not be updated
}

const duePage = 100

// RunDue updates the memories of facts whose time has begun or ended. The cause
// is recorded with each event. A failure for one fact does not stop the run, so
// that memories end even if the embedder is unavailable; the error is then returned at the end. The run stops if the
// facts cannot be listed, or ctx ends.
func (s *Service) RunDue(ctx context.Context, cause string) (totals Totals, err error) {
	now := memory.Instant(s.Now())
	var failures jobs.Failures
	for f, err := range db.All(duePage, func(last memory.Fact, limit int) ([]memory.Fact, error) {
		return s.Records.DueFacts(ctx, now, db.Position{At: last.Due, ID: last.ID}, limit)
	}) {
		if err != nil {
			return totals, err
		}
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
		}
		failures.Note(err)
	}
	return totals, failures.Err("facts")
}

// follow updates the memory of a fact's timeline.
func (s *Service) follow(ctx context.Context, f memory.Fact, now time.Time, cause string) (done Applied, err error) {
	p := prepared(f.Owner)
	valid, err := s.Records.ListFacts(ctx, db.FactFilter{Owner: f.Owner, Type: f.Type, Key: f.Key, At: now, Limit: 1})
	if err != nil {
		return done, err
	}
	if len(valid) > 0 {
		embedder := llm.Serving(s.Embedder)
		content := Sentence(f.Type, f.Key, valid[0].Value)
		vectors, err := llm.EmbedDocuments(ctx, embedder, []string{content})
		if err != nil {
			return done, err
		}
		p.vectors, p.model = map[string][]float32{content: vectors[0]}, embedder.Model()
		if err := s.compare(ctx, p, valid[:1]); err != nil {
			return done, err
		}
	}
	err = s.Records.InUser(ctx, f.Owner, func(ctx context.Context, tx db.UserTx) error {
		c := s.begin(tx, p, cause)
		begun, ok, err := tx.FactAt(ctx, f.Type, f.Key, f.ValidFrom)
		if err != nil {
			return err
		}
		if ok { // it may also have ended since
			if err := c.save(ctx, &begun); err != nil {
				return err
			}
		}
		c.touch(timeline{f.Type, f.Key})
		done, err = c.finish(ctx)
		return err
	})
	if err != nil {
		return Applied{}, err
	}
	s.Push(ctx, done)
	return done, nil
}
