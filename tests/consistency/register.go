package consistency

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// state is the state of the register of one memory.
type state struct {
	status  Status
	content string
}

// step returns whether an operation may have had its answer in a state, and the state after it.
func (s state) step(o Operation) (bool, state) {
	seen := state{status: o.Status, content: o.Content}
	switch o.Kind {
	case Create:
		return s.status == Missing, seen
	case Update:
		if o.Refused {
			return s.status != Active, s
		}
		return s.status == Active, seen
	case Delete:
		return s.status != Missing && seen == state{status: Forgotten, content: s.content}, seen
	case Restore:
		return s.status != Missing && seen == state{status: Active, content: s.content}, seen
	case Get:
		return seen == s, s
	default: // Find
		if o.Status == Missing {
			return s.status != Active, s
		}
		return seen == s, s
	}
}

// register is the model of one memory.
var register = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(s, _, operation any) (bool, any) { return s.(state).step(operation.(Operation)) },
}

// decisionLimit is how long porcupine may search for an order of the operations of one memory.
const decisionLimit = time.Minute

// linearize returns whether an order of a memory's operations explains all answers.
func linearize(operations []Operation) porcupine.CheckResult {
	list := make([]porcupine.Operation, len(operations))
	for i, o := range operations {
		list[i] = porcupine.Operation{ClientId: o.Client, Call: int64(o.Start), Output: o, Return: int64(o.End)}
	}
	return porcupine.CheckOperationsTimeout(register, list, decisionLimit)
}
