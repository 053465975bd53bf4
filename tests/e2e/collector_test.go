package e2e

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives traces by OTLP over HTTP.
type collector struct {
	t    *testing.T
	http *httptest.Server

	mu    sync.Mutex
	raw   [][]byte
	spans []*v1.Span
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t}
	c.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collectortrace.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw = append(c.raw, body)
		for _, resource := range request.ResourceSpans {
			if name := attribute(resource.Resource.Attributes, "service.name"); name != "hippocampus" {
				t.Errorf("the service is %q", name)
			}
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.http.Close)
	return c
}

// named returns the spans of a trace with a name; "" is any trace.
func (c *collector) named(trace, name string) []*v1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.spans), func(s *v1.Span) bool {
		return s.Name != name || trace != "" && hex.EncodeToString(s.TraceId) != trace
	})
}

// one returns the only span of a trace with a name.
func (c *collector) one(trace, name string) *v1.Span {
	c.t.Helper()
	found := c.named(trace, name)
	if len(found) != 1 {
		c.t.Fatalf("trace %s has %d spans named %q:\n%s", trace, len(found), name, c.tree())
	}
	return found[0]
}

// wantChild fails unless a span with a name is below parent, and returns the first one.
func (c *collector) wantChild(parent *v1.Span, name string) *v1.Span {
	c.t.Helper()
	for _, s := range c.named(hex.EncodeToString(parent.TraceId), name) {
		for above := s; above != nil; above = c.parent(above) {
			if bytes.Equal(above.ParentSpanId, parent.SpanId) {
				return s
			}
		}
	}
	c.t.Fatalf("%q is not below %q:\n%s", name, parent.Name, c.tree())
	return nil
}

// parent returns the parent of a span, or nil.
func (c *collector) parent(of *v1.Span) *v1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if bytes.Equal(s.SpanId, of.ParentSpanId) {
			return s
		}
	}
	return nil
}

// tree shows all spans.
func (c *collector) tree() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines strings.Builder
	for _, s := range c.spans {
		fmt.Fprintf(&lines, "%x %x < %x %s\n", s.TraceId[:2], s.SpanId, s.ParentSpanId, s.Name)
	}
	return lines.String()
}

// wantNo fails if any text is anywhere in what was received.
func (c *collector) wantNo(texts ...string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range texts {
		for _, raw := range c.raw {
			if bytes.Contains(bytes.ToLower(raw), []byte(strings.ToLower(text))) {
				c.t.Errorf("the traces contain %q", text)
				break
			}
		}
	}
}
