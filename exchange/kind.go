package exchange

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// Kind is what a line holds, in the plural.
type Kind string

// The kinds of line, in the order in which an export has them.
const (
	Memories       Kind = "memories"
	Facts          Kind = "facts"                // pieces of evidence on timelines
	Instructions   Kind = "instructions"         // without their texts
	Versions       Kind = "instruction_versions" // their texts
	Skills         Kind = "skills"               // workflows
	Outcomes       Kind = "outcomes"             // that were counted under an id
	Conversations  Kind = "conversations"        // without what was said
	Turns          Kind = "turns"                // of conversations
	Consolidations Kind = "consolidations"       // of conversations
)

// Kinds lists every kind.
var Kinds = []Kind{Memories, Facts, Instructions, Versions, Skills, Outcomes, Conversations, Turns, Consolidations}

// LeftOut counts, at the end of an export, the turns and consolidations that are
// not settled yet, and are not in it.
const LeftOut Kind = "left_out"

// Words is the kind as people write it.
func (k Kind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// Counts is how many lines of each kind there are; a kind that is missing has none.
type Counts map[Kind]int

// equal reports whether both count the same.
func (c Counts) equal(d Counts) bool {
	return !slices.ContainsFunc(Kinds, func(k Kind) bool { return c[k] != d[k] })
}

// String tells the counts: "8 memories, 3 facts" (what is left out is
// told apart).
func (c Counts) String() string {
	var told []string
	for _, k := range Kinds {
		if c[k] > 0 || k == Memories {
			told = append(told, fmt.Sprint(c[k], " ", k.Words()))
		}
	}
	return strings.Join(told, ", ")
}

// same compares what a line holds with what is stored, both as a line would
// tell them. KindConflict: they differ, but for the fields that are left out.
func same(what string, told, stored any, leftOut ...string) error {
	all, is := fields(told), fields(stored)
	for name := range is {
		if _, both := all[name]; !both {
			all[name] = nil
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(leftOut, name) && string(all[name]) != string(is[name]) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return memory.Errorf(memory.KindConflict, "%s is here already and differs in %s: nothing was overwritten", what, strings.Join(names, ", "))
}

// fields are those of a line, by name.
func fields(line any) (all map[string]json.RawMessage) {
	text, _ := json.Marshal(line)  // checked: cannot fail
	_ = json.Unmarshal(text, &all) // neither can this
	return all
}
