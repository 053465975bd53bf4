package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/server/config"
)

// Refusal is an unsuccessful response.
type Refusal struct {
	Status     int
	RetryAfter time.Duration // 0 unless the server refuses the request for now
	text       string
}

func (r *Refusal) Error() string { return r.text }

// ExitCode returns the exit code of the status.
func (r *Refusal) ExitCode() int {
	switch r.Status {
	case http.StatusNotFound:
		return exit.NotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return exit.Refused
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return exit.Unreachable
	}
	return exit.Failed
}

// unreachable is the error of a request without a response.
type unreachable struct{ error }

func (unreachable) ExitCode() int   { return exit.Unreachable }
func (u unreachable) Unwrap() error { return u.error }

// Unreachable describes a request without a response in one line, with the remedy.
func (s Server) Unreachable(err error) error {
	return unreachable{fmt.Errorf("no answer from %s: %w; check that the server runs there, or give --url",
		s.name(), cause(err))}
}

// Refusal describes an unsuccessful response in one line, with the remedy.
func (s Server) Refusal(response *http.Response) error {
	var problem struct {
		Title, Detail string
		Errors        []struct{ Path, Message string }
	}
	raw, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if json.Unmarshal(raw, &problem) != nil || problem.Title == "" {
		return &Refusal{Status: response.StatusCode, text: fmt.Sprintf(
			"%s answers %s and is not a Hippocampus server: check --url", s.name(), response.Status)}
	}
	text := problem.Detail
	for _, e := range problem.Errors {
		text += "; " + e.Path + " " + e.Message
	}
	switch {
	case response.StatusCode == http.StatusUnauthorized && s.Key == "":
		text = "it needs an API key: set " + config.KeyVariable + ", or run `hippocampus login`"
	case response.StatusCode == http.StatusUnauthorized:
		text += "; the key of " + s.KeySource + " was sent"
	case response.StatusCode == http.StatusServiceUnavailable:
		text += " It is safe to repeat the command."
	}
	wait, _ := retryAfter(response)
	return &Refusal{Status: response.StatusCode, RetryAfter: wait, text: fmt.Sprintf("%s refuses: %s", s.name(), text)}
}

// cause unwraps a url.Error, since the caller names the URL.
func cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// NotFound is the error if a successful response lacks the requested item.
type NotFound struct{ Text string }

func (n *NotFound) Error() string { return n.Text }

// ExitCode returns exit.NotFound.
func (*NotFound) ExitCode() int { return exit.NotFound }
