// Package assembly makes the context of a prompt, which never exceeds its budget:
//
//	request -> gather   instructions, facts, memories, conversation: all items, best first
//	        -> Split    budget -> a share for each part
//	        -> choose   whole items, while they fit; the budget that a part leaves goes to the next
//	        -> condense the best memories, if they are many or do not fit, by a model if there is one
//	        -> write    text, or messages, measured as a whole
//	        -> Context  with the size of each part, what was left out, and why
//
// Everything between gathering and the model is a pure function of the items and
// the budget.
package assembly

import (
	"time"

	"hippocampus/internal/memory"
	"hippocampus/recall"
)

// Part is a part of a context.
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

// Item is what a context holds whole or not at all.
type Item struct {
	ID          string    // in LeftOut
	Group       Group     // of a memory
	Role        string    // of an event, as a message: "user", "assistant" or "system"; else empty
	Who         string    // of an event or a remembered message: its author
	Asked       string    // of a remembered message: what another speaker asked just before; may be empty
	Mark        string    // of an event: prefix of its message if the role does not say what it is
	At          time.Time // of a memory: when it was said; of a fact: since when it holds
	Again       time.Time // of a memory: when it was last said, if that was after At; else zero
	Dated       bool      // of a memory or fact: At and Again are shown behind its text
	Until       time.Time // of a former memory: when what superseded it was said; else zero
	Recollected bool      // of a memory: it had faded
	Repeats     recall.Repeats
	From        *memory.Citation // of a passage of a document; else nil
	Pooled      *memory.Pooled   // of a memory of the shared pool: whose it is; else nil
	Text        string
	Statement   string // only the first item with the same statement is included; empty: always included
	HeldBy      string // statement of the event that holds the text of a remembered message, and replaces the message

	condensed []Item // the memories that a model's text stands for, if the item is such a text
}

// SummaryID is the ID of a conversation's running summary.
const SummaryID = "summary"

// Contents are the items of each part, best first; of a conversation the summary,
// if there is one, and then the events, latest first.
type Contents map[Part][]Item

// Context is an assembled context.
type Context struct {
	Text     string    // empty if messages were requested
	Messages []Message // nil if a text was requested
	Size     int       // of the whole, by the room's Counter; at most its Budget
	Parts    []Spent   // one for each of Parts
	LeftOut  []LeftOut

	Query        string        // that memories were recalled for; empty: no recall
	Profile      bool          // nothing was asked, and the memories are standing ones
	Recalled     recall.Answer // its Memories are all that were recalled
	Kept         []recall.Recalled
	Preferences  []memory.Memory // what the user prefers that was not recalled
	Dropped      []string        // ids of the recalled memories that were not kept
	Condensed    bool            // a model's text stands for the best of the kept memories
	NotCondensed string          // why not, if condensing was requested
}

// systemRole is the role of the operator's words in a chat request.
const systemRole = "system"

// Message is one message of a chat request.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// Spent is the share of a part and what it used.
type Spent struct {
	Part   Part
	Budget int // its share
	Used   int // by its items with their headings, measured one by one; more than Budget if other parts left some
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
