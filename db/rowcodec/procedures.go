package rowcodec

import (
	"encoding/json"

	"hippocampus/internal/memory"
)

// ScopeOwner is the owner that stands for a scope of an app or agent. It equals no
// user, since the ids of users hold no control characters.
func ScopeOwner(scope memory.Scope) memory.Owner {
	return memory.Owner{AppID: scope.AppID, UserID: "\x00" + string(scope.Kind) + "\x00" + scope.ID}
}

// CheckInstruction refuses an instruction of another scope than a
// transaction's. KindNotFound.
func CheckInstruction(scope memory.Scope, i memory.Instruction) error {
	if i.Scope != scope {
		return memory.Errorf(memory.KindNotFound,
			"instruction %q is of another scope than the transaction: open one for its scope", Storable(i.Name))
	}
	return nil
}

// NoVersion is the error for a version that an instruction does not have.
func NoVersion(name string, number int) error {
	return memory.Errorf(memory.KindNotFound,
		"there is no version %d of an instruction %q: list its versions", number, Storable(name))
}

// NotesJSON is the column of a workflow's notes.
func NotesJSON(notes []memory.OutcomeNote) string {
	b, _ := json.Marshal(append([]memory.OutcomeNote{}, notes...)) // strings and times: cannot fail
	return string(b)
}

// Notes is the inverse of NotesJSON. It returns nil for an empty list.
func Notes(column []byte) (notes []memory.OutcomeNote, err error) {
	if err = json.Unmarshal(column, &notes); len(notes) == 0 {
		return nil, err
	}
	return notes, err
}
