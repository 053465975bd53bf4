// Package recall finds what a query should remind of, and says why:
//
//	query -> route | embedding | lexical documents        (in parallel)
//	      -> vector and word candidates -> fusion -> neighbours, cues -> workflows of one skill
//	      -> rows from the database -> three-way rank -> cut
//	      -> touch (batched, off the request path)
//
// The database decides what exists: every vector hit is read back from it, and
// what is missing, inactive or another user's is dropped. Without the vector
// store the same candidates are compared in the database's own embeddings, and
// the answer says degraded.
package recall

import (
	"time"

	"hippocampus/internal/memory"
	"hippocampus/router"
)

// Mode is how the parts of a score are put together.
type Mode string

// The ranking modes; see Rank.
const (
	Modulated Mode = "modulated"
	Additive  Mode = "additive"
)

// Modes lists every mode.
var Modes = []Mode{Modulated, Additive}

// Weights of the three parts of a score, each 0 or more.
type Weights struct {
	Relevance  float64 // alpha
	Decay      float64 // beta
	Importance float64 // gamma
}

// Query is one request to remember.
type Query struct {
	Owner          memory.Owner
	Text           string // 1..memory.MaxQueryRunes characters
	Limit          int    // 1..memory.MaxLimit
	Domains        []memory.Domain
	Types          []memory.Type
	AgentID        string // this agent's memories and those shared by all
	ConversationID string
	Tags           []string  // all of them
	Since, Until   time.Time // CreatedAt in [Since, Until)
	MinImportance  float64   // 0..1
	MinSimilarity  float64   // -1..1; 0: none
	At             time.Time // clock of the ranking; zero: now
	NoTouch        bool      // leave access times alone
	NoRoute        bool      // search all domains
	Mode           Mode      // empty: the configured one
	Weights        *Weights  // nil: the configured ones
}

// Answer is what came back, best first.
type Answer struct {
	Memories []Recalled
	Route    router.Route
	Skipped  bool     // small talk: nothing was searched
	Widened  bool     // the routed domains held too little: all were searched
	Degraded []string // parts that were away: "vector_store", "embedder"; empty: none
	At       time.Time
}

// Recalled is one memory with every part of its score.
type Recalled struct {
	Memory     memory.Memory
	Similarity float64  // raw cosine to the query, -1..1; 0 where the embedder was away
	Lexical    float64  // raw BM25 to the query, 0 or more
	Neighbour  float64  // what a neighbour in its conversation lifted relevance by, before scaling
	Speaker    float64  // what its speaker, named by the query, lifted it by
	Date       float64  // what its time, named by the query, lifted it by
	When       float64  // what telling a time, for a query that asks when, lifted it by
	Question   float64  // share of its text that asks, 0..1, for which relevance is lowered
	Skill      float64  // what the best workflow of its skill added to its relevance; see level
	Relevance  float64  // fused and scaled over the candidates, 0..1; see fuse
	Decay      float64  // freshness at the query's clock, 0..1; 1 for the workflow of a skill
	Importance float64  // 0..1
	Score      float64  // what the order is by; ties by id
	Sources    []string // how it was found: "own_write", "vector", "lexical", "skill"; shared, to be read only
}
