package app

import (
	"cmp"
	"strings"
	"time"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/learning"
	"hippocampus/notify"
	"hippocampus/recall"
	"hippocampus/recall/related"
	"hippocampus/reflection"
	"hippocampus/reflection/compression"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/vectorstore/projection"
)

// KeyTTL is how long a server accepts a revoked key at most.
const KeyTTL = 5 * time.Second

// These values are the same in every installation.
const (
	queryCacheBytes = 16 << 20 // of query embeddings
	ringCacheBytes  = 64 << 20 // of conversations' latest events
	condensedTexts  = 1000     // kept
	pushBatch       = 256      // memories in one push
	eventPoll       = 250 * time.Millisecond

	comparedExactly = 10_000 // memories of a user that pgvector compares without its index

	candidates     = 50   // that each search of a recall gathers, unless recall.limit is more
	ownWritesLimit = 1000 // own writes compared in the database
	fallbackLimit  = 5000 // memories compared in the database if the vector store is unavailable

	mergeSimilarity = 0.95 // least cosine at which memories are merged without a model: they differ in a word or a form

	contextMemories   = 5    // a context of more memories is condensed
	maxReflectedFacts = 100  // in one prompt
	sessionTokens     = 8000 // in the working memory of a conversation
	spareFromAccesses = 5    // memories recalled this often are not condensed

	minorEventAge        = time.Hour // older events of little importance are left out of the working memory
	runningSummaryLength = 2000      // characters
)

// How long calls take at most, and how long failed work waits.
const (
	deliveryTimeout  = 10 * time.Second // of a webhook's receiver; at most half of jobs.timeout
	breakerFailures  = 5                // of a model in a row, after which calls are refused at once
	breakerDelay     = 10 * time.Second // until the next trial
	embeddingRetries = 2
	upstreamTimeout  = 10 * time.Minute // for the first byte of the proxy's upstream, which may think
	keepMessages     = 5 * time.Second  // of a call of the embedder, after which the messages of a turn are found by words
	turnAttempts     = 3                // failures other than unavailable parts, after which a turn fails
	scorerBefore     = 4                // earlier messages of the conversation that the scorer's model gets with a turn
	turnRetryLimit   = 5 * time.Minute  // wait for a model or a store
	turnGiveUp       = 24 * time.Hour   // age at which a turn fails if its model is unavailable
	webhookGiveUp    = 24 * time.Hour   // of failures, after which a webhook is switched off
	pushRetryDelay   = time.Second      // doubles with each failure
	pushRetryLimit   = time.Minute
	reembeddingLease = 10 * time.Second
	retryWords       = time.Hour // after which the embedder is asked again for memories without an embedding
)

// pushLease returns the lease of a push, in proportion to that of a turn. A push may take half of its lease.
func pushLease(turn time.Duration) time.Duration { return turn * 3 / 2 }

const (
	eventAge   = 7 * 24 * time.Hour // at which an event of the outgoing stream is deleted
	echoWindow = 10 * time.Minute   // in which a candidate that repeats a recalled memory is dropped
	factTrust  = 0.5                // confidence of evidence that replaces a more confident value of a timeline fact
)

// Pace holds the intervals of background work, which are the same in every
// installation; tests shorten them.
type Pace struct {
	Jobs      time.Duration // between two looks for jobs that are due
	Pushes    time.Duration // between two looks for memories that are not in the vector store
	Touches   time.Duration // between two writes of access times
	TurnRetry time.Duration // before the second attempt at a turn; doubles with each bad answer
}

var standardPace = Pace{
	Jobs: time.Second, Pushes: time.Second, Touches: time.Second, TurnRetry: time.Second,
}

// condensedAge is the age from which messages are condensed, unless they fade earlier.
const condensedAge = 90 * 24 * time.Hour

// Each part of a recall has a share of recall.timeout, so that the answer arrives in time even if a slow part has to be
// left out.
func vectorTimeout(r config.Recall) time.Duration   { return r.Timeout / 5 }
func embedTimeout(r config.Recall) time.Duration    { return r.Timeout / 2 }
func condenseTimeout(r config.Recall) time.Duration { return r.Timeout * 3 / 10 } // in addition to the recall

// vectorCallTimeout bounds a call of the vector store outside of recall.
func vectorCallTimeout(cfg config.Config) time.Duration { return vectorTimeout(cfg.Recall) * 5 / 2 }

// BM25 for memories, which are short: b is lower than the usual 0.75.
var bm25 = recall.BM25{K1: 1.2, B: 0.4}

func recallSettings(cfg config.Config) recall.Settings {
	r := cfg.Recall
	set := recall.Settings{
		Zone:          zoneOf(cfg),
		Mode:          recall.Mode(r.Mode),
		Weights:       recall.Weights{Relevance: r.Relevance, Decay: r.Decay, Importance: r.Importance},
		DecayRate:     r.DecayRate,
		Lift:          recall.Lift{Near: 0.5, Far: 0.2},
		Cues:          recall.Cues{Speaker: 0.2, Date: 0.4, When: 0.1, Route: 0.005, Question: 0.5},
		BM25:          bm25,
		LexicalFloor:  0.3,
		Words:         0.5,
		Contrast:      3,
		Candidates:    max(candidates, r.Limit),
		OwnWindow:     r.OwnWindow,
		OwnLimit:      ownWritesLimit,
		CompareLimit:  r.CompareLimit,
		FallbackLimit: fallbackLimit,
		Timeout:       r.Timeout,
		VectorTimeout: vectorTimeout(r),
		EmbedTimeout:  embedTimeout(r),
		Rerank: recall.Rerank{
			Candidates: cfg.Rerank.Candidates, Share: cfg.Rerank.Share, Timeout: cfg.Rerank.Timeout,
		},
		QueryCache: queryCacheBytes,
		IndexCache: r.CacheBytes,
	}
	for name := range strings.SplitSeq(r.Without, ",") {
		if leaveOut, known := rankingParts[name]; known {
			leaveOut(&set)
		}
	}
	return set
}

// zoneOf is the zone of the settings, whose rule admits only zones that exist.
func zoneOf(cfg config.Config) *time.Location {
	zone, err := time.LoadLocation(cfg.Time.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// rankingParts maps each name that recall.without may have to a function that leaves that
// part out of the ranking.
var rankingParts = map[string]func(*recall.Settings){
	"words":             func(s *recall.Settings) { s.Words = 0 }, // words still find candidates
	"vectors":           func(s *recall.Settings) { s.Words = 1 }, // and so do vectors
	"neighbours":        func(s *recall.Settings) { s.Lift.Near = 0 },
	"second_neighbours": func(s *recall.Settings) { s.Lift.Far = 0 },
	"speaker":           func(s *recall.Settings) { s.Cues.Speaker = 0 },
	"date":              func(s *recall.Settings) { s.Cues.Date = 0 },
	"when":              func(s *recall.Settings) { s.Cues.When = 0 },
	"question":          func(s *recall.Settings) { s.Cues.Question = 0 },
	"route":             func(s *recall.Settings) { s.Cues.Route = 0 },
	"lexical_floor":     func(s *recall.Settings) { s.LexicalFloor = 0 },
	"contrast":          func(s *recall.Settings) { s.Contrast = 1 },
}

// maxInflight is how many recalls and contexts run at a time: see
// docs/decisions/0031-what-a-busy-server-refuses.md.
func maxInflight(cfg config.Config, cores int) int {
	if asksModels(cfg) || cfg.Rerank.BaseURL != "" {
		return cmp.Or(cfg.API.MaxInflight, waiting*cores)
	}
	return cmp.Or(cfg.API.MaxInflight, max(2, cores))
}

// waiting is how many requests that wait for an answer from elsewhere a core has room for.
const waiting = 64

// asksModels reports whether recalls and direct writes wait for a model at an endpoint, which needs no core.
func asksModels(cfg config.Config) bool { return cfg.Embedding.Remote() || cfg.Chat.APIKey != "" }

// maxInflightTurns is how many turns are stored at a time: see
// docs/decisions/0088-writes-have-slots.md.
func maxInflightTurns(cfg config.Config, cores int) int {
	return cmp.Or(cfg.API.MaxInflightTurns, 32*cores)
}

// maxInflightWrites is how many direct writes run at a time. SQLite does one at a time.
func maxInflightWrites(cfg config.Config, cores int) int {
	each := 2
	switch {
	case asksModels(cfg):
		each = waiting
	case cfg.Database.URL == "":
		each = 1
	}
	return cmp.Or(cfg.API.MaxInflightWrites, max(2, each*cores))
}

// origins returns the origins whose pages may call the API.
func origins(cfg config.Config) []string {
	if cfg.API.CORSOrigins == "" {
		return nil
	}
	return strings.Split(cfg.API.CORSOrigins, ",")
}

func relatedSettings(cfg config.Config) related.Settings {
	r := cfg.Recall
	return related.Settings{OwnWindow: r.OwnWindow, OwnLimit: ownWritesLimit, VectorTimeout: vectorTimeout(r)}
}

func writeSettings(cfg config.Config) write.Settings {
	return write.Settings{
		MergeSimilarity: mergeSimilarity,
		JudgeSimilarity: -1, // by the calibration of the embedding model
		JudgeTimeout:    cfg.Chat.Timeout,
		OwnWindow:       cfg.Recall.OwnWindow,
		OwnLimit:        ownWritesLimit,
		FallbackLimit:   fallbackLimit,
	}
}

// orphansPooled reports whether what was contributed to a pool outlives its contributor.
func orphansPooled(cfg config.Config) bool { return cfg.Pool.Erase == "orphan" }

func ingestSettings(cfg config.Config, pace Pace) ingest.Settings {
	g, j := cfg.Gate, cfg.Jobs
	before := scorerBefore
	if cfg.Chat.APIKey == "" {
		before = 1 // rules read the message to which a short answer replies
	}
	return ingest.Settings{
		Threshold:     g.Threshold,
		MinImportance: cfg.Memories.MinImportance,
		Messages:      cfg.Messages.Enabled,
		AnswerRunes:   cfg.Messages.AnswerChars,
		CutSecrets:    !cfg.Secrets.Keep,
		OrphanPooled:  orphansPooled(cfg),
		EchoWindow:    echoWindow,
		Before:        before,
		KeepAfter:     keepMessages,
		Attempts:      turnAttempts,
		RetryDelay:    pace.TurnRetry,
		RetryLimit:    turnRetryLimit,
		GiveUp:        turnGiveUp,
		Lease:         j.Lease,
		Renew:         j.Lease / 4,
		Workers:       j.Workers,
		Timeout:       j.Timeout,
		MaxLag:        j.MaxLag,
	}
}

// ProjectionSettings returns the settings of the server's pushes.
func ProjectionSettings(cfg config.Config, pace Pace) projection.Settings {
	return projection.Settings{
		Interval: pace.Pushes, Batch: pushBatch, Lease: pushLease(cfg.Jobs.Lease),
		Backoff: pushRetryDelay, BackoffLimit: pushRetryLimit, Grace: cfg.Projection.Grace,
	}
}

func sessionSettings(cfg config.Config) session.Settings {
	return session.Settings{
		Events: cfg.Session.Events, Tokens: sessionTokens, Age: minorEventAge,
		Summary: runningSummaryLength, CacheBytes: ringCacheBytes,
	}
}

func consolidationSettings(cfg config.Config) consolidation.Settings {
	return consolidation.Settings{
		Importance: 0.6, Urgent: 0.7, Full: 0.8, Idle: cfg.Consolidation.Idle,
		Messages: 3, Similarity: 0.9, Attempts: 3,
	}
}

func reflectionSettings(cfg config.Config) reflection.Settings {
	r := cfg.Reflection
	return reflection.Settings{
		Rule:     reflection.Rule{Importance: r.Importance, Cooldown: r.Cooldown, MinFacts: 2},
		MaxFacts: maxReflectedFacts, KeepSources: r.KeepSources, Propose: r.Apply == "propose",
	}
}

func learningSettings(cfg config.Config) learning.Settings {
	return learning.Settings{
		Enabled: cfg.Learning.Enabled, Gate: cfg.Gate.Threshold, Confidence: api.ContextConfidence,
	}
}

func forgettingSettings(cfg config.Config) forgetting.Settings {
	f := cfg.Forgetting
	return forgetting.Settings{
		Rule: forgetting.Rule{
			Policy: forgetting.Policy(f.Policy), Threshold: f.Threshold,
			Base: f.Base, Growth: f.Growth, Lambda: f.Lambda, MinAge: forgetting.MinAge, MaxShare: f.MaxShare,
			MessageAge: cfg.Messages.Keep,
			Clock:      forgetting.Clock(f.Clock), MaxAbsence: f.MaxAbsence,
			Lasts:        memory.Factors(f.Lasts),
			ExcludeTypes: forgetting.Names(f.ExcludeTypes), ExcludeDomains: forgetting.Names(f.ExcludeDomains),
			KeepTypes: forgetting.Names(f.KeepTypes), KeepImportance: f.KeepImportance,
		},
		PurgeAfter: f.PurgeAfter, MaxMemories: cfg.Memories.MaxPerUser,
	}
}

func compressionSettings(cfg config.Config) compression.Settings {
	return compression.Settings{
		MessageAge: messageAge(cfg), Accesses: spareFromAccesses, MaxMemories: cfg.Compression.MaxMemories,
	}
}

// messageAge returns three quarters of the time after which a message of no importance would be forgotten, so that
// messages are condensed before they are forgotten; at most condensedAge.
func messageAge(cfg config.Config) time.Duration {
	lasts, never := forgettingSettings(cfg).Lifetime(memory.TypeMessage, 0)
	if never {
		return condensedAge
	}
	return min(condensedAge, lasts*3/4)
}

func condenserLimits(cfg config.Config) compression.Limits {
	return compression.Limits{
		Memories: contextMemories, Timeout: condenseTimeout(cfg.Recall), Cache: condensedTexts,
	}
}

func notifySettings(cfg config.Config) notify.Settings {
	return notify.Settings{
		Poll: eventPoll, Keep: eventAge, Timeout: min(deliveryTimeout, cfg.Jobs.Timeout/2),
		DisableAfter: webhookGiveUp, AllowPrivate: cfg.Webhooks.AllowPrivate,
	}
}
