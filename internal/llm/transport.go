package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/failsafe-go/failsafe-go"
	"go.opentelemetry.io/otel/propagation"

	"hippocampus/internal/memory"
)

const (
	maxBody   = 4 << 20 // bytes of an answer
	maxReason = 300     // bytes of an endpoint's message in an error
)

// failure is the error of a try without a successful answer.
type failure struct {
	status     int    // HTTP status; 0: no answer arrived
	reason     string // one line
	slow       bool   // no answer arrived in time; reason says so
	body       []byte // of the answer; nil: no answer arrived
	retryAfter time.Duration
}

func (f *failure) Error() string {
	if f.status == 0 {
		return f.reason
	}
	text := fmt.Sprintf("status %d %s", f.status, http.StatusText(f.status))
	if f.reason != "" {
		text += ": " + f.reason
	}
	return text
}

// endpointDown reports whether the endpoint, not the request, is at fault.
func (f *failure) endpointDown() bool {
	return f.status == 0 || f.status >= 500 || f.status == http.StatusRequestTimeout
}

func (f *failure) retriable() bool {
	return f.endpointDown() || f.status == http.StatusTooManyRequests || f.status == http.StatusTooEarly
}

// concernsRequest reports whether the endpoint refuses this request, and may accept others.
func (f *failure) concernsRequest() bool {
	switch f.status {
	case http.StatusPaymentRequired, http.StatusNotFound:
		return false
	}
	return f.status >= 400 && !f.retriable() && !f.refusesKey()
}

// aboutTextLength matches further refusals of texts that are too long for an embedding model, in addition to
// aboutLength.
var aboutTextLength = regexp.MustCompile(`(?i)(?:less|fewer|more) than \d+ tokens|input.{0,20} length|` +
	`max(?:imum)?.{0,20} (?:length|tokens)`)

// concernsLength reports whether the endpoint refuses this request for its length.
func (f *failure) concernsLength() bool {
	return f.status == http.StatusRequestEntityTooLarge ||
		f.concernsRequest() && (aboutLength.MatchString(f.reason) || aboutTextLength.MatchString(f.reason))
}

func (f *failure) refusesKey() bool {
	return f.status == http.StatusUnauthorized || f.status == http.StatusForbidden
}

// remedy says what the operator of the server can do.
func (f *failure) remedy() string {
	switch {
	case f.status == 0:
		return "check that it runs and that its base URL is right"
	case f.refusesKey():
		return "check the API key and its permissions"
	case f.status == http.StatusNotFound:
		return "check the base URL and the model's name"
	case f.status == http.StatusPaymentRequired:
		return "check the account's balance"
	case f.status < 400:
		return "it redirects: correct the base URL"
	case f.status == http.StatusTooManyRequests, f.endpointDown():
		return "try again later"
	}
	return "check that the model supports this kind of request"
}

// retriable reports whether a try should be repeated.
func retriable(err error, maxWait time.Duration) bool {
	var f *failure
	return errors.As(err, &f) && f.retriable() && f.retryAfter <= maxWait
}

// retryAfter is the wait that the endpoint requested; -1 (back off) if it did
// not request one. It adds a third, so that a jitter of 25 % never makes it too short.
func retryAfter(exec failsafe.ExecutionAttempt[any]) time.Duration {
	var f *failure
	if errors.As(exec.LastError(), &f) && f.retryAfter > 0 {
		return f.retryAfter * 4 / 3
	}
	return -1
}

// doer sends requests for the API client. It reads whole answers of bounded size,
// and returns a *failure for every answer but a success.
type doer struct {
	http *http.Client
	now  func() time.Time
}

func (d *doer) Do(request *http.Request) (*http.Response, error) {
	propagation.TraceContext{}.Inject(request.Context(), propagation.HeaderCarrier(request.Header))
	response, err := d.http.Do(request)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may hold a secret
		}
		return nil, &failure{reason: oneLine(err.Error())}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, &failure{reason: "the answer broke off: " + oneLine(err.Error())}
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, &failure{
			status:     response.StatusCode,
			reason:     apiMessage(body),
			body:       body,
			retryAfter: parseRetryAfter(response.Header.Get("Retry-After"), d.now),
		}
	}
	if len(body) > maxBody {
		return nil, memory.Errorf(memory.KindBadAnswer, "the answer is over %d bytes", maxBody)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// apiMessage extracts the endpoint's message from the body of an error.
func apiMessage(body []byte) string {
	var answer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	text := string(body)
	if json.Unmarshal(body, &answer) == nil {
		switch {
		case json.Unmarshal(answer.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(answer.Error, &text) == nil:
		case answer.Message != "":
			text = answer.Message
		}
	}
	return oneLine(text)
}

// parseRetryAfter reads seconds or an HTTP date (RFC 9110, 10.2.3); 0 if value is neither.
func parseRetryAfter(value string, now func() time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil && now != nil {
		return max(0, at.Sub(now()))
	}
	return 0
}

// oneLine makes an endpoint's text suitable for an error or a log line.
func oneLine(s string) string {
	whole := len(s) <= 4*maxReason
	s = strings.ToValidUTF8(s[:min(len(s), 4*maxReason)], "")
	isBlank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	s = strings.Join(strings.FieldsFunc(s, isBlank), " ")
	if len(s) > maxReason || !whole {
		s = strings.ToValidUTF8(s[:min(len(s), maxReason)], "") + "…"
	}
	return s
}

// endpointName is an address without user, password and query.
func endpointName(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "a base URL that is not a URL"
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.Path, "/")
}
