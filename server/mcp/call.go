package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"hippocampus/server/loopback"
)

// refusal is a refusal of /v1 with a text for a model.
type refusal struct {
	*loopback.Refusal
	text string
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.Refusal }

// isNotFound reports whether /v1 does not know the requested item.
func isNotFound(err error) bool {
	var refused *loopback.Refusal
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// ask sends a request to /v1 as the key of ctx and decodes its answer. body may be nil. Errors: a refusal.
func ask[T any](ctx context.Context, v1 http.Handler, method, path string, body any) (T, error) {
	var answer T
	err := loopback.Call(ctx, v1, method, path, body, &answer)
	var refused *loopback.Refusal
	if errors.As(err, &refused) {
		err = refusal{refused, textOf(refused)}
	}
	return answer, err
}

// textOf states which argument is wrong and why, and when to try again.
func textOf(r *loopback.Refusal) string {
	if r.Problem.Title == "" {
		return fmt.Sprintf("The memory server answers with status %d. Try again later.", r.Status)
	}
	var text strings.Builder
	text.WriteString(r.Problem.Title + ". ")
	if len(r.Problem.Errors) == 0 {
		text.WriteString(r.Problem.Detail)
	}
	for i, fault := range r.Problem.Errors {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(argumentOf(fault.Path) + " " + fault.Message)
	}
	if wait := r.Header.Get("Retry-After"); wait != "" {
		fmt.Fprintf(&text, " Try again after %s seconds.", wait)
	}
	return text.String()
}

// parameters maps arguments to the parameters of the list of memories.
var parameters = map[string]string{"types": "type", "tags": "tag", "statuses": "status"}

// argumentOf returns the argument that a field of /v1 comes from, such as tags[0] for query.tag[0].
func argumentOf(path string) string {
	parameter, ok := strings.CutPrefix(path, "query.")
	if !ok {
		return path
	}
	for argument, name := range parameters {
		if rest, ok := strings.CutPrefix(parameter, name); ok && (rest == "" || strings.ContainsRune(".[", rune(rest[0]))) {
			return argument + rest
		}
	}
	return parameter
}
