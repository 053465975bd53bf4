package exchange

import (
	"bytes"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// The first line of an export says what it is.
const (
	Format  = "hippocampus-export"
	Version = 2
	oldest  = 1 // the oldest version that is read: memories alone
)

// header is the first line.
type header struct {
	Format     string    `json:"format"`
	Version    int       `json:"version"`
	ExportedAt time.Time `json:"exported_at"`
}

// recordLine is a memory with its history and those of its relations whose
// other end has come before.
type recordLine struct {
	Memory    memoryLine     `json:"memory"`
	Events    []eventLine    `json:"events"`
	Relations []relationLine `json:"relations"`
}

// moreLine is what the line of a memory had no room for.
type moreLine struct {
	Continues subject     `json:"continues"`
	Events    []eventLine `json:"events"`
}

// endLine is the last line of a whole export.
type endLine struct {
	End Counts `json:"end"`
}

// errorLine is the last line of an export that broke off.
type errorLine struct {
	Error string `json:"error"`
}

// line is any line, as it is read.
type line struct {
	Format        string             `json:"format"`
	Version       int                `json:"version"`
	Memory        *memoryLine        `json:"memory"`
	Continues     *subject           `json:"continues"`
	Events        []eventLine        `json:"events"`
	Relations     []relationLine     `json:"relations"`
	Fact          *factLine          `json:"fact"`
	Instruction   *instructionLine   `json:"instruction"`
	Text          *versionLine       `json:"instruction_version"`
	Skill         *skillLine         `json:"skill"`
	Outcome       *outcomeLine       `json:"outcome"`
	Conversation  *conversationLine  `json:"conversation"`
	Turn          *turnLine          `json:"turn"`
	Consolidation *consolidationLine `json:"consolidation"`
	End           Counts             `json:"end"`
	Error         string             `json:"error"`
}

type subject struct {
	UserID string `json:"user_id"`
	ID     string `json:"id"`
}

type memoryLine struct {
	ID             string          `json:"id"`
	UserID         string          `json:"user_id"`
	AgentID        string          `json:"agent_id,omitempty"`
	ConversationID string          `json:"conversation_id,omitempty"`
	SourceTurnID   string          `json:"source_turn_id,omitempty"`
	Content        string          `json:"content"`
	Type           memory.Type     `json:"type"`
	Domain         memory.Domain   `json:"domain"`
	Tags           []string        `json:"tags"`
	Importance     float64         `json:"importance"`
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	Pinned         bool            `json:"pinned"`
	Status         memory.Status   `json:"status"`
	SupersededBy   string          `json:"superseded_by,omitempty"`
	CreatedAt      time.Time       `json:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
	LastAccessedAt time.Time       `json:"last_accessed_at"`
	AccessCount    int             `json:"access_count"`
	EmbeddingModel string          `json:"embedding_model,omitempty"` // with the embedding alone
	Embedding      []byte          `json:"embedding,omitempty"`       // float32 little-endian, in base64
}

type eventLine struct {
	ID     string           `json:"id"`
	Kind   memory.EventKind `json:"kind"`
	Cause  string           `json:"cause"`
	Detail json.RawMessage  `json:"detail,omitempty"`
	At     time.Time        `json:"at"`
}

type relationLine struct {
	From      string              `json:"from"`
	Kind      memory.RelationKind `json:"kind"`
	To        string              `json:"to"`
	CreatedAt time.Time           `json:"created_at"`
}

func memoryLineOf(m memory.Memory) memoryLine {
	l := memoryLine{
		ID: m.ID, UserID: m.UserID, AgentID: m.AgentID, ConversationID: m.ConversationID, SourceTurnID: m.SourceTurnID,
		Content: m.Content, Type: m.Type, Domain: m.Domain, Tags: m.Tags, Importance: m.Importance, Metadata: compact(m.Metadata),
		Pinned: m.Pinned, Status: m.Status, SupersededBy: m.SupersededBy,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, LastAccessedAt: m.LastAccessedAt, AccessCount: m.AccessCount,
	}
	if l.Tags == nil {
		l.Tags = []string{}
	}
	if len(m.Embedding) > 0 {
		l.EmbeddingModel, l.Embedding = m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding)
	}
	return l
}

func (l memoryLine) memory(appID string) memory.Memory {
	m := memory.Memory{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, AgentID: l.AgentID, ConversationID: l.ConversationID,
		SourceTurnID: l.SourceTurnID, Content: l.Content, Type: l.Type, Domain: l.Domain, Importance: l.Importance,
		Metadata: compact(l.Metadata), Pinned: l.Pinned, Status: l.Status, SupersededBy: l.SupersededBy,
		CreatedAt: memory.Instant(l.CreatedAt), UpdatedAt: memory.Instant(l.UpdatedAt), LastAccessedAt: memory.Instant(l.LastAccessedAt),
		AccessCount: l.AccessCount, EmbeddingModel: l.EmbeddingModel, Embedding: rowcodec.Vector(l.Embedding), Revision: 1,
	}
	if len(l.Tags) > 0 {
		m.Tags = l.Tags
	}
	return m
}

func eventLinesOf(events []memory.Event) []eventLine {
	lines := make([]eventLine, len(events))
	for i, e := range events {
		lines[i] = eventLine{e.ID, e.Kind, e.Cause, compact(e.Detail), e.At}
	}
	return lines
}

func relationLinesOf(relations []memory.Relation) []relationLine {
	lines := make([]relationLine, len(relations))
	for i, r := range relations {
		lines[i] = relationLine{r.From, r.Kind, r.To, r.CreatedAt}
	}
	return lines
}

// record is what a line says of a memory of the app. Of a line that continues
// another the memory has an id and an owner alone.
func (l line) record(appID string) db.Record {
	r := db.Record{}
	if l.Memory != nil {
		r.Memory = l.Memory.memory(appID)
	} else {
		r.Memory.ID, r.Memory.Owner = l.Continues.ID, memory.Owner{AppID: appID, UserID: l.Continues.UserID}
	}
	for _, e := range l.Events {
		r.Events = append(r.Events, memory.Event{
			ID: e.ID, MemoryID: r.Memory.ID, Kind: e.Kind, Cause: e.Cause, Detail: compact(e.Detail), At: memory.Instant(e.At),
		})
	}
	for _, e := range l.Relations {
		r.Relations = append(r.Relations, memory.Relation{From: e.From, To: e.To, Kind: e.Kind, CreatedAt: memory.Instant(e.CreatedAt)})
	}
	return r
}

// compact is a JSON text without insignificant space; nil for nil.
func compact(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	var text bytes.Buffer
	if json.Compact(&text, raw) != nil {
		return raw // it is told by whoever reads it
	}
	return text.Bytes()
}
