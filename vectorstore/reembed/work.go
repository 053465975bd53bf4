package reembed

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Result is the result of one job.
type Result struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Embedded    int    `json:"embedded"`               // memories that were embedded
	Failed      int    `json:"failed,omitempty"`       // memories that the embedder refused in the last pass
	Copied      int    `json:"copied,omitempty"`       // memories copied to the new collection
	ChangedOver bool   `json:"changed_over,omitempty"` // the new model serves
	Remaining   int    `json:"remaining"`              // memories without a new embedding
	Note        string `json:"note,omitempty"`         // why it ended before everything was done
}

// errSliceOver ends a job whose time is over.
var errSliceOver = errors.New("the next job continues")

// Work does the work for a slice of time. The next call continues it, also after
// a crash.
func (s *Service) Work(ctx context.Context) (Result, error) {
	var done Result
	ctx, release, err := s.acquireLease(ctx)
	if err != nil {
		return done, err
	}
	if release == nil {
		done.Note = "another job does the work"
		return done, nil
	}
	defer release()
	r := run{Service: s, until: s.Now().Add(s.set.Slice), done: &done}
	for err == nil {
		var state db.ServingState
		if state, err = s.follow(ctx); err != nil {
			break
		}
		done.Remaining = s.Progress().Remaining
		if done.To == "" {
			done.From, done.To = state.Serving.Model, state.Target.Model
			if state.Previous.Model != "" {
				done.From, done.To = state.Previous.Model, state.Serving.Model
			}
		}
		switch {
		case state.Previous != memory.Space{}:
			err = r.finish(ctx, state)
		case state.Target != state.Serving:
			err = r.change(ctx, state)
		default:
			if err = r.checkCanEmbed(state.Serving); err == nil {
				_, err = r.embedAll(ctx, state.Serving, true)
			}
			if err == nil {
				return done, nil
			}
		}
	}
	if errors.Is(err, errSliceOver) {
		if done.Note == "" {
			done.Note = errSliceOver.Error()
		}
		err = nil
	}
	if p := s.Progress(); p.Target.Model != "" {
		done.Remaining = p.Remaining
	}
	return done, err
}

// acquireLease acquires the lease and renews it until release is called. release is nil if another replica, or another
// job of this replica, has the lease: two jobs at once would drop each other's new collection. The returned context
// ends if the lease is lost.
func (s *Service) acquireLease(ctx context.Context) (leased context.Context, release func(), err error) {
	acquire := func(ctx context.Context, lease time.Duration) (bool, error) {
		now := s.Now()
		return s.Records.HoldReembedding(ctx, s.holder, now, now.Add(lease))
	}
	if !s.working.TryLock() {
		return ctx, nil, nil
	}
	ok, err := acquire(ctx, s.set.Lease)
	if err != nil || !ok {
		s.working.Unlock()
		return ctx, nil, err
	}
	leased, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(s.set.Lease / 4)
		defer ticker.Stop()
		for {
			select {
			case <-leased.Done():
				return
			case <-ticker.C:
				if ok, err := acquire(leased, s.set.Lease); err == nil && !ok {
					cancel(memory.Errorf(memory.KindUnavailable, "re-embedding has been taken over by another replica"))
				}
			}
		}
	}()
	return leased, func() {
		defer s.working.Unlock()
		cancel(nil)
		<-ended
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), s.set.Lease)
		defer stop()
		if _, err := acquire(last, 0); err != nil {
			s.Log.Warn("the lease could not be released; re-embedding continues when it ends", zap.Error(err))
		}
	}, nil
}

// run is one running job.
type run struct {
	*Service
	until time.Time
	done  *Result
}

// isOver reports whether the job's time is over.
func (r *run) isOver() bool { return !r.Now().Before(r.until) }

// wait waits, unless the job's time is over.
func (r *run) wait(ctx context.Context, d time.Duration) error {
	if r.isOver() {
		return errSliceOver
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// maxPass is how long a pass may take. After a longer one, another pass embeds
// the writes that were made during it.
const maxPass = time.Minute

// change embeds memories for the target. When few enough are left, it fills a new
// collection and changes over.
func (r *run) change(ctx context.Context, state db.ServingState) error {
	if err := r.checkCanEmbed(state.Target); err != nil {
		return err
	}
	since := r.Now().Add(-r.set.Grace)
	left, err := r.embedAll(ctx, state.Target, false)
	if err != nil {
		return err
	}
	if left-r.done.Failed > r.set.MaxRemaining || r.Now().Sub(since) > r.set.Grace+maxPass {
		if r.isOver() {
			return errSliceOver
		}
		return nil // Work calls change again
	}
	pair, err := r.pair(ctx, state.Target)
	if err != nil {
		return err
	}
	store, ok := pair.Vectors.(vectorstore.Rebuilder)
	if !ok {
		return memory.Errorf(memory.KindConflict, "the vector store cannot be filled while it serves")
	}
	if _, r.done.Copied, err = r.Maintenance.Fill(ctx, store, state.Target); err != nil {
		return err
	}
	// Recall reads requeued memories from the database, as own writes, so that it
	// finds those that the copy may lack until they are pushed.
	if _, err := r.Maintenance.RequeueSince(ctx, since); err != nil {
		return err
	}
	if err := r.Records.ChangeOver(ctx, state.Target, memory.Instant(since), memory.Instant(r.Now())); err != nil {
		return err
	}
	r.done.ChangedOver = true
	r.Log.Info("the new embedding model serves",
		zap.String("from", state.Serving.Model), zap.String("to", state.Target.Model))
	return nil
}

// checkCanEmbed returns errSliceOver if only another replica can do the job.
func (r *run) checkCanEmbed(space memory.Space) error {
	if r.CanEmbed(space) {
		return nil
	}
	r.done.Note = "this replica is not configured for " + space.Model
	return errSliceOver
}

// finish pushes memories that were written around the change-over to the new
// collection, and drops the previous one when no replica can use it any more.
func (r *run) finish(ctx context.Context, state db.ServingState) error {
	pair, err := r.pair(ctx, state.Serving)
	if err != nil {
		return err
	}
	if aliaser, ok := pair.Vectors.(vectorstore.Aliaser); ok {
		if err := aliaser.SetAlias(ctx); err != nil {
			return err
		}
	}
	if !r.requeued.Equal(state.ChangedAt) {
		if _, err := r.Maintenance.RequeueSince(ctx, state.CopiedAt); err != nil {
			return err
		}
		r.requeued = state.ChangedAt
	}
	left := 0
	if state.Target == state.Serving { // otherwise the next change embeds them
		if err := r.checkCanEmbed(state.Serving); err != nil {
			return err
		}
		if left, err = r.embedAll(ctx, state.Serving, true); err != nil {
			return err
		}
	}
	if err := r.settle(ctx, state.Serving); err != nil {
		return err
	}
	if left > r.done.Failed || r.Now().Before(state.ChangedAt.Add(r.set.KeepPrevious)) {
		return r.wait(ctx, r.set.Interval)
	}
	// The repair removes records whose rows were erased around the change-over.
	if _, err := r.Maintenance.Repair(ctx); err != nil {
		return err
	}
	if err := r.drop(ctx, state.Previous); err != nil {
		return err
	}
	r.Log.Info("the vectors of the previous embedding model were dropped", zap.String("model", state.Previous.Model))
	return nil
}

// drop drops the collection of the previous space.
func (r *run) drop(ctx context.Context, space memory.Space) error {
	pair, err := r.pair(ctx, space)
	if err != nil {
		return err
	}
	if dropper, ok := pair.Vectors.(vectorstore.Dropper); ok {
		if err := dropper.Drop(ctx); err != nil {
			return err
		}
	}
	r.Switch.remove(space)
	return r.Records.DropPrevious(ctx)
}
