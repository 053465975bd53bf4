// Package consolidation makes lasting memories of conversations:
//
//	trigger -> plan -> pending rows (events | fast_replay, deep_reflection), job
//	job, schedule -> row, claimed by one process
//	  events           events that a backend stated -> gate -> ... -> memories of their kind
//	  fast_replay      events -> model, or the most important sentences -> a summary
//	  deep_reflection  events -> model -> facts, insights, preferences, patterns, projects, skills
//	-> one transaction under the owner lock: the memories and facts, and the row's end
//
// The transaction writes nothing if the row has ended already. A row therefore counts once, also if two servers work on
// it, or if one continues it after a crash. If any part of a model's answer is wrong, only the row changes.
package consolidation

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/db/zones"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// Records is the part of the database that consolidation uses.
type Records interface {
	db.Consolidations
	Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error)
	session.TurnLister
	EndConversation(ctx context.Context, c memory.Conversation, at time.Time, reason string) (ended memory.Conversation,
		fresh bool, err error)
	Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	EnqueueForConversation(ctx context.Context, c memory.Conversation, job db.Job) error
}

// Writer writes the memories of a consolidation; package ingest implements it.
type Writer interface {
	Consolidate(ctx context.Context, c ingest.Consolidation) (ingest.Consolidated, error)
}

// Settings of consolidation; server/config holds their defaults and ranges.
type Settings struct {
	Importance float64       // of a stated event that becomes a memory, whatever the threshold of the gate for turns
	Urgent     float64       // importance of a stated event at which its conversation is consolidated at once
	Full       float64       // fill of the working memory at which a conversation is consolidated
	Idle       time.Duration // time without a turn, after which a conversation ends
	Messages   int           // messages since the consolidation of the last end, from which an end has a consolidation
	Similarity float64       // cosine at which a finding is merged into a memory
	Attempts   int           // failed attempts before a consolidation stays failed
}

// Parts are what a Service works with.
type Parts struct {
	Records Records
	Writer  Writer
	Facts   *facts.Service
	Chat    llm.Chat // nil: a replay takes whole sentences, and there is no deep reflection
	Guess   func(content string) memory.Domain
	// OnAttempt is called for each attempt that reached a state.
	OnAttempt func(kind memory.ConsolidationType, state memory.ConsolidationState)
	// OnEnded is called for a conversation that has ended, once its consolidations are done; nil: nothing is.
	OnEnded func(ctx context.Context, c memory.Conversation) error
	Zone    zones.Finder // of the days in prompts
	Now     func() time.Time
	Lease   time.Duration // of a claim, which is renewed
	Timeout time.Duration // of one attempt
	Log     *zap.Logger
}

// Service consolidates. It is safe for concurrent use.
type Service struct {
	Parts
	set Settings
}

// New makes a service.
func New(parts Parts, set Settings) *Service { return &Service{parts, set} }
