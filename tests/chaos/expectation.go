package main

import (
	"maps"
	"slices"
	"strings"
)

// Values of objects. The values of a memory are followed by its version.
const (
	existing        = "exists"
	ended           = "ended"
	activeMemory    = "active "
	forgottenMemory = "forgotten "
)

// conversationIs is the kind of a conversation, which its first turn begins.
const conversationIs Kind = "conversation"

// object is the expected state of one memory, turn, conversation, fact, instruction,
// outcome, file, pin, relation or copy in the pool, according to the ledger.
type object struct {
	user, name string
	kind       Kind            // of its first request
	id         string          // of a memory or relation, once it is known
	of         string          // the conversation of a turn, the workflow of an outcome, the memory of a pin or copy
	possible   map[string]bool // its values; "" is for absent
	given      map[string]bool // texts that requests have set for a fact or instruction; true: acknowledged
	last       Entry           // the last request that counts
	erased     bool
}

// certain reports whether the object has one possible value.
func (o *object) certain() bool { return len(o.possible) == 1 }

// is reports whether value is the only possible one.
func (o *object) is(value string) bool { return o.certain() && o.possible[value] }

// active reports whether the object is certainly a memory that is active.
func (o *object) active() bool {
	return o.certain() && strings.HasPrefix(slices.Collect(maps.Keys(o.possible))[0], activeMemory)
}

// forgotten reports whether the object is certainly a forgotten memory.
func (o *object) forgotten() bool {
	return o.certain() && strings.HasPrefix(slices.Collect(maps.Keys(o.possible))[0], forgottenMemory)
}

// Expectation is the expected state of the stores, according to the ledger.
type Expectation struct {
	objects map[string]*object // by their names
	byUser  map[string][]*object
	byText  map[string]*object // by words that occur only in the object's texts
}

// Expect reads a ledger.
func Expect(entries []Entry) *Expectation {
	x := &Expectation{objects: map[string]*object{}, byUser: map[string][]*object{}, byText: map[string]*object{}}
	for _, e := range entries {
		x.Apply(e)
	}
	return x
}

// Apply takes the outcome of one more request into account.
func (x *Expectation) Apply(e Entry) {
	if e.Outcome == Refused || e.Kind == Read || e.Kind == Recall || e.Kind == Maintain {
		return
	}
	if e.Kind == Erase {
		x.erase(e)
		return
	}
	o := x.object(e)
	o.last = e
	if e.ID != "" {
		o.id = e.ID
	}
	if e.Kind == PutFact || e.Kind == Publish {
		o.given[e.Value] = o.given[e.Value] || e.Outcome == Acknowledged
		x.byText[e.Value] = o
	}
	after := map[string]bool{}
	for value := range o.possible {
		after[next(e, value)] = true
		if e.Outcome == Unknown {
			after[value] = true
		}
	}
	o.possible = after
	if e.Kind == PostTurn && e.Of != "" {
		x.open(e)
	}
	if e.Kind == DeleteConversation {
		x.deleteTurns(e)
	}
}

func (x *Expectation) object(e Entry) *object {
	o := x.objects[e.Object]
	if o == nil {
		o = &object{
			user: e.User, name: e.Object, kind: e.Kind, of: e.Of, possible: map[string]bool{"": true}, given: map[string]bool{},
		}
		x.objects[e.Object] = o
		x.byUser[e.User] = append(x.byUser[e.User], o)
		x.byText[e.Object] = o
	}
	return o
}

// next returns the value that an object has after a request.
func next(e Entry, value string) string {
	version := strings.TrimPrefix(strings.TrimPrefix(value, activeMemory), forgottenMemory)
	switch e.Kind {
	case WriteMemory, ImportMemory, AddBullet, UpdateMemory:
		return activeMemory + e.Value
	case ForgetMemory:
		return forgottenMemory + version
	case RestoreMemory:
		return activeMemory + version
	case PutFact, Publish, CreateFile, EditFile, Pin:
		return e.Value
	case EndFact, Retire, DeleteConversation, DeleteFile:
		return ""
	case EndConversation:
		return ended
	default:
		return existing
	}
}

// open expects the conversation of a turn.
func (x *Expectation) open(turn Entry) {
	conversation := turn
	conversation.Object, conversation.Kind, conversation.Of = turn.Of, conversationIs, ""
	o := x.object(conversation)
	o.last = turn
	if turn.Outcome == Acknowledged {
		o.possible = map[string]bool{existing: true}
	} else {
		o.possible[existing] = true
	}
}

// deleteTurns expects the turns of a conversation to be deleted. Their memories stay, if
// the turns were processed before.
func (x *Expectation) deleteTurns(e Entry) {
	for _, o := range x.byUser[e.User] {
		if o.kind == PostTurn && o.of == e.Object {
			o.possible[""] = true
			o.last = e
		}
	}
}

// erase expects everything of a user to be deleted, unknown writes included, since the
// erasure waits for the writes under way. An erasure of unknown outcome may have begun.
func (x *Expectation) erase(e Entry) {
	for _, o := range x.byUser[e.User] {
		if o.erased {
			continue
		}
		o.last = e
		if e.Outcome == Acknowledged {
			o.erased = true
			o.possible = map[string]bool{}
		}
		o.possible[""] = true
	}
}
