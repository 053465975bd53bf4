package api

import (
	"context"
	"net/http"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/recall"
)

const defaultRecall = 10 // memories, unless Options.Limit says otherwise

type recallRequest struct {
	UserID         string          `json:"user_id"`
	Query          string          `json:"query"`
	Limit          *int            `json:"limit"`
	Domains        []memory.Domain `json:"domains"`
	Types          []memory.Type   `json:"types"`
	Tags           []string        `json:"tags"`
	AgentID        string          `json:"agent_id"`
	ConversationID string          `json:"conversation_id"`
	Since          string          `json:"since"`
	Until          string          `json:"until"`
	MinImportance  float64         `json:"min_importance"`
	MinSimilarity  float64         `json:"min_similarity"`
	At             string          `json:"at"`
	Touch          *bool           `json:"touch"`
	Route          *bool           `json:"route"`
	Mode           recall.Mode     `json:"mode"`
	Weights        *weightsBody    `json:"weights"`
	Expand         string          `json:"expand"` // of recall alone
}

type weightsBody struct {
	Relevance  float64 `json:"relevance"`
	Decay      float64 `json:"decay"`
	Importance float64 `json:"importance"`
}

// recall makes the request a query of the key's app, for limit memories unless
// it names a limit, and notes what is wrong with it. The text of the query is
// checked by the caller, who knows whether there must be one.
func (b recallRequest) recall(key memory.Key, limit int, c *checks) recall.Query {
	c.places("", b.AgentID, b.ConversationID)
	c.note("tags", memory.CheckTags(b.Tags))
	q := recall.Query{
		Owner: c.owner("user_id", key, b.UserID), Text: b.Query, Limit: orDefault(b.Limit, limit),
		Domains: b.Domains, Types: b.Types, Tags: b.Tags, AgentID: b.AgentID, ConversationID: b.ConversationID,
		MinImportance: b.MinImportance, MinSimilarity: b.MinSimilarity, At: c.time("at", b.At),
		NoTouch: !orDefault(b.Touch, true), NoRoute: !orDefault(b.Route, true), Mode: b.Mode,
	}
	q.Since, q.Until = c.window("", b.Since, b.Until)
	if b.Weights != nil {
		q.Weights = (*recall.Weights)(b.Weights)
		if *b.Weights == (weightsBody{}) {
			c.note("weights", "are all 0: give one of them some weight")
		}
	}
	return q
}

// answerBody is what recall and context have in common.
type answerBody struct {
	Memories []recalledBody `json:"memories"`
	Route    routeBody      `json:"route"`
	Degraded []string       `json:"degraded"`
	At       time.Time      `json:"at"`
	TookMS   float64        `json:"took_ms"`
}

type recalledBody struct {
	memoryBody
	Similarity float64  `json:"similarity"`
	Lexical    float64  `json:"lexical"`
	Neighbour  float64  `json:"neighbour"`
	Speaker    float64  `json:"speaker"`
	Date       float64  `json:"date"`
	When       float64  `json:"when"`
	Question   float64  `json:"question"`
	Skill      float64  `json:"skill"`
	Relevance  float64  `json:"relevance"`
	Decay      float64  `json:"decay"`
	Score      float64  `json:"score"`
	Sources    []string `json:"sources"`

	DerivedFrom []memoryBody `json:"derived_from,omitzero"` // nil unless the request asks for it
}

type routeBody struct {
	Domains []memory.Domain `json:"domains"`
	Source  string          `json:"source"`
	Reason  string          `json:"reason,omitempty"`
	Skipped bool            `json:"skipped"`
	Widened bool            `json:"widened"`
}

func answerOf(a recall.Answer, took time.Duration) answerBody {
	body := answerBody{
		Memories: make([]recalledBody, 0, len(a.Memories)),
		Route:    routeBody{atLeastEmpty(a.Route.Domains), a.Route.Source, a.Route.Reason, a.Skipped, a.Widened},
		Degraded: atLeastEmpty(a.Degraded), At: a.At, TookMS: float64(took.Microseconds()) / 1000,
	}
	for _, m := range a.Memories {
		body.Memories = append(body.Memories, recalledBody{
			memoryOf(m.Memory), m.Similarity, m.Lexical, m.Neighbour, m.Speaker, m.Date, m.When, m.Question, m.Skill, m.Relevance, m.Decay, m.Score, atLeastEmpty(m.Sources), nil,
		})
	}
	return body
}

func (s *Server) recall(ctx context.Context, r *request) error {
	start := s.Now()
	body, err := decode[recallRequest](r)
	if err != nil {
		return err
	}
	var c checks
	c.note("query", memory.CheckContent(body.Query, memory.MaxQueryRunes))
	query := body.recall(r.key, s.Limit, &c)
	if err := c.err(); err != nil {
		return err
	}
	answer, err := s.Recaller.Recall(ctx, query)
	if err != nil {
		return err
	}
	found := answerOf(answer, s.Now().Sub(start))
	if body.Expand == expandSources {
		if err := s.expand(ctx, query.Owner, found.Memories); err != nil {
			return err
		}
	}
	return r.JSON(http.StatusOK, found)
}
