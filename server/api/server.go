// Package api is the HTTP interface of the server:
//
//	request -> server/frame: key, role, rate, openapi.yaml, user of the key -> field checks
//	        -> handler -> ingest | recall | database -> JSON
//	any error -> one table by memory.Kind -> RFC 9457 problem document
//
// openapi.yaml is written by hand and is the contract: the server serves it and
// checks every request against it before a handler runs. Handlers translate
// between JSON and the domain types and contain no rules of their own. Each
// feature has one file with its parts, routes and handlers.
package api

import (
	"net/http"

	"hippocampus/assembly"
	"hippocampus/server/frame"
)

// Server answers the requests of the API. It is an http.Handler, safe for
// concurrent use, and owns nothing that needs closing.
type Server struct {
	frame     *frame.Server
	readiness *readiness
	streams   *streams     // of events
	documents http.Handler // see Documents
}

// feature is a group of routes with their handlers.
type feature interface{ register(r *frame.Routes) }

// bounds are the settings by which the API's handlers refuse requests.
var bounds = []string{
	exchangesLimit, "jobs.max_lag", "quotas.bytes", "quotas.chat_tokens", "quotas.memories", "quotas.users",
	"quotas.versions", "quotas.webhooks", recallsLimit, turnsLimit, writesLimit,
}

// New returns a server. It fails if openapi.yaml lacks a route or a mount, a metric is
// already registered, or the options contradict each other.
func New(o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	contract, err := loadContract()
	if err != nil {
		return nil, err
	}
	base, err := frame.New(frame.Options{
		Contract: contract, Access: o.Access, Limits: o.limits, Origins: o.Origins, KeepSecrets: o.KeepSecrets,
		Metrics: o.Metrics, Bounds: bounds, Logger: o.Logger, Now: o.Now,
		Confine: owners{
			memories: o.Memories.Reader, turns: o.Turns.Ingester, documents: o.Documents.Reader, insights: o.Proposals.Insights,
		}.confinementOf,
		Instead: insteadOf,
	})
	if err != nil {
		return nil, err
	}
	s := &Server{
		frame: base, readiness: newReadiness(o.Checks, o.Now, o.Logger), streams: newStreams(o.Events.Streams),
		documents: documents(base.Scrape(), protocolDocumentsOf(o.Mounts)),
	}
	routes := &frame.Routes{Limits: o.limits}
	for _, f := range s.features(o) {
		f.register(routes)
	}
	if err := base.AddRoutes(routes); err != nil {
		return nil, err
	}
	for _, m := range o.Mounts {
		if err := base.AddMount(m); err != nil {
			return nil, err
		}
	}
	base.AddPages(o.Documentation, o.Console)
	return s, nil
}

// features wires the handlers of each feature to their parts.
func (s *Server) features(o Options) []feature {
	now, waiter := o.Now, s.frame.Waiter(o.Wait)
	slots := newSlots(o)
	quotas := newQuotas(o.Quotas, now)
	o.Recall.Modes = o.Modes
	contexts := contextHandlers{RecallParts: o.Recall, slots: slots.recalls, now: now, contexts: assembly.Service{
		Instructor: o.Instructions.Publisher, Facts: o.Facts.Reader, Recaller: o.Recall.Recaller,
		Sessions: o.Conversations.Sessions, Condenser: o.Condenser,
		Timeout: o.Recall.Timeout, Counts: assembly.NewCounts(countsCached), Now: now, ZoneOf: o.Recall.ZoneOf,
	}}
	return []feature{
		turnHandlers{
			TurnParts: o.Turns, waiter: waiter, quotas: quotas, slots: slots.turns,
			contexts: turnContexts{contexts, s.frame.CountRefused},
		},
		conversationHandlers{o.Conversations, o.Modes},
		consolidationHandlers{o.Consolidations, o.Conversations.Reader, waiter},
		memoryHandlers{
			MemoryParts: o.Memories, quotas: quotas, slots: slots.writes, modes: o.Modes, now: now, feedback: o.Recall.Feedback,
		},
		relatedHandlers{o.Related, slots.recalls},
		factHandlers{FactParts: o.Facts, now: now, quotas: quotas, slots: slots.writes, modes: o.Modes},
		instructionHandlers{o.Instructions, quotas},
		policyHandlers{o.Policies},
		documentHandlers{DocumentParts: o.Documents, quotas: quotas, slots: slots.writes, modes: o.Modes},
		reprocessHandlers{
			ReprocessParts: o.Reprocess, turns: o.Turns.Ingester, policies: o.Policies.Keeper, slots: slots.turns,
		},
		skillHandlers{o.Skills, o.Modes},
		memoryToolHandlers{MemoryToolParts: o.MemoryTool, quotas: quotas, slots: slots.writes, modes: o.Modes},
		candidateHandlers{o.Candidates, quotas, slots.writes},
		recallHandlers{o.Recall, slots.recalls, now},
		poolHandlers{PoolParts: o.Pool, quotas: quotas, slots: slots.writes, modes: o.Modes},
		profileHandlers{o.Recall, slots.recalls, now},
		episodeHandlers{o.Recall.Episodes, slots.recalls},
		profileSchemaHandlers{ProfileParts: o.Profiles, modes: o.Modes, slots: slots.recalls, now: now},
		contexts,
		thresholdHandlers{o.Thresholds, o.Learning, now},
		reflectHandlers{o.Reflector},
		insightHandlers{o.Proposals, quotas, o.Modes},
		forgetHandlers{o.Forgetter, o.Memories.Reader, now},
		forgetNextHandlers{counter: o.Forgetter, users: o.Users, schedule: o.State.Schedule, now: now},
		compressHandlers{o.Compressor},
		eraseHandlers{o.Eraser},
		mergeHandlers{o.Merger},
		keyHandlers{},
		userHandlers{o.Users, o.Zones, o.Modes},
		statsHandlers{o.Stats, o.Recall.Feedback, newRetention(o.Stats.Retention, now)},
		exchangeHandlers{
			exchanger: o.Exchange, quotas: quotas, slots: slots.exchanges,
			stall: o.limits.Stream, countRefused: s.frame.CountRefused, now: now, log: o.Logger,
		},
		eventHandlers{
			EventParts: o.Events, streams: s.streams, stall: o.limits.Stream, draining: s.frame.Draining(),
		},
		webhookHandlers{o.Webhooks, quotas},
		jobHandlers{o.Jobs},
		issuedKeyHandlers{o.Keys, now, o.Logger},
		stateHandlers{StateParts: o.State, readiness: s.readiness, embedding: o.Stats.Embedding, now: now},
		publicHandlers{
			readiness: s.readiness, scrape: s.frame.Scrape(), documents: protocolDocumentsOf(o.Mounts), apart: o.Metrics.Apart,
		},
	}
}

// Documents serves /metrics and the documents of OpenAPI at an address of their own.
func (s *Server) Documents() http.Handler { return s.documents }

// Drain answers the requests that wait for a turn with the turn's present
// state, and ends the event streams. Call it before shutting down.
func (s *Server) Drain() { s.frame.Drain() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.frame.ServeHTTP(w, r) }
