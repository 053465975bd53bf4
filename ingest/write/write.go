// Package write turns drafts of one user into memories:
//
//	drafts -> nearest         what each may concern: searched and read before the user's lock is taken
//	       -> single, judged  what each means for those, by rules of single attributes or by a model
//	       -> one transaction: same, or decided by these verdicts, or merged by similarity, or a memory of its own
//	       -> stored with its events and relations -> pushed to the vector store
//
// The batches of a user are compared one after the other. If another process has written what may concern a draft since
// it was compared, the draft is compared again. A verdict applies only to a memory that has not changed since.
package write

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/db/zones"
	"hippocampus/ingest/judge"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/ownerlock"
	"hippocampus/internal/tracing"
	"hippocampus/scorer/attribute"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/projection"
)

// Records is the part of the database that a Writer uses.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
	Revision(ctx context.Context, owner memory.Owner) (int64, error)
	Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	FactTimes(ctx context.Context, owner memory.Owner, limit int) ([]db.Position, error)
	CondensedFacts(ctx context.Context, owner memory.Owner, limit int) ([]memory.Memory, error)
	CondensedTimes(ctx context.Context, owner memory.Owner, limit int) ([]db.Position, error)
	Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
	Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error)
	Superseded(ctx context.Context, owner memory.Owner, by string) ([]memory.Memory, error)
}

// Searcher finds similar memories.
type Searcher interface {
	Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error)
}

// Settings of the comparison; server/config states their defaults and ranges.
type Settings struct {
	MergeSimilarity float64       // cosine from which two memories are one
	JudgeSimilarity float64       // cosine from which the judge is asked about two memories; negative: by Calibration
	JudgeTimeout    time.Duration // of all judgements of a batch; afterwards both memories are kept
	OwnWindow       time.Duration // how long a confirmed write may be missing from searches
	OwnLimit        int           // unconfirmed memories compared, newest first
	FallbackLimit   int           // memories compared if the vector store is unavailable, newest first
}

// Parts are what a Writer works with.
type Parts struct {
	Records  Records
	Judge    judge.Judge // nil: rules replace single attributes, such as the home, and similar memories are merged
	Embedder llm.Embedder
	Vectors  Searcher
	Pusher   projection.Pusher
	// Calibration returns what the similarities of a space mean, zero if that is not known. It may be nil if
	// JudgeSimilarity is not negative.
	Calibration func(space memory.Space) memory.Calibration
	// OnWritten is called after memories of a user other than messages were added or changed. It must not block. It
	// may be nil.
	OnWritten func(owner memory.Owner)
	// OnGrown is called after memories were added for a user, and keeps their number within its bound. The write waits
	// for it. It may be nil.
	OnGrown func(ctx context.Context, owner memory.Owner, added int)
	Zone    zones.Finder // of the days in prompts of the judge
	Now     func() time.Time
	Log     *zap.Logger
}

// Writer writes drafts.
type Writer struct {
	Parts
	set Settings

	claims    *lru.Cache[string, []attribute.Claim] // by statement
	changes   *lru.Cache[string, attribute.Change]  // by statement
	facts     *cache.Cache[[]memory.Memory]         // newest active ones of an owner, latest changed first
	condensed *cache.Cache[[]memory.Memory]         // newest condensed ones, likewise

	lines     ownerlock.Locks // of the batches of a user
	undecided atomic.Int64
}

const (
	maxClaims = 20_000   // statements whose claims, and whose changes, are cached
	maxFacts  = 16 << 20 // bytes of cached facts
)

// New makes a writer.
func New(parts Parts, set Settings) *Writer {
	if parts.OnWritten == nil {
		parts.OnWritten = func(memory.Owner) {}
	}
	if parts.OnGrown == nil {
		parts.OnGrown = func(context.Context, memory.Owner, int) {}
	}
	claims, _ := lru.New[string, []attribute.Claim](maxClaims) // fails only for a size below 1
	changes, _ := lru.New[string, attribute.Change](maxClaims)
	return &Writer{
		Parts: parts, set: set, claims: claims, changes: changes, facts: cache.New[[]memory.Memory](maxFacts),
		condensed: cache.New[[]memory.Memory](maxFacts),
		lines:     ownerlock.Locks{MaxWaiting: maxWaiting},
	}
}

// Comparison says how a draft is compared with the user's active memories.
type Comparison int

// The comparisons.
const (
	Alone        Comparison = iota // not at all: it becomes a memory of its own
	ByRules                        // by rules of single attributes: it may replace memories, and becomes one of its own
	Judged                         // by the judge; without one as WithoutModel
	WithoutModel                   // by its words, by rules of single attributes, and by its similarity
)

// Draft is a memory that is to be written.
type Draft struct {
	memory.Memory // complete, see Complete
	Compare       Comparison
	// Least is positive for a draft that was derived from known memories. Without the judge's answer it is then merged
	// into a memory from this cosine on, and that memory keeps its wording.
	Least  float64
	Source string // id of the message that the fact was taken from, another draft of the batch; may be empty
	detail any    // of the event of its creation; may be nil
}

func (d Draft) isCompared() bool { return d.Compare != Alone }

// mayMerge reports whether a memory that says the same may hold the draft.
func (d Draft) mayMerge() bool { return d.Compare == Judged || d.Compare == WithoutModel }

// Written is the memory that holds a draft, and the verdict.
type Written struct {
	Memory  memory.Memory  // as it is at the end of the transaction
	Verdict memory.Verdict // Kept, Duplicate or Merged
	Reason  string         // why this verdict, for people
}

// Batch holds drafts of one user that are written in one transaction.
type Batch struct {
	Owner  memory.Owner
	Cause  string // recorded with each event
	Drafts []Draft
	// First runs at the beginning of the transaction, and Also after the memories were stored, with the result of each
	// draft. An error of either rolls everything back. Both may run more than once, and may be nil.
	First func(ctx context.Context, tx db.UserTx) error
	Also  func(ctx context.Context, tx db.UserTx, changes *history.Recorder, written []Written) error
}

// Write takes drafts through the stages of the package and returns the result of each. Every draft is compared with the
// earlier ones too.
func (w *Writer) Write(ctx context.Context, b Batch) (written []Written, err error) {
	b.Drafts = w.sparing(b.Drafts)
	if slices.ContainsFunc(b.Drafts, Draft.isCompared) {
		defer w.enterLine(ctx, b.Owner)()
	}
	for attempt := 1; ; attempt++ {
		compared, err := w.compare(ctx, b.Owner, b.Drafts, nil)
		if err != nil {
			return nil, err
		}
		compared.isLast = attempt == maxComparisons
		if written, err = w.writeCompared(ctx, b, compared); !errors.Is(err, errOutdated) {
			return written, err
		}
	}
}

// maxWaiting bounds the batches of one user that wait, since each occupies a worker that other users may need.
const maxWaiting = 3

// enterLine waits until the user's other batches are written, so that a batch is compared with what the one before it
// has written. It does not wait for longer than a judgement may take, and not at all if maxWaiting others wait. leave
// must be called in any case.
func (w *Writer) enterLine(ctx context.Context, owner memory.Owner) (leave func()) {
	ctx, cancel := context.WithTimeout(ctx, w.set.JudgeTimeout)
	defer cancel()
	leave, err := w.lines.Acquire(ctx, owner)
	if err != nil {
		return func() {}
	}
	return leave
}

// maxComparisons bounds how often a batch is compared again because other processes write for the same user.
const maxComparisons = 3

// errOutdated rolls back a transaction whose drafts were compared before something that may concern them was written.
var errOutdated = errors.New("what may concern a draft was written since it was compared")

func (w *Writer) writeCompared(ctx context.Context, b Batch, compared comparison) (written []Written, err error) {
	ctx, writes := tracing.Start(ctx, "ingest.write")
	defer func() { tracing.End(writes, err) }()
	var t *transaction
	err = w.Records.InUser(ctx, b.Owner, func(ctx context.Context, tx db.UserTx) (err error) {
		if b.First != nil {
			if err := b.First(ctx, tx); err != nil {
				return err
			}
		}
		changes := history.NewRecorder(tx, b.Cause, w.Now())
		t = &transaction{Recorder: changes, w: w, tx: tx}
		if written, err = t.write(ctx, b.Drafts, compared); err != nil {
			return err
		}
		if b.Also != nil {
			if err := b.Also(ctx, tx, changes, written); err != nil {
				return err
			}
		}
		return t.Flush(ctx)
	})
	if err != nil {
		return nil, err
	}
	w.push(ctx, b.Owner, t)
	return written, nil
}

// Compare finds out what new memories of one owner, which another service makes, mean for the active memories near
// them, except for those whose ids are in except: usually their sources. It asks the judge, so it must run before the
// owner's transaction. The drafts must be complete.
//
// The returned function applies the decisions. A draft with an id that Compare has not seen is compared only with
// what the transaction finds without the judge. Errors of Compare are those of the stores; a judge that fails keeps
// all memories.
func (w *Writer) Compare(ctx context.Context, owner memory.Owner, memories []memory.Memory, except []string) (
	history.Settle, error,
) {
	drafts := make([]Draft, len(memories))
	for i, m := range memories {
		drafts[i] = Draft{Memory: m, Compare: Judged}
	}
	compared, err := w.compare(ctx, owner, drafts, except)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]finding, len(drafts))
	for i, d := range drafts {
		byID[d.ID] = compared.findings[i]
	}
	return func(ctx context.Context, tx db.UserTx, changes *history.Recorder, settled []history.Draft) (
		[]memory.Memory, error,
	) {
		drafts, findings := make([]Draft, len(settled)), make([]finding, len(settled))
		for i, d := range settled {
			drafts[i] = Draft{Memory: d.Memory, Compare: Judged, detail: d.Detail}
			findings[i] = byID[d.ID]
		}
		t := &transaction{Recorder: changes, w: w, tx: tx, except: except}
		written, err := t.write(ctx, drafts, comparison{
			findings: findings, seen: compared.seen, begun: compared.begun, isLast: true,
		})
		if err != nil {
			return nil, err
		}
		held := make([]memory.Memory, len(written))
		for i := range written {
			held[i] = written[i].Memory
		}
		return held, nil
	}, nil
}

// Undecided counts the judgements that failed.
func (w *Writer) Undecided() int64 { return w.undecided.Load() }

// Purge drops the cached facts and claims of all users. It is called when a user is erased.
func (w *Writer) Purge() {
	w.facts.Purge()
	w.condensed.Purge()
	w.claims.Purge()
	w.changes.Purge()
}
