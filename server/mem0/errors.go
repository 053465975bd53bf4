package mem0

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
	"hippocampus/server/loopback"
)

// fail writes an error in mem0's form: its clients read the detail of an application/json body, and choose the
// exception by the status.
func fail(w http.ResponseWriter, status int, p frame.Problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": detail(p)}) // fails only if the client has left
}

// detail is the text of a problem, with the fields' names of mem0.
func detail(p frame.Problem) string {
	if len(p.Errors) == 0 {
		return cmp.Or(p.Detail, p.Title)
	}
	faults := make([]string, len(p.Errors))
	for i, fault := range p.Errors {
		faults[i] = strings.TrimSpace(nameOf(fault.Path) + " " + fault.Message)
	}
	return strings.Join(faults, "; ")
}

// names maps fields of /v1 to fields of mem0.
var names = map[string]string{
	"content": "text", "conversation_id": "run_id", "tags": "categories", "limit": "top_k", "filter": "filters",
	"min_confidence": "threshold", "id": "memory_id", "ids": "memory_ids", "body": "the body",
}

// nameOf returns the name that mem0 has for a path of /v1, such as filters.and[0] for query.filter.and[0].
func nameOf(path string) string {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "query."), "path.")
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	return cmp.Or(names[path[:end]], path[:end]) + path[end:]
}

// refuse is an error with a status of its own.
func refuse(status int, text string) error {
	return &loopback.Refusal{Status: status, Problem: frame.Problem{Detail: text}}
}

// invalid is the error of a wrong field.
func invalid(path, format string, args ...any) error {
	return memory.Invalid(memory.Field{Path: path, Message: fmt.Sprintf(format, args...)})
}

// within puts a prefix before the paths of an error of /v1.
func within(prefix string, err error) error {
	var refused *loopback.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	moved := *refused
	moved.Problem.Errors = nil
	moved.Problem.Detail = prefix + detail(refused.Problem)
	return &moved
}
