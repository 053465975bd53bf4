package consistency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Guarantee is a promise that a history can break.
type Guarantee string

// The guarantees. All but Decided follow from Linearizable.
const (
	Linearizable   Guarantee = "linearizable"
	ReadYourWrites Guarantee = "read your writes" // no read shows an older content than an own earlier write
	MonotonicReads Guarantee = "monotonic reads"  // no read shows an older content than an own earlier read
	StaysDeleted   Guarantee = "stays deleted"    // no read shows a memory after its deletion
	StaysWritten   Guarantee = "stays written"    // every read shows a memory after its creation
	Decided        Guarantee = "decided"          // the search for an order ended in time
)

// Violation is a broken guarantee.
type Violation struct {
	Guarantee  Guarantee
	Memory     string
	Operations []Operation // that show it, in the order in which they must have happened; all if no few of them show it
}

// String is a report of several lines.
func (v Violation) String() string {
	lines := make([]string, len(v.Operations))
	for i := range lines {
		lines[i] = v.Operations[i].String()
	}
	return fmt.Sprintf("memory %s breaks %q:\n  %s", v.Memory, v.Guarantee, strings.Join(lines, "\n  "))
}

// Check returns the violations in a history: for each memory first the violations that a few operations show, at most
// two for each read, and then whether all its operations are linearizable.
func Check(history []Operation) (violations []Violation) {
	byMemory := map[string][]Operation{}
	var memories []string // in the order of the history
	for _, o := range history {
		if byMemory[o.Memory] == nil {
			memories = append(memories, o.Memory)
		}
		byMemory[o.Memory] = append(byMemory[o.Memory], o)
	}
	for _, id := range memories {
		operations := byMemory[id]
		l := newLife(operations)
		for i := range operations {
			violations = append(violations, l.staleContent(&operations[i])...)
			violations = append(violations, l.wrongStatus(&operations[i])...)
		}
		if result := linearize(operations); result != porcupine.Ok {
			broken := map[porcupine.CheckResult]Guarantee{porcupine.Illegal: Linearizable, porcupine.Unknown: Decided}[result]
			violations = append(violations, Violation{Guarantee: broken, Memory: id, Operations: operations})
		}
	}
	return violations
}

// life is the history of one memory.
type life struct {
	operations []Operation
	writers    map[string]*Operation // by the content that they wrote
	switches   []*Operation          // that made the memory active or forgotten
}

func newLife(operations []Operation) *life {
	l := &life{operations: operations, writers: map[string]*Operation{}}
	for i := range operations {
		o := &operations[i]
		if o.writesContent() {
			l.writers[o.Content] = o
		}
		if o.isSwitch() {
			l.switches = append(l.switches, o)
		}
	}
	return l
}

// staleContent finds an earlier operation of the same client after which an answer should show a later content.
func (l *life) staleContent(read *Operation) []Violation {
	shown := l.writers[read.Content]
	if !read.showsContent() || shown == nil { // no order explains a content that was never written
		return nil
	}
	for i := range l.operations {
		earlier := &l.operations[i]
		if earlier.Client != read.Client || !earlier.before(read) || !earlier.showsContent() {
			continue
		}
		written := l.writers[earlier.Content]
		switch {
		case written == nil || !shown.before(written):
		case earlier == written:
			return []Violation{{ReadYourWrites, read.Memory, []Operation{*shown, *written, *read}}}
		default:
			return []Violation{{MonotonicReads, read.Memory, []Operation{*shown, *written, *earlier, *read}}}
		}
	}
	return nil
}

// wrongStatus finds a creation, deletion or restoration that ended before a read which shows the opposite, although
// no opposite operation was running or followed.
func (l *life) wrongStatus(read *Operation) []Violation {
	if read.Kind != Get && read.Kind != Find {
		return nil
	}
	broken, active := StaysWritten, read.Status == Active
	if active {
		broken = StaysDeleted
	}
	for _, set := range l.switches {
		if set.activates() == active || !set.before(read) {
			continue
		}
		explains := func(o *Operation) bool { return o.activates() == active && !o.before(set) && !read.before(o) }
		if !slices.ContainsFunc(l.switches, explains) {
			return []Violation{{broken, read.Memory, []Operation{*set, *read}}}
		}
	}
	return nil
}
