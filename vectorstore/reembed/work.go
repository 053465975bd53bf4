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

// Result is what one job did.
type Result struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Embedded    int    `json:"embedded"`               // memories that got a new embedding
	Failed      int    `json:"failed,omitempty"`       // memories that the embedder refuses, at the last try
	Copied      int    `json:"copied,omitempty"`       // memories copied to the new collection
	ChangedOver bool   `json:"changed_over,omitempty"` // the new model serves
	Remaining   int    `json:"remaining"`              // memories without a new embedding
	Note        string `json:"note,omitempty"`         // why it ended before everything was done
}

// errSlice ends a job whose time is over.
var errSlice = errors.New("another job goes on")

// Work does what there is to do, for a slice of time. Whatever it leaves, or is
// killed in, the next one goes on with.
func (s *Service) Work(ctx context.Context) (Result, error) {
	var done Result
	ctx, release, err := s.hold(ctx)
	if err != nil {
		return done, err
	}
	if release == nil {
		done.Note = "another replica is at it"
		return done, nil
	}
	defer release()
	r := run{s, s.Now().Add(s.set.Slice), &done}
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
			if err = r.able(state.Serving); err == nil {
				_, err = r.embedAll(ctx, state.Serving, true)
			}
			if err == nil {
				return done, nil
			}
		}
	}
	if errors.Is(err, errSlice) {
		if done.Note == "" {
			done.Note = errSlice.Error()
		}
		err = nil
	}
	if p := s.Progress(); p.Target.Model != "" {
		done.Remaining = p.Remaining
	}
	return done, err
}

// hold takes the lease and renews it until release is called, which gives it
// back; release is nil where another replica has it. The context ends when the
// lease is lost.
func (s *Service) hold(ctx context.Context) (held context.Context, release func(), err error) {
	take := func(ctx context.Context, lease time.Duration) (bool, error) {
		now := s.Now()
		return s.Records.HoldReembedding(ctx, s.holder, now, now.Add(lease))
	}
	ok, err := take(ctx, s.set.Lease)
	if err != nil || !ok {
		return ctx, nil, err
	}
	held, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(s.set.Lease / 4)
		defer ticker.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-ticker.C:
				if ok, err := take(held, s.set.Lease); err == nil && !ok {
					cancel(memory.Errorf(memory.KindUnavailable, "re-embedding has been taken over by another replica"))
				}
			}
		}
	}()
	return held, func() {
		cancel(nil)
		<-ended
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), s.set.Lease)
		defer stop()
		if _, err := take(last, 0); err != nil {
			s.Log.Warn("re-embedding goes on when the lease has run out", zap.Error(err))
		}
	}, nil
}

// run is one job under way.
type run struct {
	*Service
	until time.Time
	done  *Result
}

// over reports whether the job's time is over.
func (r *run) over() bool { return !r.Now().Before(r.until) }

// wait waits, but no longer than the job may take.
func (r *run) wait(ctx context.Context, d time.Duration) error {
	if r.over() {
		return errSlice
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

// longPass is what a pass may take for changes since its beginning to be few.
const longPass = time.Minute

// change embeds everything for the target and, when no more than a rest is
// left, fills a fresh collection and changes over.
func (r *run) change(ctx context.Context, state db.ServingState) error {
	if err := r.able(state.Target); err != nil {
		return err
	}
	since := r.Now().Add(-r.set.Grace)
	left, err := r.embedAll(ctx, state.Target, false)
	if err != nil {
		return err
	}
	if left > r.set.Rest || r.Now().Sub(since) > r.set.Grace+longPass {
		if r.over() {
			return errSlice
		}
		return nil // once more: what was written meanwhile should be little
	}
	pair, err := r.pair(ctx, state.Target)
	if err != nil {
		return err
	}
	store, ok := pair.Vectors.(vectorstore.Rebuilder)
	if !ok {
		return memory.Errorf(memory.KindConflict, "the vector store cannot be filled while it serves")
	}
	if _, r.done.Copied, err = r.Keep.Fill(ctx, store, state.Target); err != nil {
		return err
	}
	// What the copy may lack is found in the database, as own writes are, when
	// the change comes, and pushed after it.
	if _, err := r.Keep.RequeueSince(ctx, since); err != nil {
		return err
	}
	if err := r.Records.ChangeOver(ctx, state.Target, memory.Instant(since), memory.Instant(r.Now())); err != nil {
		return err
	}
	r.done.ChangedOver = true
	r.Log.Info("the new embedding model serves", zap.String("from", state.Serving.Model), zap.String("to", state.Target.Model))
	return nil
}

// able ends the job where another replica has to do it.
func (r *run) able(space memory.Space) error {
	if r.Able(space) {
		return nil
	}
	r.done.Note = "this replica is not configured for " + space.Model
	return errSlice
}

// finish brings what was written around the change-over into the new
// collection, and drops the former one when nobody can be using it any more.
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
		if _, err := r.Keep.RequeueSince(ctx, state.CopiedAt); err != nil {
			return err
		}
		r.requeued = state.ChangedAt
	}
	left := 0
	if state.Target == state.Serving { // else they are embedded for the next one
		if err := r.able(state.Serving); err != nil {
			return err
		}
		if left, err = r.embedAll(ctx, state.Serving, true); err != nil {
			return err
		}
	}
	for n := 1; n > 0; {
		if n, err = r.Records.SettleEmbeddings(ctx, state.Serving, r.set.Page); err != nil {
			return err
		}
	}
	if left > r.done.Failed || r.Now().Before(state.ChangedAt.Add(r.set.Keep)) {
		return r.wait(ctx, r.set.Look)
	}
	// Rows that were erased around the change-over are known to no copy.
	if _, err := r.Keep.Repair(ctx); err != nil {
		return err
	}
	if err := r.drop(ctx, state.Previous); err != nil {
		return err
	}
	r.Log.Info("the former embedding model's vectors are gone", zap.String("model", state.Previous.Model))
	return nil
}

// drop deletes the collection of a space that has served.
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
	r.Switch.take(space)
	return r.Records.DropPrevious(ctx)
}
