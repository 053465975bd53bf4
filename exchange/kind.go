package exchange

import (
	"fmt"
	"slices"
	"strings"
)

// Kind names what a line holds, in the plural.
type Kind string

// The kinds of line, in the order in which an export has them.
const (
	Memories       Kind = "memories"
	Facts          Kind = "facts"                // timeline facts
	Instructions   Kind = "instructions"         // without their texts
	Versions       Kind = "instruction_versions" // the texts
	Skills         Kind = "skills"               // workflows
	Outcomes       Kind = "outcomes"             // that were counted under a client's id
	Conversations  Kind = "conversations"        // without their turns
	Turns          Kind = "turns"                // of conversations
	Consolidations Kind = "consolidations"       // of conversations
)

// Kinds lists every kind.
var Kinds = []Kind{
	Memories, Facts, Instructions, Versions, Skills, Outcomes, Conversations, Turns, Consolidations,
}

// LeftOut counts, at the end of an export, the turns and consolidations that it
// omits because they are not finished yet.
const LeftOut Kind = "left_out"

// Words is the kind as a phrase: "instruction versions".
func (k Kind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// Counts is the number of lines of each kind.
type Counts map[Kind]int

// equal reports whether both count the same, except for LeftOut.
func (c Counts) equal(d Counts) bool {
	return !slices.ContainsFunc(Kinds, func(k Kind) bool { return c[k] != d[k] })
}

// String lists the counts, except for LeftOut: "8 memories, 3 facts".
func (c Counts) String() string {
	var parts []string
	for _, k := range Kinds {
		if c[k] > 0 || k == Memories {
			parts = append(parts, fmt.Sprint(c[k], " ", k.Words()))
		}
	}
	return strings.Join(parts, ", ")
}
