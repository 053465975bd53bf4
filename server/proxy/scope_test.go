package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

func TestProxy_FindsTheScope(t *testing.T) {
	t.Parallel()
	const body = `{"messages":[{"role":"user","content":"hi"}],"metadata":{"user_id":"meta","conversation_id":"mc"}%s}`
	for name, test := range map[string]struct {
		trust              bool
		extra              string
		headers            []string
		user, conversation string
		agent              any
	}{
		"metadata":          {user: "meta", conversation: "mc"},
		"user":              {extra: `,"user":"body"`, user: "body", conversation: "mc"},
		"safety identifier": {extra: `,"safety_identifier":"safe"`, user: "safe", conversation: "mc"},
		"header": {extra: `,"user":"body"`, headers: []string{headerUser, "head"}, user: "head",
			conversation: "mc"},
		"a front end, not trusted": {headers: []string{"X-OpenWebUI-User-Id", "w"}, user: "meta", conversation: "mc"},
		"a front end": {trust: true, headers: []string{"X-OpenWebUI-User-Id", "w", "X-OpenWebUI-Chat-Id", "wc"},
			user: "w", conversation: "wc"},
		"LiteLLM": {trust: true, headers: []string{"x-litellm-end-user-id", "l", "x-litellm-session-id", "lc"},
			user: "l", conversation: "lc"},
		"LiteLLM's customer": {trust: true, headers: []string{"x-litellm-customer-id", "l"}, user: "l", conversation: "mc"},
		"LibreChat": {trust: true, headers: []string{"X-LibreChat-User-Id", "lc", "X-LibreChat-Conversation-Id", "lcc"},
			user: "lc", conversation: "lcc"},
		"LibreChat, not trusted": {headers: []string{"X-LibreChat-User-Id", "lc", "X-LibreChat-Conversation-Id", "lcc"},
			user: "meta", conversation: "mc"},
		"Supermemory": {trust: true, headers: []string{"x-sm-user-id", "sm", "x-sm-conversation-id", "smc"},
			user: "sm", conversation: "smc"},
		"ours before a front end's": {trust: true, headers: []string{headerUser, "head", "x-sm-user-id", "sm",
			headerConversation, "hc", "x-sm-conversation-id", "smc"}, user: "head", conversation: "hc"},
		"an agent": {headers: []string{headerAgent, "tutor"}, user: "meta", conversation: "mc", agent: "tutor"},
		"a conversation": {extra: `,"metadata":{},"user":"body","conversation":{"id":"conv"}`, user: "body",
			conversation: "conv"},
		"a wrong form": {extra: `,"user":7`, user: "meta", conversation: "mc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(o *Options) { o.TrustHeaders = test.trust })
			f.answers("application/json", whole)
			f.post("chat/completions", strings.Replace(body, "%s", test.extra, 1), test.headers...)
			if len(f.turns) != 1 || f.turns[0]["user_id"] != test.user || f.turns[0]["agent_id"] != test.agent ||
				f.turns[0]["conversation_id"] != test.conversation {
				t.Errorf("turns: %v", f.turns)
			}
			if len(f.contexts) != 1 || f.contexts[0]["user_id"] != test.user || f.contexts[0]["agent_id"] != test.agent {
				t.Errorf("contexts: %v", f.contexts)
			}
		})
	}
}

func TestProxy_TakesTheUserOfAKeyThatIsBoundToOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.key.UserID = "ana"
	f.answers("application/json", whole)
	f.post("chat/completions", odd)
	f.post("chat/completions", odd, headerUser, "bob") // the API refuses it
	if len(f.turns) != 2 || f.turns[0]["user_id"] != "ana" || f.turns[1]["user_id"] != "bob" {
		t.Errorf("turns: %v", f.turns)
	}
}

func TestProxy_HonoursModesAndRoles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode            string
		role            memory.Role
		contexts, turns int
		state           string
	}{
		"both":                    {"", memory.RoleWrite, 1, 1, "injected"},
		"an unknown word":         {"on", memory.RoleWrite, 1, 1, "injected"},
		"read":                    {"read", memory.RoleWrite, 1, 0, "injected"},
		"write":                   {" Write", memory.RoleWrite, 0, 1, "none; reason=write-only"},
		"off":                     {"off", memory.RoleWrite, 0, 0, "off"},
		"a key that reads":        {"", memory.RoleRead, 1, 0, "injected"},
		"a key that reads, write": {"write", memory.RoleRead, 0, 0, "none; reason=write-only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.key.Role = test.role
			f.answers("application/json", whole)
			response, _ := f.post("chat/completions", odd, headerUser, "ana", headerMemory, test.mode)
			if len(f.contexts) != test.contexts || len(f.turns) != test.turns ||
				response.Header.Get(headerMemory) != test.state || (response.Header.Get(headerTurn) != "") != (test.turns == 1) {
				t.Errorf("%d contexts, %d turns, %v", len(f.contexts), len(f.turns), response.Header)
			}
		})
	}
}

// The upstream sees neither a key of ours nor the names of users.
func TestProxy_KeepsKeysApart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key     string
		headers []string
		want    string
	}{
		"a key of the settings":   {"up", []string{"Authorization", "Bearer ours"}, "Bearer up"},
		"a key of ours alone":     {"", []string{"Authorization", "Bearer ours"}, ""},
		"the caller's, with ours": {"", []string{"Authorization", "Bearer theirs", headerKey, "ours"}, "Bearer theirs"},
		"ours twice":              {"", []string{"Authorization", "Bearer ours", headerKey, "ours"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(o *Options) { o.Key = test.key })
			f.answers("application/json", whole)
			f.post("chat/completions", odd, append(test.headers, headerUser, "ana", "Cookie", "c=1", "X-Api-Key", "ours",
				"X-OpenWebUI-User-Email", "a@b.c", "X-Stainless-Lang", "python", "OpenAI-Project", "p")...)
			got := f.lastSent().header
			if got.Get("Authorization") != test.want || got.Get("X-Stainless-Lang") != "python" ||
				got.Get("OpenAI-Project") != "p" {
				t.Errorf("headers: %v", got)
			}
			raw, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"ours", "ana", "a@b.c", "c=1", "Hippocampus"} {
				if strings.Contains(string(raw), secret) {
					t.Errorf("the upstream sees %q: %s", secret, raw)
				}
			}
		})
	}
}

// A caller's key in a header other than Authorization is passed on if a key of ours is in its own header, or if no key
// of ours is needed.
func TestProxy_PassesTheCallersKeyOfAnotherHeader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		anyKey  bool
		headers []string
		want    string
	}{
		"ours in its own header":    {headers: []string{headerKey, "ours"}, want: "theirs"},
		"authentication is off":     {anyKey: true, want: "theirs"},
		"it may be ours":            {want: ""},
		"ours may be Authorization": {headers: []string{"Authorization", "Bearer ours"}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(o *Options) { o.AnyKey = test.anyKey })
			f.answers("application/json", whole)
			f.post("models", `{}`, append(test.headers, "X-Api-Key", "theirs")...)
			if got := f.lastSent().header.Get("X-Api-Key"); got != test.want {
				t.Errorf("the upstream got the key %q instead of %q", got, test.want)
			}
		})
	}
}

func TestProxy_NeverLeavesItsUpstream(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.answers("application/json", whole)
	for _, path := range []string{
		"%2e%2e/admin", "../../v1/memories", "models/..%2f..%2fadmin", "//evil.example/x", "http://evil.example/",
	} {
		response, _ := f.post(path, `{}`)
		for _, request := range f.sent {
			if !strings.HasPrefix(request.path, "/v1/") || strings.Contains(request.path, "..") ||
				strings.Contains(strings.ToLower(request.path), "%2e") {
				t.Errorf("%s: %d, the upstream got %s", path, response.StatusCode, request.path)
			}
		}
	}
}

func TestProxy_AddsThePathToThatOfTheUpstream(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "/models/org%2Fname", "/": "/models/org%2Fname",
		"/v1": "/v1/models/org%2Fname", "/a/v1/": "/a/v1/models/org%2Fname",
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.options.Upstream.Path = base
			f.answers("application/json", `{}`)
			response, _ := f.post("models/org%2Fname", `{}`)
			if response.StatusCode != http.StatusOK || f.lastSent().path != want {
				t.Errorf("%d, the upstream got %q instead of %q", response.StatusCode, f.lastSent().path, want)
			}
		})
	}
}
