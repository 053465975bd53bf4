package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"hippocampus/db/zones"
	"hippocampus/internal/lang/times"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// RecallParts are the parts behind the routes of recall and context.
type RecallParts struct {
	Recaller Recaller
	People   PeopleReader
	Sources  SourceReader
	Log      RecallLister
	Episodes EpisodeKeeper
	Feedback FeedbackKeeper
	// Confidence returns the confidence from which the contexts of an app have a memory.
	Confidence func(ctx context.Context, appID string) (memory.Threshold, error)
	Limit      int           // memories if the request names no limit; 0: 10
	Timeout    time.Duration // of the recalls of a context together; 0: unlimited
	Modes      ModeKeeper
	ZoneOf     zones.Finder // of the days of a context, unless its query has a zone
}

// Recaller finds memories; package recall implements it.
type Recaller interface {
	Recall(ctx context.Context, q recall.Query) (recall.Answer, error)
	// Standing returns the memories that hold independently of a query.
	Standing(ctx context.Context, q recall.Query) ([]recall.Standing, error)
	// Recollect reactivates the memories that were recollected with NoTouch. It returns all given memories except those
	// that a request has forgotten in the meantime.
	Recollect(ctx context.Context, owner memory.Owner, memories []recall.Recalled) []recall.Recalled
	// Touch counts an access of memories that were recalled with NoTouch.
	Touch(owner memory.Owner, ids []string, at time.Time)
}

// SourceReader finds the memories that others were derived from; db.Maintenance
// implements it.
type SourceReader interface {
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
}

type recallHandlers struct {
	RecallParts
	slots *frame.Slots
	now   func() time.Time
}

func (h recallHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/recall", memory.RoleRead, h.slots.Bound(frame.WithBody(h.recall)))
	r.Add("GET /v1/recalls", memory.RoleRead, h.listRecalls())
	r.Add("POST /v1/recalls/:id/feedback", memory.RoleRead, frame.WithBody(h.giveFeedback))
}

const defaultRecall = 10 // memories

type recallRequest struct {
	UserID         string          `json:"user_id"`
	Query          string          `json:"query"`
	Previous       string          `json:"previous"`
	Limit          *int            `json:"limit"`
	Domains        []memory.Domain `json:"domains"`
	Types          []memory.Type   `json:"types"`
	Include        []string        `json:"include"`
	Tags           []string        `json:"tags"`
	AgentID        string          `json:"agent_id"`
	ConversationID string          `json:"conversation_id"`
	Since          string          `json:"since"`
	Until          string          `json:"until"`
	Filter         json.RawMessage `json:"filter"`
	MinImportance  float64         `json:"min_importance"`
	MinSimilarity  float64         `json:"min_similarity"`
	MinConfidence  *float64        `json:"min_confidence"`
	At             string          `json:"at"`
	AsOf           string          `json:"as_of"`
	IncludeFormer  bool            `json:"include_former"`
	IncludeExpired bool            `json:"include_expired"`
	Touch          *bool           `json:"touch"`
	Route          *bool           `json:"route"`
	Mode           recall.Mode     `json:"mode"`
	Weights        *weightsBody    `json:"weights"`
	DecayRate      float64         `json:"decay_rate"`
	Candidates     int             `json:"candidates"`
	Scope          string          `json:"scope"` // scopeApp, or the user alone
	Group          bool            `json:"group"`
	Expand         string          `json:"expand"` // openapi.yaml admits it for recall only, like the next field
	Explain        bool            `json:"explain"`
}

type weightsBody struct {
	Relevance  float64 `json:"relevance"`
	Decay      float64 `json:"decay"`
	Importance float64 `json:"importance"`
}

// recallQuery converts a request to a query of the key's app, for limit memories
// unless the request names a limit. The caller checks the text of the query.
func recallQuery(r *frame.Request, b recallRequest, limit int) recall.Query {
	r.OptionalIDs("", b.AgentID, b.ConversationID)
	r.Note("tags", memory.CheckTags(b.Tags))
	q := recall.Query{
		Owner: r.BodyOwner(b.UserID), Text: b.Query, Previous: b.Previous, Limit: frame.OrDefault(b.Limit, limit),
		Domains: b.Domains, Types: includedTypes(r, b.Include, b.Types), Tags: b.Tags,
		AgentID: b.AgentID, ConversationID: b.ConversationID,
		MinImportance: b.MinImportance, MinSimilarity: b.MinSimilarity, MinConfidence: frame.OrDefault(b.MinConfidence, 0),
		At: r.Time("at", b.At), Zone: frame.ZoneOf(b.At), AsOf: r.Time("as_of", b.AsOf), IncludeFormer: b.IncludeFormer,
		IncludeExpired: b.IncludeExpired, Memory: modeOfKey(r), Mode: b.Mode,
		NoTouch: !frame.OrDefault(b.Touch, true), NoRoute: !frame.OrDefault(b.Route, true),
		DecayRate: b.DecayRate, Candidates: b.Candidates, Where: r.Where("filter", b.Filter), Explain: b.Explain,
		Pool: b.Scope == scopeApp,
	}
	q.ID = memory.NewRecallID(q.Owner)
	q.Since, q.Until = r.Window("", b.Since, b.Until)
	if b.Weights != nil {
		q.Weights = (*recall.Weights)(b.Weights)
		if *b.Weights == (weightsBody{}) {
			r.Note("weights", "are all 0: give one of them some weight")
		}
	}
	return q
}

// The values of include.
const (
	includeFacts    = "facts"
	includeMessages = "messages"
)

// includedTypes restricts types, which is empty if the request names no type, to messages or to
// the other types. Without include, or with both, nothing is excluded.
func includedTypes(r *frame.Request, include []string, types []memory.Type) []memory.Type {
	messages, facts := slices.Contains(include, includeMessages), slices.Contains(include, includeFacts)
	if messages == facts {
		return types
	}
	if len(types) == 0 {
		types = memory.Types
	}
	kept := slices.DeleteFunc(slices.Clone(types), func(t memory.Type) bool {
		return (t == memory.TypeMessage) != messages
	})
	if len(kept) == 0 {
		r.Note("include", "excludes all types that are named: leave out one of include and types")
	}
	return kept
}

// recallBody has the fields that the answers of recall and context have in common.
type recallBody struct {
	RecallID string         `json:"recall_id"`
	Memories []recalledBody `json:"memories"`
	Route    routeBody      `json:"route"`
	Asked    []string       `json:"asked,omitempty"`
	Fit      *fitBody       `json:"fit,omitempty"` // nil if no memory was compared with the query
	Degraded []string       `json:"degraded"`
	At       time.Time      `json:"at"`
	When     []whenBody     `json:"when,omitempty"`
	TookMS   float64        `json:"took_ms"`

	Explanation *explanationBody `json:"explanation,omitempty"` // nil unless the request asks for it
	Group       *membersBody     `json:"group,omitempty"`       // likewise
}

// whenBody is a time that the query names.
type whenBody struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	Words string    `json:"words"`
}

type recalledBody struct {
	wire.Memory
	Recollected bool      `json:"recollected,omitzero"`
	FormerUntil time.Time `json:"former_until,omitzero"`
	SaidTimes   int       `json:"said_times,omitzero"`
	LastSaidAt  time.Time `json:"last_said_at,omitzero"`

	Similarity float64  `json:"similarity"`
	Lexical    float64  `json:"lexical"`
	Neighbour  float64  `json:"neighbour"`
	Speaker    float64  `json:"speaker"`
	Date       float64  `json:"date"`
	When       float64  `json:"when"`
	ToDo       float64  `json:"to_do,omitempty"`
	Routed     float64  `json:"routed"`
	Question   float64  `json:"question"`
	Message    float64  `json:"message"`
	Skill      float64  `json:"skill"`
	Rerank     float64  `json:"rerank,omitzero"`
	Relevance  float64  `json:"relevance"`
	Confidence float64  `json:"confidence"`
	Decay      float64  `json:"decay"`
	Updates    string   `json:"updates,omitempty"`
	Update     float64  `json:"update,omitzero"`
	Score      float64  `json:"score"`
	Sources    []string `json:"sources"`

	ScoreParts  *partsBody    `json:"score_parts,omitempty"` // nil unless the request asks for it
	DerivedFrom []wire.Memory `json:"derived_from,omitzero"` // nil unless the request asks for it
	Episode     *openedBody   `json:"episode,omitempty"`     // likewise, and if it is in no episode

	Pool *contributionBody `json:"pool,omitempty"` // nil unless it is of the shared pool
}

type routeBody struct {
	Domains []memory.Domain `json:"domains"`
	Source  string          `json:"source"`
	Reason  string          `json:"reason,omitempty"`
	Skipped bool            `json:"skipped"`
}

type fitBody struct {
	Closeness    float64 `json:"closeness"`
	Coverage     float64 `json:"coverage"`
	UnknownNames float64 `json:"unknown_names"`
	Memories     int     `json:"memories"`
}

func fitOf(f recall.Fit) *fitBody {
	if f == (recall.Fit{}) {
		return nil
	}
	body := fitBody(f)
	return &body
}

func recallBodyOf(id string, a recall.Answer, took time.Duration) recallBody {
	return recallBody{
		RecallID: id,
		Memories: frame.BodiesOf(a.Memories, recalledOf),
		Route: routeBody{
			Domains: frame.NotNil(a.Route.Domains), Source: a.Route.Source, Reason: a.Route.Reason,
			Skipped: a.Skipped,
		},
		Asked: a.Asked, When: whenOf(a.When),
		Fit: fitOf(a.Fit), Degraded: frame.NotNil(a.Degraded), At: a.At, TookMS: milliseconds(took),
		Explanation: explanationOf(a.Explanation),
	}
}

func whenOf(spans []times.Span) (list []whenBody) {
	for _, s := range spans {
		list = append(list, whenBody(s))
	}
	return list
}

func recalledOf(m recall.Recalled) recalledBody {
	body := recalledBody{
		Memory: wire.MemoryOf(m.Memory), Recollected: m.Recollected, FormerUntil: m.FormerUntil,
		SaidTimes: m.Repeats.Times, LastSaidAt: later(m.Repeats.Last, m.Memory.LastSaidAt),
		Similarity: m.Similarity, Lexical: m.Lexical, Neighbour: m.Neighbour, Speaker: m.Speaker, Date: m.Date,
		When: m.When, ToDo: m.ToDo, Routed: m.Routed, Question: m.Question, Message: m.Message, Skill: m.Skill,
		Rerank: m.Rerank, Relevance: m.Relevance, Confidence: m.Confidence, Decay: m.Decay,
		Updates: m.Updates, Update: m.Update, Score: m.Score,
		Sources: frame.NotNil(m.Sources), ScoreParts: (*partsBody)(m.Parts),
	}
	if m.Pooled != nil {
		body.Pool = contributionOf(*m.Pooled)
	}
	return body
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (h recallHandlers) recall(ctx context.Context, r *frame.Request, body recallRequest) (any, error) {
	start := h.now()
	r.Note("query", memory.CheckContent(body.Query, memory.MaxQueryRunes))
	query := recallQuery(r, body, h.Limit)
	if err := cmp.Or(body.checkScope(r), r.Err()); err != nil {
		return nil, err
	}
	group, err := h.group(ctx, r, body, &query)
	if err != nil {
		return nil, err
	}
	recalled, err := h.Recaller.Recall(ctx, query)
	if err != nil {
		return nil, err
	}
	found := recallBodyOf(query.ID, recalled, h.now().Sub(start))
	found.Group = group
	switch body.Expand {
	case expandSources:
		err = h.expand(ctx, query.Owner, found.Memories)
	case expandEpisodes:
		err = h.addEpisodes(ctx, query, found.Memories)
	}
	return found, err
}

// The values of expand.
const (
	expandSources  = "sources"  // the memories that each memory was derived from
	expandEpisodes = "episodes" // the episode of each memory, and its neighbours there
)

// addEpisodes adds to each recalled memory its episode with the memories next to it.
func (h recallHandlers) addEpisodes(ctx context.Context, q recall.Query, recalled []recalledBody) error {
	ids := frame.BodiesOf(recalled, func(m recalledBody) string { return m.ID })
	of, err := h.Episodes.Of(ctx, q.Owner, ids, q.AsOf)
	for i, id := range ids {
		if e, found := of[id]; found {
			opened := openedOf(e)
			recalled[i].Episode = &opened
		}
	}
	return err
}

// expand adds to each recalled memory the memories that it was derived from.
func (h recallHandlers) expand(ctx context.Context, owner memory.Owner, recalled []recalledBody) error {
	if len(recalled) == 0 {
		return nil
	}
	ids := frame.BodiesOf(recalled, func(m recalledBody) string { return m.ID })
	sources, err := h.Sources.Sources(ctx, owner, ids)
	for i := range recalled {
		recalled[i].DerivedFrom = frame.BodiesOf(sources[recalled[i].ID], wire.MemoryOf)
	}
	return err
}
