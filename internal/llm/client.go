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

// Options say where an OpenAI-compatible endpoint is and how patiently to ask
// it. Zero values mean the defaults named beside them.
type Options struct {
	BaseURL string // up to and with "/v1", where the endpoint has it
	APIKey  string // empty: none is sent

	Timeout      time.Duration // of each try; 30 s
	Retries      int           // after the first try; 2, negative: none
	Backoff      time.Duration // before the first retry, doubling up to 8 times, +-25 %; 500 ms
	MaxRetryWait time.Duration // longest Retry-After that is waited for; 20 s
	Concurrency  int           // tries under way at once; further ones wait within their context; 8

	BreakerFailures int           // consecutive failures of the endpoint, callers' deadlines among them, that open the breaker; 5
	BreakerDelay    time.Duration // how long it stays open before one call may try; 15 s

	Logger *zap.Logger      // none
	Now    func() time.Time // reads a Retry-After given as a date; nil: those are ignored
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

// Client is one endpoint with its policies, shared by the models behind it.
// It is safe for concurrent use.
type Client struct {
	options  Options
	api      *openai.Client
	http     *http.Client
	retry    retrypolicy.RetryPolicy[any]
	breaker  circuitbreaker.CircuitBreaker[any]
	bulkhead bulkhead.Bulkhead[any]
}

// NewClient makes a client. It does not reach out: a Chat fails when it is
// first asked, an Embedder when it is made.
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

// Close lets go of idle connections. Calls under way go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call runs one request under the policies: retry around (bulkhead, breaker,
// deadline) around request. Errors are memory errors that name what was asked.
func (c *Client) call(ctx context.Context, what string, request func(context.Context) error) error {
	var last error // of the endpoint, should the caller give up between two tries
	_, err := failsafe.With[any](c.retry).WithContext(ctx).Get(func() (any, error) {
		err := c.try(ctx, request)
		if err != nil && ctx.Err() == nil {
			last = err
			c.options.Logger.Debug("llm call failed", zap.String("call", what), zap.String("error", c.redact(err.Error())))
		}
		return nil, err
	})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if last == nil {
			last = errors.New("no answer yet")
		}
		return memory.Errorf(memory.KindUnavailable, "%s at %s: the caller stopped waiting (%w); so far: %s",
			what, endpointName(c.options.BaseURL), context.Cause(ctx), c.redact(last.Error()))
	}
	return c.explain(what, err)
}

func (c *Client) try(ctx context.Context, request func(context.Context) error) error {
	if err := c.bulkhead.AcquirePermit(ctx); err != nil {
		return err
	}
	defer c.bulkhead.ReleasePermit()
	if err := ctx.Err(); err != nil {
		return err // too late to ask: the endpoint is not to blame
	}
	if !c.breaker.TryAcquirePermit() {
		return circuitbreaker.ErrOpen
	}
	bounded, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errSlow)
	defer cancel()
	err := request(bounded)
	if err != nil && context.Cause(bounded) == errSlow {
		err = &failure{reason: fmt.Sprintf("no answer within %v", c.options.Timeout)}
	}
	c.record(ctx, err)
	return err
}

var errSlow = errors.New("the try took too long")

// record tells the breaker how the endpoint did. A caller that gave up says
// nothing about the endpoint; but a half-open breaker must get its permit back.
// One whose deadline passed found the endpoint slow.
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

// explain turns the outcome of a call into an error of a kind.
func (c *Client) explain(what string, err error) error {
	what += " at " + endpointName(c.options.BaseURL)
	var f *failure
	var m *memory.Error
	switch {
	case errors.As(err, &m):
		return memory.Errorf(m.Kind, "%s: %w", what, m.Err)
	case errors.Is(err, circuitbreaker.ErrOpen):
		return &memory.Error{
			Kind:       memory.KindUnavailable,
			Err:        fmt.Errorf("%s: not asked, since it has failed %d times in a row: %w", what, c.options.BreakerFailures, err),
			RetryAfter: c.breaker.RemainingDelay(),
		}
	case errors.As(err, &f):
		text := c.redact(f.Error())
		if hint := f.remedy(); hint != "" {
			text += ": " + hint
		}
		return &memory.Error{Kind: memory.KindUnavailable, Err: fmt.Errorf("%s: %s", what, text), RetryAfter: f.retryAfter}
	}
	// The request was answered, but what came is not what the API promises.
	return memory.Errorf(memory.KindBadAnswer, "%s: the answer has not the form of the OpenAI API (%s): check the base URL",
		what, c.redact(err.Error()))
}

// redact keeps the key out of texts that an endpoint sent.
func (c *Client) redact(s string) string {
	if c.options.APIKey == "" {
		return s
	}
	return strings.ReplaceAll(s, c.options.APIKey, "[key]")
}
