// Package consolidation makes lasting memories of conversations:
//
//	trigger -> plan -> pending rows (events | fast_replay, deep_reflection), job
//	job, schedule -> row, claimed by one process
//	  events           what a backend has stated -> gate -> ... -> memories of their kind
//	  fast_replay      events -> model, or the most important sentences -> a summary
//	  deep_reflection  events -> model -> facts, insights, preferences, patterns, projects, skills
//	-> one transaction under the user's lock: what was made, and the row's end
//
// That transaction finds the row unfinished or writes nothing, so that a row
// which is worked twice, on two servers or after a crash, counts once. An answer
// with anything wrong in it changes nothing but the row.
package consolidation

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// Records is what consolidation needs of the database.
type Records interface {
	db.Consolidations
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error)
	EndConversation(ctx context.Context, c memory.Conversation, at time.Time, reason string) (ended memory.Conversation, fresh bool, err error)
	Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error)
}

// Writer remembers what a conversation leaves; package ingest implements it.
type Writer interface {
	Consolidate(ctx context.Context, c ingest.Consolidation) (ingest.Consolidated, error)
}

// FactKeeper takes evidence within a user's transaction; package facts implements it.
type FactKeeper interface {
	Prepare(ctx context.Context, owner memory.Owner, evidence []facts.Evidence) (*facts.Prepared, error)
	Apply(ctx context.Context, tx db.UserTx, p *facts.Prepared, cause string) (facts.Applied, error)
	Push(ctx context.Context, done facts.Applied)
}

// Settings of consolidation; server/config states their defaults and ranges.
type Settings struct {
	Importance float64       // of a stated event, from which it passes the gate
	Urgent     float64       // of a stated event, from which its conversation is consolidated at once
	Full       float64       // fill of the working memory at which a conversation is
	Idle       time.Duration // without a turn, after which a conversation ends
	Messages   int           // since the last end's consolidation, at which an end has one
	Similarity float64       // cosine from which what a reflection made is one with a memory
	Attempts   int           // that fail before a consolidation is left as failed
}

// Parts are what a Service works with.
type Parts struct {
	Records Records
	Writer  Writer
	Facts   FactKeeper
	Chat    llm.Chat // nil: a replay takes whole sentences, and there is no deep reflection
	Guess   func(content string) memory.Domain
	// OnAttempt hears of each attempt that came to a state; nil: nobody does.
	OnAttempt func(kind memory.ConsolidationType, state memory.ConsolidationState)
	Now       func() time.Time
	Lease     time.Duration // of a claim: what a job may take at most
	Log       *zap.Logger
}

// Service consolidates. It is safe for concurrent use.
type Service struct {
	Parts
	set Settings
}

// New makes a service.
func New(parts Parts, set Settings) *Service {
	if parts.OnAttempt == nil {
		parts.OnAttempt = func(memory.ConsolidationType, memory.ConsolidationState) {}
	}
	return &Service{parts, set}
}
