// Package hippocampus is the client of the memory server of that name: report
// each turn with [Client.AddTurn], and ask before each prompt with
// [Client.Recall] or [Client.Context].
//
// Requests and answers are the types that package api generates from the server's
// openapi.yaml. Their optional fields are pointers; new(5) is a pointer to 5. Every failure
// is an [*Error]; docs/connect/clients.md states which requests are repeated.
package hippocampus

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"hippocampus/sdk/go/api"
)

// The defaults of a [Client].
const (
	DefaultURL         = "http://127.0.0.1:8080"
	DefaultTimeout     = 30 * time.Second
	DefaultRetries     = 2
	DefaultLongestWait = 60 * time.Second
)

// Client calls a server with one key. It is safe for concurrent use.
type Client struct {
	options options
	api     *api.Client
}

type options struct {
	url         string
	key         string
	timeout     time.Duration
	retries     int
	longestWait time.Duration
	http        *http.Client
}

// Option changes a default of [New].
type Option func(*options)

// WithURL sets the server's address, such as https://memory.example.com. A path in the URL
// is kept. The default is $HIPPOCAMPUS_URL, else [DefaultURL].
func WithURL(url string) Option { return func(o *options) { o.url = url } }

// WithKey sets the API key. The default is $HIPPOCAMPUS_KEY.
func WithKey(key string) Option { return func(o *options) { o.key = key } }

// WithTimeout bounds each attempt of a request; the default is [DefaultTimeout]. Streams
// (events, export, import) are bounded by their context alone once they have begun. Zero
// means no bound.
func WithTimeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// WithRetries sets how often a request is repeated at most; the default is
// [DefaultRetries]. Zero means no repetition.
func WithRetries(n int) Option { return func(o *options) { o.retries = n } }

// WithLongestWait sets the longest Retry-After that is waited for; the default is
// [DefaultLongestWait]. A longer Retry-After ends the attempts.
func WithLongestWait(d time.Duration) Option { return func(o *options) { o.longestWait = d } }

// WithHTTPClient sets the client that sends the requests, for proxies, certificates or
// tracing. It should have no Timeout, which would end streams. Its CheckRedirect is not
// called: the key is sent to no address but that of [WithURL].
func WithHTTPClient(c *http.Client) Option { return func(o *options) { o.http = c } }

// New returns a client. It sends no request. It returns an error if the address is not an
// absolute URL of the scheme http or https.
func New(change ...Option) (*Client, error) {
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = pool.MaxIdleConns // all of them lead to one host
	return build(options{
		url: os.Getenv("HIPPOCAMPUS_URL"), key: os.Getenv("HIPPOCAMPUS_KEY"),
		timeout: DefaultTimeout, retries: DefaultRetries, longestWait: DefaultLongestWait,
		http: &http.Client{Transport: pool},
	}, change)
}

// With returns a client that differs by options and shares the connections. Use it with a
// longer [WithTimeout] for work of a model, such as [Client.Reflect].
func (c *Client) With(change ...Option) (*Client, error) { return build(c.options, change) }

func build(o options, change []Option) (*Client, error) {
	for _, f := range change {
		f(&o)
	}
	if o.url == "" {
		o.url = DefaultURL
	}
	if u, err := url.Parse(o.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("hippocampus: the address %q is not a URL such as %s", o.url, DefaultURL)
	}
	c := &Client{options: o}
	direct := *o.http
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.http = &direct
	made, err := api.NewClient(o.url, api.WithHTTPClient(&sender{options: o}))
	if err != nil {
		return nil, fmt.Errorf("hippocampus: %w", err)
	}
	c.api = made
	return c, nil
}

// API returns a client for every route, with the key, the repetitions and the errors of
// this client. [Decode] reads its answers:
//
//	stats, err := hippocampus.Decode[api.Stats](client.API().GetStats(ctx, nil))
func (c *Client) API() *api.Client { return c.api }

// Close closes the idle connections. The client stays usable.
func (c *Client) Close() { c.options.http.CloseIdleConnections() }

// Ready asks whether the server answers and its stores are available.
func (c *Client) Ready(ctx context.Context) (*Readiness, error) {
	return Decode[Readiness](c.api.GetReadiness(ctx))
}
