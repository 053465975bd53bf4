package ingest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/zones"
	"hippocampus/ingest/policy"
	"hippocampus/ingest/write"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/vectorstore/projection"
)

// Records is the part of the database that ingest uses.
type Records interface {
	db.Turns
	db.Reprocessings
	db.People
	CopiesOf(ctx context.Context, owner memory.Owner, memories []string) ([]memory.Pooled, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	ModeOf(ctx context.Context, owner memory.Owner, conversationID string) (memory.ModeSetting, error)
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error)
	SourceDocument(ctx context.Context, appID, id string) (memory.SourceDocument, error)
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
	Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error)
	Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error)
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	ListConversations(ctx context.Context, f db.ConversationFilter) ([]memory.Conversation, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	HandedOut(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error)
	Proposals(ctx context.Context, appID string, ids []string) ([]db.Proposal, error)
	Faded(ctx context.Context, owner memory.Owner) ([]memory.Memory, error)
	Reembed(ctx context.Context, space memory.Space, embeddings []db.Reembedding) error
	SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (int, error)
	Requeue(ctx context.Context, ids []string, at time.Time) (int, error)
}

// Settings of the gate and of the work on turns; server/config states their
// defaults and ranges.
type Settings struct {
	Threshold     float64       // importance from which a fact is kept
	MinImportance float64       // from which a direct write is accepted
	Messages      bool          // keep the chat messages of turns also
	CutSecrets    bool          // cut secrets out of turns that were stored before requests were cut
	AnswerRunes   int           // characters of an assistant's message that are kept, apart from list items
	EchoWindow    time.Duration // how long a recalled memory can be echoed
	Before        int           // chat messages before a turn that the scorer is given
	KeepAfter     time.Duration // time of a call of the embedder after which the messages are kept by their words; 0: 5 s
	Attempts      int           // failures other than unavailable parts after which a turn has failed
	RetryDelay    time.Duration // after the first failed attempt; doubles
	RetryLimit    time.Duration
	GiveUp        time.Duration // age at which a turn that cannot be scored has failed
	Lease         time.Duration // time until a turn is due again that is not renewed
	Renew         time.Duration // between renewals
	Workers       int           // turns processed at a time; 0: 8
	Timeout       time.Duration // of processing one turn
	OrphanPooled  bool          // what was copied to the pool outlives its original; see Release
	MaxLag        time.Duration // see Lag; above it, Accept refuses turns; 0: it accepts all
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Scorer   scorer.Scorer
	Rules    scorer.Scorer // takes the facts of a turn until a Scorer that has failed answers; nil: they wait
	Writer   *write.Writer
	Embedder llm.Embedder
	Pusher   projection.Pusher
	Guess    func(content string) memory.Domain // for a direct write without a domain
	// IsSmallTalk reports whether a text consists of greetings, thanks and fillers alone.
	IsSmallTalk func(text string) bool
	// OnAccepted is called for each turn that has just been stored, with its Offset. It must not block.
	OnAccepted func(turn memory.Turn)
	// OnProcessed is called for each turn that was processed, whatever the outcome. A turn without a conversation may not
	// be ended yet.
	OnProcessed func(ctx context.Context, turn memory.Turn)
	// Undo forgets a memory that was derived from others, and makes the memories that it condensed active again.
	// KindConflict: it has no sources. Nil: no memories are derived.
	Undo func(ctx context.Context, appID, id string) error
	// Gate returns the threshold of an app's gate; nil: Settings.Threshold.
	Gate     func(ctx context.Context, appID string) (memory.Threshold, error)
	Policies policy.Finder // of what apps remember; nil: no app has a policy
	Zone     zones.Finder  // in which the days of a user are
	Now      func() time.Time
	Log      *zap.Logger
	Drained  <-chan struct{} // closed when turns in progress are released after the end of Work; nil: they finish
}

// Service writes.
type Service struct {
	Parts
	set Settings

	scored *lru.Cache[string, answer] // of the scorer, by turn id, until the turn is finished
	logs   *cache.Cache[*said]        // ends of logs, by saidKey

	idle  chan struct{} // holds a value for each idle worker, while Work runs
	taken chan taken    // turns; a worker is reserved for each
	due   chan struct{} // signals that a turn is due
	ended *batcher      // held turns that are to be ended; open while Work runs

	lag atomic.Int64 // see Lag; in nanoseconds

	counts       *counts
	refusedCount atomic.Int64

	mu   sync.Mutex
	held map[string]int // ids of turns that this process renews, with the number of holders
}

const maxScored = 1000 // cached answers of the scorer

// New makes a service, whose turns are processed while Work runs.
func New(parts Parts, set Settings) *Service {
	if parts.IsSmallTalk == nil {
		parts.IsSmallTalk = func(string) bool { return false }
	}
	if parts.OnAccepted == nil {
		parts.OnAccepted = func(memory.Turn) {}
	}
	if parts.OnProcessed == nil {
		parts.OnProcessed = func(context.Context, memory.Turn) {}
	}
	if set.Workers == 0 {
		set.Workers = 8
	}
	if set.KeepAfter == 0 {
		set.KeepAfter = 5 * time.Second
	}
	scored, _ := lru.New[string, answer](maxScored) // fails only for a size below 1
	return &Service{
		Parts: parts, set: set, scored: scored, logs: cache.New[*said](saidBytes), held: map[string]int{},
		idle: make(chan struct{}, set.Workers), taken: make(chan taken, set.Workers),
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
