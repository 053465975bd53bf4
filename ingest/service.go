package ingest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/ingest/judge"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/scorer/attribute"
	"hippocampus/vectorstore"
)

// Records is the part of the database that ingest uses.
type Records interface {
	db.Turns
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	HandedOut(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
	Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	FactTimes(ctx context.Context, owner memory.Owner, limit int) ([]db.Position, error)
	Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error)
	Proposals(ctx context.Context, appID string, ids []string) ([]db.Proposal, error)
}

// Searcher finds similar memories.
type Searcher interface {
	Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error)
}

// Pusher brings committed changes to the vector store; see vectorstore/projection.
type Pusher interface {
	ClaimedUntil() time.Time
	PushNew(ctx context.Context, memories []memory.Memory)
	Push(ctx context.Context, ids []string)
}

// Settings of the gate and of the work on turns; server/config states their
// defaults and ranges.
type Settings struct {
	Threshold       float64       // importance from which a fact is kept
	MinImportance   float64       // from which a direct write is accepted
	Messages        bool          // keep the chat messages of turns also
	AnswerRunes     int           // characters of an assistant's message that are kept, besides list items
	EchoWindow      time.Duration // how long a recalled memory can be echoed
	MergeSimilarity float64       // cosine from which two memories are one
	JudgeSimilarity float64       // cosine from which the judge is asked about two memories; negative: by Calibration
	JudgeTimeout    time.Duration // of all judgements of a turn or batch; afterwards both are kept
	OwnWindow       time.Duration // how long a confirmed write may be missing from searches
	OwnLimit        int           // unconfirmed memories compared, newest first
	FallbackLimit   int           // memories compared if the vector store is unavailable, newest first
	Before          int           // chat messages before a turn that the scorer is given
	Attempts        int           // failures other than unavailable parts after which a turn has failed
	RetryDelay      time.Duration // after the first failed attempt; doubles
	RetryLimit      time.Duration
	GiveUp          time.Duration // age at which a turn that cannot be scored has failed
	Lease           time.Duration // time until a turn is due again that is not renewed
	Renew           time.Duration // between renewals
	Workers         int           // turns processed at a time; 0: 8
	Timeout         time.Duration // of processing one turn
	MaxLag          time.Duration // see Lag; above it, Accept refuses turns; 0: it accepts all
	Drain           time.Duration // of the turns in progress when Work ends
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Scorer   scorer.Scorer
	Judge    judge.Judge // nil: rules replace single attributes, such as the home, and similar memories are merged
	Embedder llm.Embedder
	Vectors  Searcher
	Pusher   Pusher
	Guess    func(content string) memory.Domain // for a direct write without a domain
	// Calibration returns what the similarities of a space mean, zero if that is not known. It may be nil if
	// JudgeSimilarity is not negative.
	Calibration func(space memory.Space) memory.Calibration
	// IsSmallTalk reports whether a text consists of greetings, thanks and fillers alone.
	IsSmallTalk func(text string) bool
	// OnWritten is called for each user of whom a turn or a write has changed memories other than
	// messages. It must not block.
	OnWritten func(owner memory.Owner)
	// OnAccepted is called for each turn that has just been stored. It must not block.
	OnAccepted func(turn memory.Turn)
	// OnProcessed is called for each turn that was processed, whatever the outcome. A turn
	// without a conversation may still be about to end.
	OnProcessed func(ctx context.Context, turn memory.Turn)
	// OnGrown is called after memories were added for a user, and keeps their number within
	// its bound. The write waits for it.
	OnGrown func(ctx context.Context, owner memory.Owner, added int)
	Now     func() time.Time
	Log     *zap.Logger
}

// Service writes.
type Service struct {
	Parts
	set Settings

	scored *lru.Cache[string, []scorer.Fact]     // answers by turn id, until the turn is finished
	claims *lru.Cache[string, []attribute.Claim] // by statement
	facts  *cache.Cache[[]memory.Memory]         // newest of an owner, latest changed first

	idle  chan struct{} // holds a value for each idle worker, while Work runs
	taken chan taken    // turns, each of which has a reserved worker
	due   chan struct{} // signals that a turn is due
	ended *batcher      // held turns that are to be ended; open while Work runs

	lag atomic.Int64 // see Lag; in nanoseconds

	counts         *counts
	undecidedCount atomic.Int64
	refusedCount   atomic.Int64

	mu   sync.Mutex
	held map[string]int // ids of turns that this process renews, with the number of holders
}

const (
	maxScored = 1000     // cached answers of the scorer
	maxClaims = 20_000   // statements whose claims are cached
	maxFacts  = 16 << 20 // bytes of cached facts
)

// New makes a service, whose turns are processed while Work runs.
func New(parts Parts, set Settings) *Service {
	if parts.IsSmallTalk == nil {
		parts.IsSmallTalk = func(string) bool { return false }
	}
	if parts.OnWritten == nil {
		parts.OnWritten = func(memory.Owner) {}
	}
	if parts.OnAccepted == nil {
		parts.OnAccepted = func(memory.Turn) {}
	}
	if parts.OnProcessed == nil {
		parts.OnProcessed = func(context.Context, memory.Turn) {}
	}
	if parts.OnGrown == nil {
		parts.OnGrown = func(context.Context, memory.Owner, int) {}
	}
	if set.Workers == 0 {
		set.Workers = 8
	}
	scored, _ := lru.New[string, []scorer.Fact](maxScored) // fails only for a size below 1
	claims, _ := lru.New[string, []attribute.Claim](maxClaims)
	return &Service{
		Parts: parts, set: set, scored: scored, claims: claims, held: map[string]int{},
		facts: cache.New[[]memory.Memory](maxFacts),
		idle:  make(chan struct{}, set.Workers), taken: make(chan taken, set.Workers),
		due: make(chan struct{}, 1), ended: newBatcher(), counts: newCounts(),
	}
}

// ProcessTurn is a job of older versions, which queued turns as jobs.
type ProcessTurn struct {
	TurnID string `json:"turn_id"`
}

// Kind is the name that the job is stored under.
func (ProcessTurn) Kind() string { return "process_turn" }

// RunLegacyJob makes the turn of a job due, unless it is no longer accepted.
func (s *Service) RunLegacyJob(ctx context.Context, job ProcessTurn) error {
	err := s.Records.RenewTurns(ctx, []string{job.TurnID}, s.Now())
	signal(s.due)
	return err
}
