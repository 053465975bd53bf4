package rowcodec

import (
	"encoding/json"

	"hippocampus/internal/memory"
)

// ScopeOwner stands for a scope of an app or agent where an owner is asked
// for. It is no user, whose ids hold no control characters.
func ScopeOwner(scope memory.Scope) memory.Owner {
	return memory.Owner{AppID: scope.AppID, UserID: "\x00" + string(scope.Kind) + "\x00" + scope.ID}
}

// CheckInstruction refuses an instruction of another scope than a
// transaction's. KindNotFound.
func CheckInstruction(scope memory.Scope, i memory.Instruction) error {
	if i.Scope != scope {
		return memory.Errorf(memory.KindNotFound, "instruction %q is of another scope than the transaction: open one for its scope", Storable(i.Name))
	}
	return nil
}

// NoVersion is the error that there is no such version.
func NoVersion(name string, number int) error {
	return memory.Errorf(memory.KindNotFound, "there is no version %d of an instruction %q: list its versions", number, Storable(name))
}

// CheckWorkflow refuses a workflow of another owner than a transaction's, or
// with an id that is not one. KindNotFound, KindInvalid.
func CheckWorkflow(owner memory.Owner, w memory.Workflow) error {
	if w.Owner != owner {
		return memory.Errorf(memory.KindNotFound, "workflow %s is of another user than the transaction: open one for its owner", w.ID)
	}
	for field, id := range map[string]string{"id": w.ID, "memory_id": w.MemoryID} {
		if !memory.IsID(id) && (id != "" || field == "id") {
			return memory.Errorf(memory.KindInvalid, "the %s %q of a workflow is no id: give a lower-case UUID", field, Storable(id))
		}
	}
	return nil
}

// NotesJSON is the column of a workflow's notes.
func NotesJSON(notes []memory.OutcomeNote) string {
	b, _ := json.Marshal(append([]memory.OutcomeNote{}, notes...)) // strings and times: cannot fail
	return string(b)
}

// Notes is the inverse of NotesJSON; nil for none.
func Notes(column []byte) (notes []memory.OutcomeNote, err error) {
	if err = json.Unmarshal(column, &notes); len(notes) == 0 {
		return nil, err
	}
	return notes, err
}
