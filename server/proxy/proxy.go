// Package proxy is a proxy between OpenAI clients and their model, which adds the memory of the user to requests:
//
//	POST chat/completions, responses -> scope -> /v1/context -> the request with one text more -> upstream
//	answer of upstream -> the same bytes, as they arrive -> client
//	                   -> assistant's message, when it is whole -> /v1/turns
//	every other path   -> upstream -> client
//
// Memory is read and written by requests to the API as the same key. A failure of memory never fails the request:
// it passes unchanged, and headers of the answer say why.
package proxy

import (
	"cmp"
	"context"
	_ "embed"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/server/frame"
)

// Path is where the proxy is mounted.
const Path = "/proxy/v1/"

// Options of a proxy.
type Options struct {
	Upstream     *url.URL      // base URL of the model, such as https://api.openai.com/v1; nil: the proxy is off
	Key          string        // of the upstream; empty: the caller's Authorization is passed on if it is no key of ours
	Timeout      time.Duration // of the memory of one request
	Wait         time.Duration // for the first byte of the upstream
	MaxTokens    int           // of the injected text
	AnyKey       bool          // authentication is off: every Authorization is the upstream's
	TrustHeaders bool          // also take the user and conversation from the headers of known front ends
	Injected     *Injections   // nil: the proxy has its own, which no erasure purges
	Now          func() time.Time
	Log          *zap.Logger

	maxBody int64 // bytes of a request that is given memory, with its images; 0: 64 MiB
}

const (
	maxAnswer = 16 << 20 // bytes of an answer that is read for its message
	// connectionBytes is small, so that a thousand open streams need little memory. It holds most events of a stream.
	connectionBytes = 1 << 10
)

//go:embed openapi.yaml
var document []byte

// Mount returns the proxy as a mount of the API.
func Mount(o Options) frame.Mount {
	return frame.Mount{
		Path: Path + "*", Role: memory.RoleRead, Streams: true, KeyHeader: headerKey, Fail: fail,
		Document: document, DocumentName: "proxy.yaml",
		Open: func(v1 http.Handler) frame.MountHandler { return newProxy(o, v1).serve },
	}
}

type proxy struct {
	Options
	v1      http.Handler
	reverse *httputil.ReverseProxy
}

func newProxy(o Options, v1 http.Handler) *proxy {
	o.maxBody = cmp.Or(o.maxBody, 64<<20)
	if o.Injected == nil {
		o.Injected = NewInjections()
	}
	p := &proxy{Options: o, v1: v1}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = o.Wait
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = true // bytes pass unchanged
	transport.ReadBufferSize, transport.WriteBufferSize = connectionBytes, connectionBytes
	p.reverse = &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: transport, FlushInterval: -1, ModifyResponse: p.onResponse,
		ErrorHandler: p.onError, ErrorLog: zap.NewStdLog(o.Log), BufferPool: buffers{},
	}
	return p
}

// call is the state of a request while it is under way. It does not hold the body, since answers may take minutes.
type call struct {
	scope  scope
	shape  shape       // nil: memory does not take part
	turn   string      // client id of the turn that the answer becomes; empty: the answer is not remembered
	said   []message   // of that turn, before the answer
	report http.Header // of the answer
	header http.Header // that this server has set for the answer
}

// passes adds to the report why a request gets no memory.
func (c *call) passes(reason string) { c.report.Set(headerMemory, "none; reason="+reason) }

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) error {
	if p.Upstream == nil {
		return memory.Errorf(memory.KindNotFound,
			"the proxy has no upstream: set proxy.upstream (HIPPOCAMPUS_PROXY_UPSTREAM) to the base URL of a model")
	}
	if slices.Contains(strings.Split(r.URL.Path, "/"), "..") {
		return memory.Errorf(memory.KindInvalid, "the path has a segment \"..\", which could leave the upstream's base URL")
	}
	c := &call{report: http.Header{}, header: w.Header()}
	if err := p.remember(r, c); err != nil {
		return err
	}
	// Without this, net/http closes the request's body when the answer begins. The transport may still read the body up to
	// its end then, and would cut the answer. An error means that the connection needs no call (HTTP/2).
	_ = http.NewResponseController(w).EnableFullDuplex()
	ctx, asking := tracing.Start(r.Context(), "proxy upstream", trace.WithSpanKind(trace.SpanKindClient))
	defer asking.End()
	p.reverse.ServeHTTP(w, r.WithContext(context.WithValue(ctx, callKey{}, c)))
	return nil
}

// remember adds memory to the request if it asks a model as a known user.
func (p *proxy) remember(r *http.Request, c *call) error {
	c.shape = shapeOf(r.Method, strings.TrimPrefix(r.URL.Path, Path))
	if c.shape == nil {
		return nil
	}
	mode := modeOf(r.Header.Get(headerMemory))
	switch {
	case mode == modeOff:
		c.report.Set(headerMemory, "off")
		return nil
	case r.Header.Get("Content-Encoding") != "":
		c.passes("encoded-body")
		return nil
	case r.ContentLength > p.maxBody:
		c.passes("large-body")
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, p.maxBody+1))
	switch {
	case err != nil:
		return memory.Errorf(memory.KindInvalid, "the body broke off: %w", err)
	case int64(len(body)) > p.maxBody:
		c.passes("large-body")
		r.Body = io.NopCloser(io.MultiReader(&sentOnce{body}, r.Body))
		return nil
	}
	replaced := p.inject(r, c, mode, body)
	r.Body = io.NopCloser(&sentOnce{replaced})
	r.ContentLength = int64(len(replaced))
	return nil
}

// sentOnce is a reader of bytes that drops them when all are read.
type sentOnce struct{ left []byte }

func (s *sentOnce) Read(b []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.left)
	if s.left = s.left[n:]; len(s.left) == 0 {
		s.left = nil
	}
	return n, nil
}

// inject returns the body with the memory of its user, or the body unchanged. The report states which.
func (p *proxy) inject(r *http.Request, c *call, mode string, body []byte) []byte {
	why := func(reason string) []byte {
		c.passes(reason)
		return body
	}
	request, err := c.shape.read(body)
	if err != nil {
		return why("unreadable-body")
	}
	c.scope = p.scopeOf(r, request.body)
	if c.scope.User == "" {
		return why("no-user")
	}
	if mode != modeRead && mayWrite(r.Context()) {
		c.turn, c.said = turnID(c.scope, p.Now(), body), request.said
		c.report.Set(headerTurn, c.turn)
	}
	if mode == modeWrite {
		return why("write-only")
	}
	if request.query == "" {
		return why("no-words")
	}
	start := p.Now()
	found, err := p.contextFor(r.Context(), c.scope, request)
	c.report.Set(headerTook, milliseconds(p.Now().Sub(start)))
	if err != nil {
		c.report.Set(headerError, reasonOf(err))
		p.Log.Warn("a request was passed on without memory", zap.Error(err))
		return why(reasonOf(err))
	}
	if found.text == "" {
		return why("nothing-known")
	}
	c.report.Set(headerMemory, "injected")
	c.report.Set(headerMemories, found.memories)
	c.report.Set(headerSize, found.tokens)
	return c.shape.inject(body, request, found.text)
}

// rewrite addresses a request to the upstream.
func (p *proxy) rewrite(pr *httputil.ProxyRequest) {
	rest := strings.TrimPrefix(path.Clean("/"+strings.TrimPrefix(pr.In.URL.EscapedPath(), Path)), "/")
	target := *p.Upstream
	target.Path = cmp.Or(target.Path, "/") // else JoinPath returns a path without a leading slash
	pr.Out.URL = target.JoinPath(rest)
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery
	pr.Out.Host = p.Upstream.Host
	pr.Out.Header = p.headersUp(pr.Out.Header)
	if parent := tracing.Header(pr.In.Context()); parent != "" {
		pr.Out.Header.Set("Traceparent", parent)
	}
	if c := callOf(pr.In.Context()); c != nil && c.turn != "" {
		keepReadable(pr.Out.Header)
	}
}

// onResponse adds the report to an answer, and copies the answer while it is streamed if the turn is to be remembered.
func (p *proxy) onResponse(response *http.Response) error {
	c := callOf(response.Request.Context())
	if response.Header.Get(headerRequestID) != "" {
		c.header.Del(headerRequestID) // the client gets that of the upstream
	}
	for name, values := range c.report {
		response.Header[name] = values
	}
	if c.turn == "" || response.StatusCode != http.StatusOK {
		response.Header.Del(headerTurn)
		return nil
	}
	response.Body = p.follow(response, c)
	return nil
}
