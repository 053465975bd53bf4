// Package recall finds the memories that answer a query, and explains their order:
//
//	query -> divide: the query itself, or the parts of a prompt, which are searched for one by one
//	      -> route | embedding | index of the owner's memories      (in parallel)
//	      -> search: hits by similarity, own writes among them
//	      -> candidates: the best hits, and the best by words
//	      -> fuse: one relevance from similarity, words, neighbours and cues
//	      -> fit: how well all of this fits the query, and a confidence of each
//	      -> rerank: the relevance of the best, by a model if there is one
//	      -> rank: relevance, decay and importance
//	      -> hydrate: rows from the database, cut at the limit
//	      -> recollect: faded memories that have the query's words, if nothing active answers with confidence
//	      -> touch: accesses, batched off the request path
//
// The database decides what exists: every hit is read back from it, and dropped
// if it is missing, inactive or another owner's. If the vector store is
// unavailable, recall compares the embeddings in the database, and the answer
// names the vector store in Degraded.
package recall

import (
	"time"

	"hippocampus/internal/lang/times"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
	"hippocampus/router"
)

// Mode is how the parts of a score are combined.
type Mode string

// The ranking modes; see Score.
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

// Query is one request to recall.
type Query struct {
	ID             string // of the answer, as memory.NewRecallID makes it; empty: the log of recalls makes one
	Owner          memory.Owner
	Text           string // 1..memory.MaxQueryRunes characters
	Previous       string // what was said right before Text, which Text may refer to; or empty
	Limit          int    // 1..memory.MaxLimit
	Domains        []memory.Domain
	Types          []memory.Type
	AgentID        string // memories of this agent, and those of no agent
	ConversationID string
	Tags           []string  // a memory must have all of them
	Since, Until   time.Time // CreatedAt in [Since, Until)
	Where          *filter.Filter
	MinImportance  float64            // 0..1
	MinSimilarity  float64            // -1..1; 0: no minimum
	MinConfidence  float64            // 0..1
	At             time.Time          // clock of the ranking; zero: now
	Zone           *time.Location     // in which the times that the query names are read; nil: the zone of the user
	AsOf           time.Time          // recall what was current then: said by then, and not yet superseded; zero: now
	IncludeFormer  bool               // also statements that are former; words of the query for the past set it
	IncludeExpired bool               // also what has expired: the query asks for what has happened
	WithoutTurn    string             // id of a turn, whose messages and facts are not found; or empty
	Preferences    int                // the answer has up to this many of the user's preferences, whatever the query asks
	NoTouch        bool               // do not count an access, and recollect nothing for good
	NoRecollection bool               // search no faded memories
	NoRoute        bool               // search all domains
	Mode           Mode               // empty: the configured one
	Weights        *Weights           // nil: the configured ones
	DecayRate      float64            // of a memory after one hour without access, above 0 to 1; 0: the configured one
	Candidates     int                // taken from the hits, and from the ranking by words; 0: the configured number
	Memory         memory.ModeSetting // Off: nothing is recalled; unless it is On, the query is not logged
	Explain        bool               // the answer has an Explanation, and its memories Parts

	// Group are those whose messages of the conversation that they share are recalled; nil: the Owner's memories are.
	Group []memory.Participant
	// Pool adds the memories of the app's shared pool. No access of them is counted.
	Pool bool
}

// Answer is the result of a query, best memory first.
type Answer struct {
	Memories []Recalled
	// Preferences are of the section Preferences of the user's profile, best first, without those in Memories. They pass
	// the query's filters.
	Preferences []memory.Memory
	Route       router.Route
	Skipped     bool               // small talk, or memory is off: nothing was searched
	Memory      memory.ModeSetting // that held: the strictest of the modes of the query and of the user
	Asked       []string           // the parts of a prompt that were searched for; nil if the query is not a prompt
	Fit         Fit                // zero if the query was skipped or has no candidate
	Degraded    []string           // parts that failed or were late: "vector_store", "embedder", "router", "reranker"
	At          time.Time
	When        []times.Span // the times that the query names

	Explanation *Explanation // nil unless the query asks for it
}

// Recalled is one memory with every part of its score.
type Recalled struct {
	Memory      memory.Memory
	FormerUntil time.Time // when it was superseded or expired; zero: it is current, or the time is not known
	Recollected bool      // it had faded, and is active again unless the query counts no access
	Repeats     Repeats
	Pooled      *memory.Pooled // whose it is, if it is of the shared pool

	Similarity float64  // raw cosine to the query, -1..1; 0 if the embedder was unavailable
	Lexical    float64  // raw BM25 to the query, 0 or more
	Neighbour  float64  // added to the relevance for neighbours in the conversation, before scaling
	Speaker    float64  // added if the query names the speaker
	Date       float64  // added if the query names the time of the memory
	When       float64  // added if the query asks when and the memory states a time
	ToDo       float64  // added if the query asks for what is still to be done and the memory states it
	Routed     float64  // added because the memory is in a domain of the route
	Question   float64  // share of its text that consists of questions, 0..1, which lowers the relevance
	Message    float64  // added to reach the relevance of a message that it was taken from, or whose fact it superseded
	Skill      float64  // added to reach the relevance of the best workflow of its skill
	Rerank     float64  // the part of the relevance that a reranking model gave; see Rerank
	Relevance  float64  // fused and scaled over the candidates, 0..1; see fuse
	Confidence float64  // that it fits the query, 0..1, whatever else was found; see Fit
	Decay      float64  // freshness at the query's clock, 0..1; 1 for the workflow of a skill
	Importance float64  // 0..1
	Updates    string   // id of the earlier memory that it seems to update, before which it is ranked; or empty
	Update     float64  // added to the score for that
	Score      float64  // the order; ties by id
	Parts      *Parts   // of the score; nil unless the query asks for an explanation
	Sources    []string // how it was found: see sources; shared, read only
}
