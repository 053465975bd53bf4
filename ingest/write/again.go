package write

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/db/jobs"
	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// JudgeAgain is a job: the judge gave no verdict on memories, which were kept. It is stored with them.
type JudgeAgain struct {
	jobs.Background `json:"-"`

	AppID     string    `json:"app_id"`
	UserID    string    `json:"user_id"`
	MemoryIDs []string  `json:"memory_ids"`
	Since     time.Time `json:"since"`
}

// Kind is the name that the job is stored under.
func (JudgeAgain) Kind() string { return "judge_again" }

const (
	firstAgain = 30 * time.Second // before memories are judged again
	lastAgain  = 24 * time.Hour   // after which the job fails
)

// Again is the result of the job.
type Again struct {
	Judged int `json:"judged"` // memories, since the job was stored
	Left   int `json:"left"`   // memories without a verdict
}

// judgeLater stores a job for the memories without a verdict. Memories of one transaction have one owner.
func (t *transaction) judgeLater(ctx context.Context) error {
	if len(t.undecided) == 0 {
		return nil
	}
	job := JudgeAgain{Since: memory.Instant(t.w.Now())}
	for _, m := range t.undecided {
		job.AppID, job.UserID = m.AppID, m.UserID
		job.MemoryIDs = append(job.MemoryIDs, m.ID)
	}
	return t.tx.Enqueue(ctx, job)
}

// WorkAgain does the job. While the judge gives no verdict, the job waits half its age each time.
func (w *Writer) WorkAgain(ctx context.Context, job JudgeAgain) (any, error) {
	age := w.Now().Sub(job.Since)
	if age < firstAgain {
		return nil, jobs.Later(firstAgain - age)
	}
	owner := memory.Owner{AppID: job.AppID, UserID: job.UserID}
	left, err := w.judgeAgain(ctx, owner, job.MemoryIDs)
	result := Again{Judged: len(job.MemoryIDs) - left, Left: left}
	switch {
	case err != nil:
		return nil, err
	case left == 0:
		return result, nil
	case age < lastAgain:
		return result, jobs.Later(max(firstAgain, age/2))
	}
	return result, memory.Errorf(memory.KindUnavailable, "the judge gave no verdict on %d memories for %s", left, age)
}

// judgeAgain compares memories with those near them and applies the verdicts. It counts the memories without a verdict.
// Those that are not active any more need no verdict.
func (w *Writer) judgeAgain(ctx context.Context, owner memory.Owner, ids []string) (left int, err error) {
	ctx = llm.ForApp(ctx, owner.AppID)
	defer w.enterLine(ctx, owner)()
	memories, err := w.Records.Hydrate(ctx, owner, ids, ids)
	if err != nil || len(memories) == 0 {
		return 0, err
	}
	drafts := make([]Draft, len(memories))
	for i, m := range memories {
		drafts[i] = Draft{Memory: m, Compare: Judged}
	}
	compared, err := w.compare(ctx, owner, drafts, ids)
	if err != nil {
		return 0, err
	}
	var t *transaction
	err = w.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		t = &transaction{Recorder: history.NewRecorder(tx, "judged again", w.Now()), w: w, tx: tx}
		left = 0
		for i, d := range drafts {
			isRevised := false
			if !compared.findings[i].failed {
				var err error
				if isRevised, err = t.revise(ctx, d, compared.findings[i]); err != nil {
					return err
				}
			}
			if !isRevised {
				left++
			}
		}
		if err := t.flush(ctx); err != nil {
			return err
		}
		return t.Flush(ctx)
	})
	if err != nil {
		return 0, err
	}
	w.push(ctx, owner, t)
	w.Log.Info("memories are judged again", zap.Int("judged", len(drafts)-left), zap.Int("left", left))
	return left, nil
}

// revise applies verdicts to a stored memory, unless the memory or those near it have changed since the comparison.
func (t *transaction) revise(ctx context.Context, d Draft, f finding) (isRevised bool, err error) {
	ids := []string{d.ID}
	for _, v := range f.verdicts {
		ids = append(ids, v.id)
	}
	rows, err := t.tx.Memories(ctx, ids)
	if err != nil {
		return false, err
	}
	var known []*memory.Memory
	var own *memory.Memory
	for i := range rows {
		switch {
		case rows[i].ID == d.ID:
			own = &rows[i]
		case rows[i].Status == memory.Active || rows[i].Status == memory.Consolidated:
			known = append(known, &rows[i])
		}
	}
	switch {
	case own == nil || own.Status != memory.Active:
		return true, nil
	case own.Revision != d.Revision || len(unchanged(known, f.verdicts)) < len(known):
		return false, nil
	}
	c, settled := decided(d, known, f)
	if !settled {
		return true, nil
	}
	return true, t.applyTo(ctx, own, c)
}

// applyTo changes a stored memory into what its draft would have become.
func (t *transaction) applyTo(ctx context.Context, own *memory.Memory, c change) error {
	if c.into != nil {
		if err := t.merge(ctx, c); err != nil {
			return err
		}
		one := judge.Verdict{Relation: memory.Refines, Why: c.reason}
		if err := t.supersede(ctx, own, c.into.ID, one, own.SourceTurnID); err != nil {
			return err
		}
		return t.replace(ctx, c.into, c, own.SourceTurnID)
	}
	before := *own
	own.Content, own.Lexemes = c.draft.Content, c.draft.Lexemes
	own.Embed(c.draft.Embedding, c.draft.EmbeddingModel)
	own.CreatedAt, own.Pinned = c.draft.CreatedAt, own.Pinned || c.draft.Pinned
	if difference := history.Diff(before, *own); difference != nil {
		t.Note(own.ID, memory.EventUpdated, difference)
		if err := t.update(ctx, before, own); err != nil {
			return err
		}
	}
	return t.replace(ctx, own, c, own.SourceTurnID)
}
