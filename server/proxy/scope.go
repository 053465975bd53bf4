package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// Headers of requests and answers.
const (
	headerKey          = "X-Hippocampus-Key"
	headerUser         = "X-Hippocampus-User"
	headerConversation = "X-Hippocampus-Conversation"
	headerAgent        = "X-Hippocampus-Agent"
	headerMemory       = "X-Hippocampus-Memory" // of a request: off, read or write; of an answer: what became of it

	headerMemories = "X-Hippocampus-Memories" // ids of the injected memories, at most 20
	headerSize     = "X-Hippocampus-Context-Tokens"
	headerTurn     = "X-Hippocampus-Turn" // client id of the turn that the answer becomes
	headerTook     = "X-Hippocampus-Took" // milliseconds of memory before the upstream was asked
	headerError    = "X-Hippocampus-Error"

	headerRequestID = "X-Request-Id"
)

// The modes of memory that a request may name; any other word means both.
const (
	modeOff   = "off"
	modeRead  = "read"
	modeWrite = "write"
)

func modeOf(header string) string { return strings.ToLower(strings.TrimSpace(header)) }

// scope states whose memory a request reads and writes.
type scope struct {
	App, User, Conversation, Agent string

	Key string // the id of the key; the API decides whether it may use the user's memory
}

// Headers of known front ends: Open WebUI, LibreChat, LiteLLM and Supermemory's clients.
var (
	trustedUsers = []string{
		"X-OpenWebUI-User-Id", "X-LibreChat-User-Id", "X-Litellm-End-User-Id", "X-Litellm-Customer-Id", "X-Sm-User-Id",
	}
	trustedConversations = []string{
		"X-OpenWebUI-Chat-Id", "X-LibreChat-Conversation-Id", "X-Litellm-Session-Id", "X-Sm-Conversation-Id",
	}
)

// named has the fields in which the bodies of OpenAI clients name their user and conversation.
type named struct {
	User             string `json:"user"`
	SafetyIdentifier string `json:"safety_identifier"`
	Metadata         struct {
		UserID         string `json:"user_id"`
		ConversationID string `json:"conversation_id"`
	} `json:"metadata"`
	Conversation json.RawMessage `json:"conversation"` // of the Responses API: an id, or an object with it
}

// scopeOf finds the scope of a request: its headers first, then its key, then its body. If a header names another user
// than that of the key, the API refuses the scope.
func (p *proxy) scopeOf(r *http.Request, body fields) scope {
	key, _ := frame.KeyOf(r.Context())
	var n named
	for name, into := range map[string]any{
		"user": &n.User, "safety_identifier": &n.SafetyIdentifier, "metadata": &n.Metadata, "conversation": &n.Conversation,
	} {
		_ = json.Unmarshal(body[name].raw, into) // a value of another form names no one
	}
	users, conversations := []string{headerUser}, []string{headerConversation}
	if p.TrustHeaders {
		users = append(users, trustedUsers...)
		conversations = append(conversations, trustedConversations...)
	}
	s := scope{
		App:          key.AppID,
		Key:          key.ID,
		User:         firstOf(r.Header, users, key.UserID, n.User, n.SafetyIdentifier, n.Metadata.UserID),
		Conversation: firstOf(r.Header, conversations, n.Metadata.ConversationID, idOf(n.Conversation)),
		Agent:        r.Header.Get(headerAgent),
	}
	return s
}

// firstOf returns the first header that is set, or else the first text.
func firstOf(header http.Header, names []string, others ...string) string {
	for _, name := range names {
		if value := strings.TrimSpace(header.Get(name)); value != "" {
			return value
		}
	}
	for _, other := range others {
		if other != "" {
			return other
		}
	}
	return ""
}

// idOf reads "id" or {"id": "id"}.
func idOf(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var object struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &object)
	return object.ID
}

// mayWrite reports whether the key of a request may write.
func mayWrite(ctx context.Context) bool {
	key, _ := frame.KeyOf(ctx)
	return key.Role.Includes(memory.RoleWrite)
}
