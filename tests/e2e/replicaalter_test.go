package e2e

import (
	"slices"
	"testing"

	"hippocampus/tests/consistency"
)

// alteration changes one answer of a recorded history so that a guarantee is broken.
type alteration struct {
	breaks consistency.Guarantee
	// suits reports whether a wrong answer to read would contradict other, an operation on the same memory. first is the
	// operation that created the memory.
	suits func(first, other, read consistency.Operation) bool
	// unless excludes a read if it is true for any operation on the memory.
	unless func(other, read consistency.Operation) bool
}

// alterations are the seeded violations: each shows the first content of a memory in a later answer.
var alterations = []alteration{
	{
		breaks: consistency.ReadYourWrites,
		suits: func(first, other, read consistency.Operation) bool {
			return read.Status == consistency.Active && changes(other) && other.Client == read.Client &&
				first.End < other.Start && other.End < read.Start
		},
		unless: func(consistency.Operation, consistency.Operation) bool { return false },
	},
	{
		breaks: consistency.MonotonicReads,
		suits: func(first, other, read consistency.Operation) bool {
			return read.Status == consistency.Active && isRead(other) && other.Status == consistency.Active &&
				other.Client == read.Client && other.End < read.Start && other.Content != first.Content
		},
		unless: func(other, read consistency.Operation) bool { return changes(other) && other.Client == read.Client },
	},
	{
		breaks: consistency.StaysDeleted,
		suits: func(_, other, read consistency.Operation) bool {
			return read.Status != consistency.Active && other.Kind == consistency.Delete && other.End < read.Start
		},
		unless: func(other, read consistency.Operation) bool {
			return other.Kind == consistency.Restore && other.Start <= read.End
		},
	},
}

func isRead(o consistency.Operation) bool {
	return o.Kind == consistency.Get || o.Kind == consistency.Find
}

func changes(o consistency.Operation) bool { return o.Kind == consistency.Update && !o.Refused }

// isFound alters the first answer that suits. The checker must find the guarantee that the alteration breaks.
func (a alteration) isFound(t *testing.T, history []consistency.Operation) {
	t.Helper()
	for i, read := range history {
		of := slices.Clone(history)
		of = slices.DeleteFunc(of, func(o consistency.Operation) bool { return o.Memory != read.Memory })
		first := of[slices.IndexFunc(of, func(o consistency.Operation) bool { return o.Kind == consistency.Create })]
		if !isRead(read) ||
			!slices.ContainsFunc(of, func(o consistency.Operation) bool { return a.suits(first, o, read) }) ||
			slices.ContainsFunc(of, func(o consistency.Operation) bool { return a.unless(o, read) }) {
			continue
		}
		altered := slices.Clone(history)
		altered[i].Status, altered[i].Content = consistency.Active, first.Content
		found := consistency.Check(altered)
		for _, want := range []consistency.Guarantee{a.breaks, consistency.Linearizable} {
			if !slices.ContainsFunc(found, func(v consistency.Violation) bool { return v.Guarantee == want }) {
				t.Errorf("with the answer %v in place of %v, the history does not break %q", altered[i], read, want)
			}
		}
		return
	}
	t.Errorf("no answer of the history can be altered to break %q", a.breaks)
}
