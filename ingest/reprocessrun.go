package ingest

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/db/jobs"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// ReprocessTurns is a job: it scores the turns of a run again, or undoes that.
type ReprocessTurns struct {
	jobs.Lasting `json:"-"`

	AppID string `json:"app_id"`
	RunID string `json:"run_id"`
	Undo  bool   `json:"undo,omitempty"`
}

// Kind is the name that the job is stored under.
func (ReprocessTurns) Kind() string { return "reprocess_turns" }

// Bounds of one slice of the job, after which other jobs get their turn.
const (
	reprocessTurns = 20
	reprocessSlice = 20 * time.Second
)

const (
	firstReprocessWait = 10 * time.Second // while a model or a store is unavailable, at first and later
	nextReprocessWait  = 30 * time.Second
	lastReprocessWait  = 10 * time.Minute
	reprocessPause     = 500 * time.Millisecond // while accepted turns wait for a worker
)

// Reprocess begins to score turns again, in the order in which they were said; see WorkReprocess. An empty UserID means
// all users of the app. KindConflict: another run of one of the users has not ended.
func (s *Service) Reprocess(ctx context.Context, of memory.Owner, sel memory.TurnSelection) (
	memory.Reprocessing, error,
) {
	r := memory.Reprocessing{
		ID: memory.NewID(), Owner: of, Selection: sel, State: memory.ReprocessingRuns, CreatedAt: memory.Instant(s.Now()),
	}
	return r, s.Records.BeginReprocessing(ctx, r, ReprocessTurns{AppID: of.AppID, RunID: r.ID})
}

// UndoReprocess begins to change back what a run has changed, unless something else has changed it since. A run that
// has not ended is stopped. KindConflict: a later run of the same user is not undone.
func (s *Service) UndoReprocess(ctx context.Context, appID, id string) (memory.Reprocessing, error) {
	return s.Records.UndoReprocessing(ctx, appID, id, ReprocessTurns{AppID: appID, RunID: id, Undo: true})
}

// WorkReprocess does the job in slices. It lets turns that wait for a worker go first, and waits while a model or a
// store is unavailable. A killed job continues with the turn that it was at.
func (s *Service) WorkReprocess(ctx context.Context, job ReprocessTurns) (any, error) {
	ctx = llm.ForApp(ctx, job.AppID)
	state := memory.ReprocessingRuns
	if job.Undo {
		state = memory.ReprocessingUndoing
	}
	begin := s.Now()
	for n := 0; n < reprocessTurns && s.Now().Sub(begin) < reprocessSlice; n++ {
		r, err := s.Records.Reprocessing(ctx, job.AppID, job.RunID)
		if memory.IsKind(err, memory.KindNotFound) || err == nil && r.State != state {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if due, err := s.Records.LongestDue(ctx); err == nil && n > 0 && !due.IsZero() && due.Before(s.Now()) {
			return r.Counts, jobs.Later(reprocessPause)
		}
		step := s.stepReprocess
		if job.Undo {
			step = s.stepUndo
		}
		done, err := step(ctx, r)
		switch {
		case errors.Is(err, db.ErrReprocessing): // undone, or another worker is at it: look again
		case memory.IsKind(err, memory.KindUnavailable):
			return s.waitReprocess(ctx, r, err)
		case err != nil:
			return r.Counts, err
		case done:
			return nil, nil
		}
	}
	return nil, jobs.Later(0)
}

// waitReprocess notes why a run waits, and runs its job again later.
func (s *Service) waitReprocess(ctx context.Context, r memory.Reprocessing, cause error) (any, error) {
	wait := firstReprocessWait
	if r.Note != "" {
		wait = nextReprocessWait
	}
	var e *memory.Error
	if errors.As(cause, &e) {
		wait = max(wait, e.RetryAfter)
	}
	waits := r
	waits.Note = excerpt("waits: " + cause.Error())
	if err := s.Records.AdvanceReprocessing(ctx, r, waits); err != nil {
		s.Log.Warn("why turns are not scored again could not be noted", zap.String("run", r.ID), zap.Error(err))
	}
	return r.Counts, jobs.Later(min(wait, lastReprocessWait))
}

// stepReprocess scores the next turn of a run again, or ends the run.
func (s *Service) stepReprocess(ctx context.Context, r memory.Reprocessing) (done bool, err error) {
	next, err := s.nextTurn(ctx, r)
	if err != nil {
		return false, err
	}
	to := r
	to.Note = ""
	if next == (memory.TurnPlace{}) {
		to.State, to.EndedAt = memory.ReprocessingDone, memory.Instant(s.Now())
		return true, s.Records.AdvanceReprocessing(ctx, r, to)
	}
	to.Place = next
	err = s.reprocessTurn(ctx, r, to)
	switch {
	case err == nil, errors.Is(err, db.ErrReprocessing), memory.IsKind(err, memory.KindUnavailable), ctx.Err() != nil:
		return false, err
	case errors.Is(err, errReadAgain), errors.Is(err, errOutdated):
		return false, db.ErrReprocessing // it changed while it was read: look again
	case errors.Is(err, db.ErrErasing), memory.IsKind(err, memory.KindNotFound):
		to.Counts.Skipped++
	default:
		to.Counts.Failed++
		s.Log.Warn("a turn could not be scored again: it stays as it was",
			zap.String("run", r.ID), zap.String("turn", next.TurnID), zap.Error(err))
	}
	return false, s.Records.AdvanceReprocessing(ctx, r, to)
}

// reprocessTurn scores the turn that a run comes to again. First it takes back what is not stated again, as
// takeBackRules does, so that what comes is compared without that; both transactions note what an undo needs.
func (s *Service) reprocessTurn(ctx context.Context, from, to memory.Reprocessing) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = memory.Errorf(memory.KindInternal, "scoring the turn again panicked: %v", p)
		}
	}()
	turn, err := s.Records.Turn(ctx, to.AppID, to.Place.TurnID)
	if err != nil {
		return err
	}
	a, err := s.rescore(ctx, turn)
	if err != nil {
		return err
	}
	if a.Skipped != "" {
		to.Counts.Skipped++
		return s.Records.AdvanceReprocessing(ctx, from, to)
	}
	run := &rescoredTurn{rescoring: a, from: from, to: to, note: memory.ReprocessedTurn{
		RunID: to.ID, Owner: turn.Owner, At: to.Place.At, TurnID: turn.ID,
	}}
	if len(a.taking.batch)+len(a.taking.planned)+len(a.refits) > 0 {
		if err := s.inUserBy(ctx, turn.Owner, run.cause(), run.takeBack); err != nil {
			return err
		}
	}
	return run.write(ctx)
}

// rescoredTurn writes what scoring a turn again has changed.
type rescoredTurn struct {
	*rescoring
	from, to memory.Reprocessing
	note     memory.ReprocessedTurn
}

func (t *rescoredTurn) cause() string { return causeOf(t.Turn) + scoring + t.to.ID }

// begin reads what is noted of the turn. It returns db.ErrReprocessing if the run is not at the turn any more.
func (t *rescoredTurn) begin(ctx context.Context, tx db.UserTx) error {
	turn, ok, err := tx.RecordedTurn(ctx, t.Turn.ID)
	switch {
	case err != nil:
		return err
	case !ok || turn.Status != memory.TurnProcessed || forgottenOf(turn) != forgottenOf(t.Turn):
		return errReadAgain
	}
	if err := tx.AdvanceReprocessing(ctx, t.from, t.from); err != nil {
		return err
	}
	note, ok, err := tx.Reprocessed(ctx, t.note)
	if err == nil && ok {
		t.note = note
	}
	return err
}

// changed notes the memories that a transaction has changed.
func (t *rescoredTurn) changed(changes *history.Recorder) {
	ids := slices.Concat(t.note.Before.Memories, changes.Noted())
	slices.Sort(ids)
	t.note.Before.Memories = slices.Compact(ids)
}

// takeBack forgets what is not stated again, and gives what is stated again its new fields.
func (t *rescoredTurn) takeBack(ctx context.Context, tx db.UserTx, changes *history.Recorder) error {
	if err := t.begin(ctx, tx); err != nil {
		return err
	}
	if _, err := t.taking.change(ctx, tx, changes); err != nil {
		return err
	}
	for _, f := range t.refits {
		if _, err := revise(ctx, tx, changes, []string{f.id}, memory.EventUpdated, func(m *memory.Memory) error {
			f.apply(m)
			return nil
		}); err != nil {
			return err
		}
	}
	t.changed(changes)
	return tx.NoteReprocessed(ctx, t.note)
}

// write writes what is added, and replaces the candidates of the turn.
func (t *rescoredTurn) write(ctx context.Context) error {
	pending := slices.Clone(t.candidates)
	for i := range pending {
		if t.held[pending[i].ID] {
			pending[i].Verdict = memory.Duplicate // it needs no draft
		}
	}
	said, _ := t.messages(t.r.turn, memory.LastSpoken(t.r.before), t.r.echoes)
	messages, err := t.Service.stored(ctx, t.r.turn, said)
	if err != nil {
		return err
	}
	drafts, places, _, err := t.drafts(ctx, t.r.turn, pending, messages, true)
	if err != nil {
		return err
	}
	written := slices.Clone(t.candidates)
	_, err = t.Writer.Write(ctx, write.Batch{
		Owner: t.Turn.Owner, Cause: t.cause(), Drafts: drafts,
		First: func(ctx context.Context, tx db.UserTx) error { return t.begin(ctx, tx) },
		Also: func(ctx context.Context, tx db.UserTx, changes *history.Recorder, results []write.Written) error {
			copy(written, t.candidates)
			for i, w := range results {
				settle(&written[places[i]], w)
			}
			for i := range pending {
				if pending[i].Verdict == memory.InvalidAnswer { // no search would find it
					written[i].Verdict, written[i].Reason = pending[i].Verdict, pending[i].Reason
				}
			}
			t.changed(changes)
			return t.finish(ctx, tx, written)
		},
	})
	return err
}

// finish replaces the candidates of the turn, and lets the run go on.
func (t *rescoredTurn) finish(ctx context.Context, tx db.UserTx, written []memory.Candidate) error {
	before := &t.note.Before
	before.Candidates, before.Scored = t.replaced, t.Turn.Scored
	before.New = nil
	var dropped []string
	for _, c := range t.replaced {
		dropped = append(dropped, c.ID)
	}
	to := t.to
	for _, c := range written {
		before.New = append(before.New, c.ID)
		if c.MemoryID != "" && !t.held[c.ID] && c.Verdict != memory.Echo {
			to.Counts.Added++
		}
	}
	to.Counts.Turns++
	to.Counts.Kept += len(t.Kept)
	to.Counts.Removed += len(t.Removed)
	if err := tx.DropCandidates(ctx, t.Turn.ID, dropped); err != nil {
		return err
	}
	if err := tx.AddCandidates(ctx, written); err != nil {
		return err
	}
	if err := tx.NoteScoring(ctx, t.Turn.ID, t.r.turn.Scored); err != nil {
		return err
	}
	t.note.Written = true
	if err := tx.NoteReprocessed(ctx, t.note); err != nil {
		return err
	}
	return tx.AdvanceReprocessing(ctx, t.from, to)
}
