package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// passed are headers that the upstream gets unchanged.
var passed = []string{
	"Api-Key", "azure", "Anthropic-Beta", "x", "Anthropic-Version", "2023-06-01", "Helicone-Auth", "Bearer h",
	"Helicone-Property-App", "a",
	"X-Custom", "mine", "X-Goog-Api-Key", "g", "Openai-Organization", "o", "Openai-Beta", "b",
	"X-Stainless-Retry-Count", "1", "X-Litellm-Tags", "t", "Cf-Aig-Authorization", "Bearer c", "Portkey-Config", "{}",
	"Accept", "text/event-stream", "Accept-Language", "pt", "User-Agent", "own/1",
	"Idempotency-Key", "i", "Origin", "https://o",
	"Referer", "https://r", "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Baggage", "b=1",
	"X-Request-Id", "r", "X-Title", "title", "Range", "bytes=0-", "If-None-Match", `"e"`,
}

// kept are headers that the upstream does not get.
var kept = []string{
	headerUser, "ana", headerConversation, "c-1", headerAgent, "tutor", "X-Hippocampus-Other", "1", "Cookie", "session=1",
	"X-OpenWebUI-User-Id", "w", "X-OpenWebUI-User-Email", "a@b.c",
	"X-OpenWebUI-User-Jwt", "jwt", "X-OpenWebUI-Chat-Id", "wc",
	"X-LibreChat-User-Id", "l", "X-LibreChat-Conversation-Id", "lc", "X-Litellm-End-User-Id", "e",
	"X-Litellm-Customer-Id", "c", "X-Litellm-Session-Id", "s", "X-Sm-User-Id", "sm", "X-Sm-Conversation-Id", "smc",
	"X-Forwarded-For", "10.0.0.1", "X-Forwarded-User", "ana", "X-Real-Ip", "10.0.0.1", "Forwarded", "for=10.0.0.1",
	"X-Auth-Request-Email", "a@b.c", "Remote-User", "ana", "X-Api-Key", "ours", "Authorization", "Bearer ours",
	"Proxy-Authorization", "Basic x", "Keep-Alive", "timeout=5",
}

// The upstream gets what it would get from the client itself, except for what names users, keys of ours, and, if the
// answer is to be remembered, encodings that the proxy cannot decode.
func TestProxy_PassesEveryOtherHeader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path, mode, encoding, encodingUp string
	}{
		"memory off":   {"chat/completions", "off", "br, gzip", "br, gzip"},
		"another path": {"embeddings", "", "br, gzip", "br, gzip"},
		"memory on":    {"chat/completions", "", "br, gzip", "gzip"},
		"read":         {"chat/completions", "read", "br", "br"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(o *Options) { o.Key = "up" })
			f.answers("application/json", whole)
			f.send(f.direct(t)+"/"+test.path, odd, append(passed, "Accept-Encoding", test.encoding)...)
			want := f.lastSent().header
			want.Set("Accept-Encoding", test.encodingUp)
			want.Set("Authorization", "Bearer up")
			f.post(test.path, odd, append(append(passed, kept...), "Accept-Encoding", test.encoding, headerMemory, test.mode)...)
			got := f.lastSent().header
			for _, header := range []http.Header{want, got} {
				header.Del("Content-Length") // that of the body with the memory is greater
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the client gets differs from a direct answer by the headers of the report alone.
func TestProxy_PassesEveryHeaderOfTheAnswer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"off", ""} {
		f := newFixture(t, nil)
		f.script = func(w http.ResponseWriter, _ *http.Request) {
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Openai-Processing-Ms": "7", "X-Ratelimit-Remaining-Tokens": "9",
				"Retry-After": "3", "X-Request-Id": "req-7", "Set-Cookie": "a=b", "X-Custom": "1", "Cf-Ray": "r", "Date": "now",
			} {
				w.Header().Set(name, value)
			}
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"message":"slow down"}}`)
		}
		direct, want := f.send(f.direct(t)+"/chat/completions", odd)
		response, got := f.post("chat/completions", odd, headerUser, "ana", headerMemory, mode)
		for name := range response.Header {
			if strings.HasPrefix(name, "X-Hippocampus-") {
				response.Header.Del(name)
			}
		}
		if diff := cmp.Diff(direct.Header, response.Header); diff != "" || got != want ||
			response.StatusCode != http.StatusTooManyRequests || len(f.turns) != 0 {
			t.Errorf("memory %q: %d %s, %d turns\n%s", mode, response.StatusCode, got, len(f.turns), diff)
		}
	}
}
