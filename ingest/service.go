package ingest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/vectorstore"
)

// Records is what ingest needs of the database.
type Records interface {
	db.Turns
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	HandedOut(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
	Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error)
	Proposals(ctx context.Context, appID string, ids []string) ([]db.Proposal, error)
}

// Searcher finds what the user has already said.
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
	EchoWindow      time.Duration // how long a recalled memory can be echoed
	MergeSimilarity float64       // cosine from which two memories are one
	JudgeSimilarity float64       // cosine from which the judge is asked about two memories
	JudgeTimeout    time.Duration // of all judgements of a turn or batch; afterwards both are kept
	OwnWindow       time.Duration // how long a confirmed write may be missing from searches
	OwnLimit        int           // unconfirmed memories compared, newest first
	FallbackLimit   int           // memories compared while the vector store is away, newest first
	Attempts        int           // bad answers after which a turn has failed
	RetryDelay      time.Duration // after the first failed attempt; doubles
	RetryLimit      time.Duration
	GiveUp          time.Duration // age at which a turn that cannot be scored has failed
	Lease           time.Duration // how long a turn is held without renewal
	Renew           time.Duration // between renewals
	ResumeAfter     time.Duration // when a queued turn that nobody started is queued again
	Workers         int           // turns processed at a time; 0: 8
	Timeout         time.Duration // of processing one that Work was handed
	Drain           time.Duration // how long those under way may take when Work ends
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Scorer   scorer.Scorer
	Judge    judge.Judge // nil: memories that are near and not one are kept
	Embedder llm.Embedder
	Vectors  Searcher
	Pusher   Pusher
	Guess    func(content string, lexemes []string) memory.Domain // of a direct write that names none
	Written  func(owner memory.Owner)                             // hears of each user whose memories a turn or write has changed; it must not wait
	// Accepted hears of each turn that has just become durable; it must not wait.
	Accepted func(turn memory.Turn)
	// Processed hears of each turn that has been worked on, whatever came of it; one
	// without a conversation may be about to end.
	Processed func(ctx context.Context, turn memory.Turn)
	// Grown hears of memories that were added for a user, and keeps their number
	// within its bound; the write waits for it.
	Grown func(ctx context.Context, owner memory.Owner, added int)
	Now   func() time.Time
	Log   *zap.Logger
}

// Service writes.
type Service struct {
	Parts
	set Settings

	scored *lru.Cache[string, []scorer.Fact] // answers whose turns are not finished

	slots    chan struct{}    // holds one for each turn being processed
	fresh    chan memory.Turn // accepted ones, for idle workers
	accepted *together        // turns that are to be enqueued
	ended    *together        // held turns that are to be ended; shut unless Work runs

	undecidedCount atomic.Int64

	mu   sync.Mutex
	held map[string]int // turns that this process is working on, and how often
}

// maxScored is how many answers are kept for turns that wait for something else.
const maxScored = 1000

// New makes a service; Work and Dispatch have its turns worked on, and Run keeps
// them alive.
func New(parts Parts, set Settings) *Service {
	if parts.Written == nil {
		parts.Written = func(memory.Owner) {}
	}
	if parts.Accepted == nil {
		parts.Accepted = func(memory.Turn) {}
	}
	if parts.Processed == nil {
		parts.Processed = func(context.Context, memory.Turn) {}
	}
	if parts.Grown == nil {
		parts.Grown = func(context.Context, memory.Owner, int) {}
	}
	if set.Workers == 0 {
		set.Workers = 8
	}
	scored, _ := lru.New[string, []scorer.Fact](maxScored) // fails only for a size below 1
	return &Service{
		Parts: parts, set: set, scored: scored, held: map[string]int{},
		slots: make(chan struct{}, set.Workers), fresh: make(chan memory.Turn),
		accepted: newTogether(enqueuePace, false), ended: newTogether(endPace, true),
	}
}

// ProcessTurn is the job that scores one turn.
type ProcessTurn struct {
	TurnID string `json:"turn_id"`
}

// Kind is the name that the job is stored under.
func (ProcessTurn) Kind() string { return "process_turn" }

func processTurn(turnID string) db.Job { return ProcessTurn{turnID} }

// resumeBatch is how many overdue turns are queued again at once.
const resumeBatch = 200

// Run renews the turns being worked on, and queues again those that nobody
// works on, be it that their retry is due or that their process died. It ends
// with the context.
func (s *Service) Run(ctx context.Context) {
	renew := time.NewTicker(s.set.Renew)
	defer renew.Stop()
	resume := time.NewTicker(min(s.set.Renew, s.set.RetryDelay))
	defer resume.Stop()
	for {
		select {
		case <-renew.C:
			s.renew(ctx)
		case <-resume.C:
			s.resume(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// tickTimeout bounds one look at the database: a dead connection must not
// stall the next.
const tickTimeout = 10 * time.Second

func (s *Service) renew(ctx context.Context) {
	held := s.holding()
	if len(held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	if err := s.Records.RenewTurns(ctx, held, s.Now().Add(s.set.Lease)); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		s.Log.Warn("turns in work could not be renewed", zap.Int("turns", len(held)), zap.Error(err))
	}
}

func (s *Service) resume(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	now := s.Now()
	n, err := s.Records.ResumeTurns(ctx, now, now.Add(s.set.ResumeAfter), resumeBatch, processTurn)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		s.Log.Warn("overdue turns could not be queued again", zap.Error(err))
	}
	if n > 0 {
		s.Log.Info("queued overdue turns again", zap.Int("turns", n))
	}
}

// hold keeps a turn alive until release is called, by each that holds it.
func (s *Service) hold(turnID string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[turnID]++
	return func() { s.release(turnID) }
}

func (s *Service) release(turnID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[turnID]--; s.held[turnID] == 0 {
		delete(s.held, turnID)
	}
}

func (s *Service) holding() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.held))
	for id := range s.held {
		ids = append(ids, id)
	}
	return ids
}
