// Package consistency checks the answers of the servers of one installation:
//
//	operations of all clients -> operations on one memory -> linearizable (Check, by porcupine)
//	                                                 -> read your writes, monotonic reads, deleted stays deleted
//
// A history is linearizable if each operation can be placed at one instant between its start and its end so that every
// answer is right. This includes the guarantees of the second line, which describe a violation more precisely.
package consistency

import (
	"fmt"
	"time"
)

// Kind is what an operation does.
type Kind string

// The kinds of operations.
const (
	Create  Kind = "create"
	Update  Kind = "update" // changes the content; refused unless the memory is active
	Delete  Kind = "delete" // the memory is then forgotten
	Restore Kind = "restore"
	Get     Kind = "get"  // reads one memory by id, in any state
	Find    Kind = "find" // a list or a recall, which shows active memories only
)

// Status is the state of a memory as an answer shows it.
type Status string

// The states. A Find that does not show a memory leaves open whether it is Missing or Forgotten.
const (
	Missing   Status = ""
	Active    Status = "active"
	Forgotten Status = "forgotten"
)

// Operation is the part of a request that is about one memory, with its answer.
type Operation struct {
	Client     int
	Server     string
	Request    string // as reports show it
	Kind       Kind
	Memory     string        // id
	Start, End time.Duration // since the beginning of the history
	Refused    bool          // the answer is a conflict, and nothing was changed
	Status     Status        // that the answer shows; for a write, the one that it left
	Content    string        // that the answer shows or the write left; each content is written by one operation only
}

// String is a line of a report.
func (o Operation) String() string {
	shows := string(o.Status) + " " + o.Content
	switch {
	case o.Refused:
		shows = "refused"
	case o.Status == Missing:
		shows = "nothing"
	}
	return fmt.Sprintf("%s to %s: client %d, %s at %s: %s", o.Start.Round(time.Microsecond),
		o.End.Round(time.Microsecond), o.Client, o.Request, o.Server, shows)
}

// writesContent reports whether the operation wrote a content of the memory.
func (o *Operation) writesContent() bool { return (o.Kind == Create || o.Kind == Update) && !o.Refused }

// showsContent reports whether the answer shows a content.
func (o *Operation) showsContent() bool { return !o.Refused && o.Status != Missing }

// isSwitch reports whether the operation makes its memory active or forgotten, and activates which of the two.
func (o *Operation) isSwitch() bool  { return o.Kind == Delete || o.activates() }
func (o *Operation) activates() bool { return o.Kind == Create || o.Kind == Restore }

func (o *Operation) before(other *Operation) bool { return o.End < other.Start }
