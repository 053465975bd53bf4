package hippocampus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	firstBackoff = 500 * time.Millisecond
	jitterShare  = 4 // of a wait: up to a quarter is added at random
)

var errLate = errors.New("no answer in time")

// sender sends the requests of package api with the key, repeats those that may
// be repeated, and returns redirections and answers with a status from 400 on as
// errors.
type sender struct{ options }

// Do implements api.HttpRequestDoer. Its errors are of the type *Error, except for the end
// of the request's context.
func (s *sender) Do(req *http.Request) (*http.Response, error) {
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	for attempt := 0; ; attempt++ {
		resp, failure := s.try(req)
		if failure == nil {
			return resp, nil
		}
		if req.Context().Err() != nil {
			return nil, context.Cause(req.Context())
		}
		if attempt >= s.retries || !passes(failure) || !repeatable(req) {
			return nil, failure
		}
		wait := failure.RetryAfter
		if wait > s.longestWait {
			return nil, failure
		}
		if !failure.states {
			wait = s.backoff(attempt)
		}
		switch {
		case sleep(req.Context(), wait):
		case req.Context().Err() != nil:
			return nil, context.Cause(req.Context())
		default:
			return nil, failure
		}
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, failure
			}
			req.Body = body
		}
	}
}

// backoff returns the wait after an attempt, counted from 0, if its answer has no Retry-After.
func (o options) backoff(attempt int) time.Duration { return min(firstBackoff<<attempt, o.longestWait) }

// sleep waits for d and up to a quarter more. It returns false if the context ends before
// that, and does so at once if the context's deadline is too early.
func sleep(ctx context.Context, d time.Duration) bool {
	d += rand.N(d/jitterShare + 1)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// passes reports whether a failure may pass by itself.
func passes(e *Error) bool {
	switch e.Status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// repeatable reports whether sending a request twice has the same effect as sending it
// once: the request only reads, states a final state, has an idempotency key, or merges
// with what it wrote.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		return req.Body == nil || req.GetBody != nil
	}
	if req.GetBody == nil || mediaType(req.Header) != "application/json" {
		return false
	}
	if path := req.URL.Path; strings.HasSuffix(path, "/v1/recall") || strings.HasSuffix(path, "/v1/context") {
		return true
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	var key struct {
		ID    string `json:"id"`
		Dedup bool   `json:"dedup"`
	}
	return json.NewDecoder(body).Decode(&key) == nil && (key.ID != "" || key.Dedup)
}

// try makes one attempt. The body of the answer has been read, unless it is a stream.
func (s *sender) try(req *http.Request) (*http.Response, *Error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	limit := s.timeout
	if mediaType(req.Header) == "application/x-ndjson" || limit <= 0 {
		limit = 1<<63 - 1
	}
	late := time.AfterFunc(limit, func() { cancel(errLate) })
	resp, err := s.http.Do(req.WithContext(ctx))
	if err == nil && resp.StatusCode < http.StatusMultipleChoices &&
		slices.Contains([]string{"text/event-stream", "application/x-ndjson"}, mediaType(resp.Header)) && late.Stop() {
		resp.Body = &streamBody{resp.Body, cancel}
		return resp, nil
	}
	defer late.Stop()
	defer cancel(nil)
	var body []byte
	if err == nil {
		body, err = readBody(resp)
	}
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errLate):
		return nil, &Error{Kind: KindTimeout, Err: errLate}
	case err != nil:
		return nil, &Error{Kind: KindUnreachable, Err: err}
	case resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode != http.StatusNotModified:
		return nil, problem(resp, body)
	}
	resp.Body = &readAlready{Reader: bytes.NewReader(body), bytes: body}
	return resp, nil
}

func mediaType(h http.Header) string {
	value := h.Get("Content-Type")
	if value == "application/json" {
		return value
	}
	name, _, _ := mime.ParseMediaType(value)
	return name
}

func readBody(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	const enough = 1 << 20 // the most that is allocated for a stated length
	expected := min(max(0, resp.ContentLength), enough)
	buffer := bytes.NewBuffer(make([]byte, 0, expected+bytes.MinRead))
	_, err := buffer.ReadFrom(resp.Body)
	return buffer.Bytes(), err
}

// readAlready is a body that is in memory.
type readAlready struct {
	*bytes.Reader
	bytes []byte
}

func (*readAlready) Close() error { return nil }

// streamBody is a body that is still being sent; closing it ends its request.
type streamBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (b *streamBody) Close() error {
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// Decode reads the answer of a method of [Client.API], and closes it. T is the
// schema that openapi.yaml states for the route.
func Decode[T any](resp *http.Response, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, held := resp.Body.(*readAlready)
	answer := new(T)
	switch {
	case !held || mediaType(resp.Header) != "application/json":
		err = errors.New("the answer is not JSON: is this the address of the server?")
	default:
		err = json.Unmarshal(body.bytes, answer)
	}
	if err != nil {
		return nil, &Error{
			Kind: KindBadAnswer, Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"), Err: err,
		}
	}
	return answer, nil
}
