package mem0

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

// shown is a memory in mem0's form.
type shown struct {
	ID         string          `json:"id"`
	Memory     string          `json:"memory"`
	UserID     string          `json:"user_id"`
	AgentID    *string         `json:"agent_id"`
	AppID      string          `json:"app_id"`
	RunID      *string         `json:"run_id"`
	Hash       string          `json:"hash"`
	Metadata   json.RawMessage `json:"metadata"` // null without any
	Categories []string        `json:"categories"`
	Type       memory.Type     `json:"type"` // mem0 has no such field
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	Expires    *string         `json:"expiration_date"` // the last day; null without any

	// Fields that mem0 does not have; they are left out if they are empty.
	WordsOnly   bool                `json:"words_only,omitempty"`
	Recollected bool                `json:"recollected,omitempty"` // by this search
	Updates     string              `json:"updates,omitempty"`     // the id of an earlier memory of this search
	Secrets     secrets             `json:"secrets,omitempty"`     // of the update that this answers
	Cleaned     []frame.CleanedText `json:"cleaned,omitempty"`     // of the update that this answers

	Score     *float64   `json:"score,omitempty"`
	Breakdown *breakdown `json:"score_breakdown,omitempty"`
}

// breakdown has the parts of a score. All but bm25 are from 0 to 1.
type breakdown struct {
	Semantic   float64 `json:"semantic"` // cosine; 0 if it is negative
	BM25       float64 `json:"bm25"`     // 0 or more
	Entity     float64 `json:"entity"`   // always 0
	Relevance  float64 `json:"relevance"`
	Decay      float64 `json:"decay"`
	Importance float64 `json:"importance"`
}

// show converts a memory.
func (c *call) show(m wire.Memory) shown {
	sum := md5.Sum([]byte(m.Content)) // mem0's hash of a memory
	return shown{
		ID: m.ID, Memory: m.Content, UserID: m.UserID, AgentID: optional(m.AgentID), AppID: c.app,
		RunID: optional(m.ConversationID), Hash: hex.EncodeToString(sum[:]), Metadata: m.Metadata, Categories: m.Tags,
		Type: m.Type, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, WordsOnly: m.WordsOnly,
		Expires: optional(lastDay(m.ExpiresAt)),
	}
}

// lastDay returns the day that ends at an instant, in zones from 12 hours behind UTC to less than 12 hours before it;
// "" of the zero time.
func lastDay(end time.Time) string {
	if end.IsZero() {
		return ""
	}
	const half = 12 * time.Hour
	return end.UTC().Add(-half).Format(time.DateOnly)
}

// optional is null for an empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// read returns a memory that is not forgotten.
func (c *call) read(id string) (m wire.Memory, err error) {
	err = c.ask(http.MethodGet, pathOf(id), nil, &m)
	if err == nil && m.Status == memory.Forgotten {
		err = refuse(http.StatusNotFound, "there is no memory with this id")
	}
	return m, err
}

// pathOf is the path of a memory in /v1.
func pathOf(id string) string { return "/v1/memories/" + url.PathEscape(id) }

// results returns a list in the form of the route.
func (c *call) results(list any) any {
	if c.form == bare && c.body["output_format"] == nil && c.query.Get("output_format") == "" {
		return list
	}
	return map[string]any{"results": list}
}
