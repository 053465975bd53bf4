// Package assembly makes the context of a prompt, which never exceeds its budget:
//
//	request -> gather   instructions, facts, memories, conversation: what there is, best first
//	        -> Split    budget -> a share for each part
//	        -> choose   whole items, while they fit; what a part leaves flows on to the next
//	        -> condense memories that are many, or do not fit, by a model where there is one
//	        -> write    text, or messages, measured as a whole
//	        -> Context  with the size of each part, what was left out, and why
//
// Everything between gathering and the model is a pure function of what there
// is and of the budget.
package assembly

import "hippocampus/recall"

// Part is one of the kinds of thing that a context holds.
type Part string

// The parts, in the order in which a context has them.
const (
	Instructions Part = "instructions"
	Facts        Part = "facts"
	Memories     Part = "memories"
	Conversation Part = "conversation" // its summary, then its latest events
)

// Parts lists every part.
var Parts = []Part{Instructions, Facts, Memories, Conversation}

// Item is something that a context holds whole or not at all.
type Item struct {
	ID        string // what it is told by where it is left out
	Group     Group  // of a memory
	Role      string // of an event, as a message: "user", "assistant" or "system"; empty: it is no event
	Who       string // of an event: whose it is, for a text
	Mark      string // of an event: what its message begins with, where the role does not say all
	Text      string
	Statement string // of items that tell the same only the first is said; empty: nobody else tells it

	whole bool // it is all memories in one
}

// SummaryID is the ID of a conversation's running summary.
const SummaryID = "summary"

// Contents are what there is to say, each part's best first; of a conversation
// the summary, where there is one, and then its latest events, the latest first.
type Contents map[Part][]Item

// Context is what is said.
type Context struct {
	Text     string    // empty where messages are asked for
	Messages []Message // nil where a text is asked for
	Size     int       // of all, as the room's Counter measures; at most its Budget
	Parts    []Spent   // one for each of Parts
	LeftOut  []LeftOut

	Query        string        // what memories were recalled for; empty: none were
	Recalled     recall.Answer // its Memories are all that came back
	Kept         []recall.Recalled
	Dropped      []string // ids of the others
	Condensed    bool     // the kept memories are said by a model's text
	NotCondensed string   // why not, where it was wanted
}

// Message is one message of a chat request.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// Spent is what a part was given and took.
type Spent struct {
	Part   Part
	Budget int // its share
	Used   int // by its items with their headings, measured one by one; more than Budget where others left some
	Items  int
}

// LeftOut is an item that the context does not hold.
type LeftOut struct {
	Part   Part
	ID     string
	Reason string
}

// Why an item is left out.
const (
	NoRoom          = "no room"
	AlreadyIncluded = "already told"
)
