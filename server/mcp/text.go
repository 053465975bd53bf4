package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hippocampus/assembly"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// scope states whose memories a tool has read or changed.
type scope struct {
	AppID          string `json:"app_id"`
	UserID         string `json:"user_id,omitempty"`
	AgentID        string `json:"agent_id,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
}

// memoryBody is a memory as results show it.
type memoryBody struct {
	ID             string          `json:"id"`
	UserID         string          `json:"user_id"`
	AgentID        string          `json:"agent_id,omitempty"`
	ConversationID string          `json:"conversation_id,omitempty"`
	Speaker        string          `json:"said_by,omitempty"`
	Asked          string          `json:"asked,omitempty"`
	Content        string          `json:"content"`
	Type           memory.Type     `json:"type"`
	Tags           []string        `json:"tags"`
	Importance     float64         `json:"importance"`
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	Pinned         bool            `json:"pinned"`
	Status         memory.Status   `json:"status"`
	WordsOnly      bool            `json:"words_only,omitempty"`
	SupersededBy   string          `json:"superseded_by,omitempty"`
	CreatedAt      time.Time       `json:"created_at"`
	LastSaidAt     time.Time       `json:"last_said_at,omitzero"`
	ExpiresAt      time.Time       `json:"expires_at,omitzero"`
	UpdatedAt      time.Time       `json:"updated_at"`

	// Only a search or a context sets the following fields.
	Confidence  float64 `json:"confidence,omitempty"`
	Recollected bool    `json:"recollected,omitempty"` // it had faded
	Updates     string  `json:"updates,omitempty"`     // the id of an earlier memory
	Pool        *shared `json:"pool,omitempty"`        // nil: it is the user's own
}

// shared says who has put a memory into the shared pool.
type shared struct {
	UserID  string `json:"user_id,omitempty"` // empty: it is not known any more
	AgentID string `json:"agent_id,omitempty"`
}

// line states for a model who has shared a memory.
func (s shared) line() string {
	text := "shared by " + cmp.Or(oneLine(s.UserID), "the team")
	if s.AgentID != "" {
		text += "/" + oneLine(s.AgentID)
	}
	return text
}

// effect is the effect of forgetting or restoring a memory on another one.
type effect struct {
	ID   string      `json:"id"`
	Type memory.Type `json:"type"`
	Done string      `json:"done"`
	Why  string      `json:"why,omitempty"`
}

// effectLines state effects for a model, one line each.
func effectLines(effects []effect) string {
	if len(effects) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("\nOther memories that state it or were made of it:")
	for _, e := range effects {
		fmt.Fprintf(&text, "\n- [%s] %s (%s)", e.ID, e.Done, e.Type)
	}
	return text.String()
}

// line states a scope for a model, before the memories that were read in it.
func (s scope) line() string {
	text := "Scope: user " + s.UserID + " of app " + s.AppID
	if s.AgentID != "" {
		text += ", agent " + s.AgentID
	}
	if s.ConversationID != "" {
		text += ", conversation " + s.ConversationID
	}
	return text + ".\n"
}

// degradations maps each part of the server to what an answer lacks without it.
var degradations = map[string]string{
	"vector_store": "The vector store was unavailable: older memories may be missing.",
	"embedder":     "The embedder was unavailable: memories were found by their words alone.",
	"router":       "The router's model was unavailable: rules chose the kinds of memories.",
	"reranker":     "The reranker was unavailable: the best memories may not be first.",
}

// degradedLines state for a model what an answer lacks, one line a part.
func degradedLines(parts []string) string {
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(cmp.Or(degradations[part], "A part of the server was unavailable: "+part+".") + "\n")
	}
	return text.String()
}

// line is a memory for a model, with days in a zone.
func (m memoryBody) line(zone *time.Location) string {
	content := oneLine(m.Content)
	if m.Asked != "" {
		content = fmt.Sprintf("(asked %q) %s", oneLine(m.Asked), content)
	}
	text := fmt.Sprintf("[%s] %s (%s, %s", m.ID, content, m.Type, m.CreatedAt.In(zone).Format(time.DateOnly))
	if !m.LastSaidAt.IsZero() {
		text += ", last said " + m.LastSaidAt.In(zone).Format(time.DateOnly)
	}
	if !m.ExpiresAt.IsZero() {
		text += ", until " + m.ExpiresAt.Add(-1).In(zone).Format(time.DateOnly) // its last day
	}
	if m.Status != memory.Active {
		text += ", " + string(m.Status)
	}
	if m.WordsOnly {
		text += ", found by its words alone"
	}
	if m.Recollected {
		text += ", had faded"
	}
	if m.Updates != "" {
		text += ", probably changes [" + m.Updates + "]"
	}
	if m.Pool != nil {
		text += ", " + m.Pool.line()
	}
	if m.Confidence > 0 {
		text += fmt.Sprintf(", confidence %.2f", m.Confidence)
	}
	return text + ")"
}

// linesOf are memories for a model, in their order, with days in a zone.
func linesOf(memories []memoryBody, order string, zone *time.Location) string {
	var text strings.Builder
	plural := "memories"
	if len(memories) == 1 {
		plural = "memory"
	}
	fmt.Fprintf(&text, "%d %s, %s:", len(memories), plural, order)
	for _, m := range memories {
		text.WriteString("\n- " + m.line(zone))
	}
	return text.String()
}

// secret is a secret that was cut out of an argument and replaced by [secret].
type secret struct {
	Kind string `json:"kind"`
	Path string `json:"path"` // of the argument
}

// secretLines state for a model what was cut out, one line each.
func secretLines(secrets []secret) string {
	var text strings.Builder
	for _, s := range secrets {
		fmt.Fprintf(&text, "\nA secret (%s) was cut out of %s: [secret] stands in its place.", s.Kind, s.Path)
	}
	return text.String()
}

// argumentPath is the path of the arguments in the body of a call.
const argumentPath = "params.arguments."

// cleanedIn returns the arguments of a call whose characters became U+FFFD: those that the mount cleaned, and those
// that an answer of /v1 names, since a call by stdio passes no mount.
func cleanedIn(ctx context.Context, answered []frame.CleanedText) (cleaned []frame.CleanedText) {
	for _, c := range frame.CleanedIn(ctx) {
		if path, ok := strings.CutPrefix(c.Path, argumentPath); ok {
			cleaned = append(cleaned, frame.CleanedText{Path: path, Count: c.Count})
		}
	}
	return append(cleaned, answered...)
}

// cleanedLines state for a model which characters were replaced, one line a text.
func cleanedLines(cleaned []frame.CleanedText) string {
	var text strings.Builder
	for _, c := range cleaned {
		fmt.Fprintf(&text, "\nIn %s, %d characters could not be stored: U+FFFD stands in the place of each.", c.Path, c.Count)
	}
	return text.String()
}

// omission is a known item that a context leaves out.
type omission struct {
	Part   string `json:"part"`
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// roomLine states for a model how much did not fit into a context; "" if all did.
func roomLine(leftOut []omission) string {
	missing := 0
	for _, o := range leftOut {
		if o.Reason == assembly.NoRoom {
			missing++
		}
	}
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d more that is known did not fit: a larger max_tokens has room for more.\n", missing)
}

// oneLine returns a text without line breaks, so that it cannot pass for another memory.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
