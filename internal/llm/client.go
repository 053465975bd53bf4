package llm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/sashabaranov/go-openai"
	"go.uber.org/zap"

	"hippocampus/internal/memory"
)

// Options of an OpenAI-compatible endpoint. A zero value means the default, which
// each comment names last.
type Options struct {
	BaseURL string // including "/v1" if the endpoint has it
	APIKey  string // may be empty

	Timeout      time.Duration // of each try; 30 s
	Retries      int           // after the first try, negative for no retry; 2
	Backoff      time.Duration // before the first retry; doubles up to 8 times its value, +-25 %; 500 ms
	MaxRetryWait time.Duration // longest Retry-After that is waited for; 20 s
	Concurrency  int           // concurrent tries; further ones wait within their context; 8

	// BreakerFailures is the number of consecutive failures of the endpoint,
	// including callers' deadlines, that opens the breaker; 5.
	BreakerFailures int
	BreakerDelay    time.Duration // from opening the breaker to the next trial; 15 s

	Observer Observer // of chat calls and answers; nil: no observer
	Meter    Meter    // of the tokens of each app; nil: they are not counted

	// RefusedFields holds the fields that models of chat calls refuse, and may be shared with other clients; nil: this
	// client's own.
	RefusedFields *RefusedFields

	Health *Health          // receives the outcome of each call; required by Probe, else nil: not kept
	Logger *zap.Logger      // silent
	Now    func() time.Time // for a Retry-After given as a date, and Call.Took; nil: neither
}

func (o Options) withDefaults() Options {
	o.BaseURL = strings.TrimRight(strings.TrimSpace(o.BaseURL), "/")
	o.APIKey = strings.TrimSpace(o.APIKey)
	setDefault(&o.Timeout, 30*time.Second)
	setDefault(&o.Retries, 2)
	setDefault(&o.Backoff, 500*time.Millisecond)
	setDefault(&o.MaxRetryWait, 20*time.Second)
	setDefault(&o.Concurrency, 8)
	setDefault(&o.BreakerFailures, 5)
	setDefault(&o.BreakerDelay, 15*time.Second)
	if o.RefusedFields == nil {
		o.RefusedFields = NewRefusedFields(nil)
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Client is one endpoint with its policies, which all of its models share. It is
// safe for concurrent use.
type Client struct {
	options  Options
	api      *openai.Client
	http     *http.Client
	retry    retrypolicy.RetryPolicy[any]
	breaker  circuitbreaker.CircuitBreaker[any]
	bulkhead bulkhead.Bulkhead[any]
}

// NewClient makes a client without contacting the endpoint.
func NewClient(o Options) *Client {
	o = o.withDefaults()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: min(10*time.Second, o.Timeout)}).DialContext
	transport.MaxIdleConnsPerHost = o.Concurrency
	c := &Client{
		options: o,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		retry: retrypolicy.NewBuilder[any]().
			HandleIf(func(_ any, err error) bool { return retriable(err, o.MaxRetryWait) }).
			WithMaxRetries(max(0, o.Retries)).
			WithBackoff(o.Backoff, 8*o.Backoff).
			WithJitterFactor(0.25).
			WithDelayFunc(retryAfter).
			ReturnLastFailure().
			Build(),
		breaker: circuitbreaker.NewBuilder[any]().
			WithFailureThreshold(uint(o.BreakerFailures)).
			WithSuccessThreshold(1).
			WithDelay(o.BreakerDelay).
			OnStateChanged(func(e circuitbreaker.StateChangedEvent) {
				o.Logger.Warn("llm circuit breaker", zap.String("endpoint", endpointName(o.BaseURL)),
					zap.Stringer("from", e.OldState), zap.Stringer("to", e.NewState))
			}).
			Build(),
		bulkhead: bulkhead.New[any](uint(o.Concurrency)),
	}
	config := openai.DefaultConfig(o.APIKey)
	config.BaseURL = o.BaseURL
	config.HTTPClient = &doer{http: c.http, now: o.Now}
	c.api = openai.NewClientWithConfig(config)
	return c
}

// Close closes idle connections. Calls under way continue.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call runs one request with the policies: retries, and for each try the
// concurrency limit, the breaker and the timeout. Its errors have a kind and name
// the action.
func (c *Client) call(ctx context.Context, action string, request func(context.Context) error) error {
	var last error // the endpoint's last error, reported if ctx ends between two tries
	_, err := failsafe.With[any](c.retry).WithContext(ctx).Get(func() (any, error) {
		err := c.try(ctx, request)
		if err != nil && ctx.Err() == nil {
			last = err
			c.options.Logger.Debug("llm call failed",
				zap.String("call", action), zap.String("error", c.redact(err.Error())))
		}
		return nil, err
	})
	if err == nil {
		c.options.Health.note(nil, nil)
		return nil
	}
	if ctx.Err() != nil {
		if last == nil {
			last = errors.New("no answer yet")
		} else {
			c.note(action, last)
		}
		return c.stopped(ctx, action, last)
	}
	c.note(action, err)
	return c.explain(action, err)
}

// stopped returns the error of a call whose caller stopped waiting; last is the last error of the endpoint.
func (c *Client) stopped(ctx context.Context, action string, last error) error {
	detail := "the model gave no answer in time"
	var f *failure
	if errors.As(last, &f) {
		detail = c.detailOf(f)
	}
	return &memory.Error{
		Kind: memory.KindUnavailable, Detail: detail,
		Err: fmt.Errorf("%s at %s: the caller stopped waiting (%w); so far: %s",
			action, endpointName(c.options.BaseURL), context.Cause(ctx), c.redact(last.Error())),
	}
}

// stopwatch starts to measure a duration. Without a clock, it measures 0.
func (c *Client) stopwatch() (took func() time.Duration) {
	now := c.options.Now
	if now == nil {
		return func() time.Duration { return 0 }
	}
	start := now()
	return func() time.Duration { return now().Sub(start) }
}

// note records the error of a call at the endpoint, unless the breaker was open.
func (c *Client) note(action string, err error) {
	if !errors.Is(err, circuitbreaker.ErrOpen) {
		c.options.Health.note(err, c.explain(action, err))
	}
}

func (c *Client) try(ctx context.Context, request func(context.Context) error) error {
	if err := c.bulkhead.AcquirePermit(ctx); err != nil {
		return err
	}
	defer c.bulkhead.ReleasePermit()
	if err := ctx.Err(); err != nil {
		return err // not a failure of the endpoint
	}
	if !c.breaker.TryAcquirePermit() {
		return circuitbreaker.ErrOpen
	}
	bounded, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errSlow)
	defer cancel()
	err := request(bounded)
	if err != nil && errors.Is(context.Cause(bounded), errSlow) {
		err = &failure{reason: fmt.Sprintf("no answer within %v", c.options.Timeout), slow: true}
	}
	c.record(ctx, err)
	return err
}

var errSlow = errors.New("the try took too long")

// record reports the outcome of a try to the breaker. A canceled call counts
// neither as a success nor as a failure, but must return the permit of a half-open
// breaker. An exceeded deadline counts as a failure.
func (c *Client) record(ctx context.Context, err error) {
	var f *failure
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		if c.breaker.IsHalfOpen() {
			c.breaker.RecordFailure()
		}
	case errors.As(err, &f) && f.endpointDown():
		c.breaker.RecordFailure()
	default:
		c.breaker.RecordSuccess()
	}
}

// explain makes an error with a kind from the error of a call.
func (c *Client) explain(action string, err error) error {
	action += " at " + endpointName(c.options.BaseURL)
	var f *failure
	var m *memory.Error
	switch {
	case errors.As(err, &m):
		return &memory.Error{
			Kind: m.Kind, Err: fmt.Errorf("%s: %w", action, m.Err),
			Detail: "the model's answer cannot be used: " + quotable(c.redact(m.Err.Error())),
		}
	case errors.Is(err, circuitbreaker.ErrOpen):
		return &memory.Error{
			Kind: memory.KindUnavailable,
			Err: fmt.Errorf("%s: not asked, since it has failed %d times in a row: %w",
				action, c.options.BreakerFailures, err),
			RetryAfter: c.breaker.RemainingDelay(),
			Detail: fmt.Sprintf("the model was not asked, since its endpoint has failed %d times in a row",
				c.options.BreakerFailures),
		}
	case errors.As(err, &f):
		text := c.redact(f.Error())
		if hint := f.remedy(); hint != "" {
			text += ": " + hint
		}
		return &memory.Error{
			Kind: memory.KindUnavailable, RetryAfter: f.retryAfter, Detail: c.detailOf(f),
			Err: caused{fmt.Errorf("%s: %s", action, text), f.cause(), f.concernsLength()},
		}
	}
	// The endpoint answered, but not in the form of the API.
	const form = "the answer does not have the form of the API"
	return &memory.Error{
		Kind: memory.KindBadAnswer, Err: fmt.Errorf("%s: %s (%s): check the base URL", action, form, c.redact(err.Error())),
		Detail: form + ": check the base URL of the model",
	}
}

// redact removes the key from texts that an endpoint sent.
func (c *Client) redact(s string) string {
	if c.options.APIKey == "" {
		return s
	}
	return strings.ReplaceAll(s, c.options.APIKey, "[key]")
}
