// Package memory holds the domain types that every other package speaks:
//
//	turn -> candidates -> memories -> events
//
// A chat backend reports turns. The scorer proposes candidates from a turn. The
// gate turns candidates into memories. An event is one step of a memory's
// history. The package imports no other package of Hippocampus; it states the
// limits of every field and checks them.
package memory

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Owner is the user, within an app, that a memory belongs to. An app is the tenant
// that an API key is bound to.
type Owner struct {
	AppID  string // 1..MaxIDBytes bytes, no control characters
	UserID string // 1..MaxIDBytes bytes, no control characters
}

// Memory is one remembered statement and all that is recorded about it.
type Memory struct {
	ID string // UUIDv7, the same in the database and in the vector store
	Owner
	AgentID        string // the agent that alone sees it; empty: all of the user's agents do
	ConversationID string // empty: it belongs to no conversation
	SourceTurnID   string // turn it was extracted from; empty: written directly
	Speaker        string // of a message: see SpeakerOf; of a fact: the name of who stated it; at most MaxIDBytes
	Asked          string // of a short message: what another speaker asked just before; at most MaxAskedRunes
	Content        string // 1..MaxContentRunes characters
	Type           Type
	Domain         Domain
	Tags           []string
	Importance     float64         // 0..1
	Metadata       json.RawMessage // a JSON object of at most MaxMetadataBytes, or nil
	Pinned         bool            // never forgotten by the schedule
	Status         Status
	Faded          bool   // it was forgotten by the rule of retention, and may come back by itself; see recall.Recollector
	SupersededBy   string // id of the memory that replaced it; empty unless StatusSuperseded

	CreatedAt      time.Time // UTC, microseconds; backdated by a write's `at`
	LastSaidAt     time.Time // when it was last said again or edited; zero: not after CreatedAt
	ExpiresAt      time.Time // from when on it is former: see HasExpired; zero: never
	UpdatedAt      time.Time
	LastAccessedAt time.Time // starts as CreatedAt
	AccessCount    int

	Lexemes        string    // text.Lexemes of IndexedText: normal forms separated by one space, in order
	Embedding      []float32 // unit length
	EmbeddingModel string    // empty: see WordsOnly
	OtherEmbedding []float32 // embedding by a second model during a change of models (see db.Serving), or nil
	OtherModel     string
	Revision       int64 // 1 when created, +1 with every change that the vector store shows
}

// Said returns when the memory was last said: it supersedes what was said before.
func (m *Memory) Said() time.Time {
	if m.LastSaidAt.After(m.CreatedAt) {
		return m.LastSaidAt
	}
	return m.CreatedAt
}

// SayAgain notes that the memory was said at an instant, unless it was said later.
func (m *Memory) SayAgain(at time.Time) {
	if at = Instant(at); at.After(m.Said()) {
		m.LastSaidAt = at
	}
}

// WordsOnly reports whether a memory has no embedding, since the embedder refuses its text, even in parts. Only its
// words find it, until an embedder accepts the text.
func (m *Memory) WordsOnly() bool { return m.EmbeddingModel == "" }

// HasVector reports whether the vector store is to hold a vector of the memory.
func (m *Memory) HasVector() bool { return m.Status == Active && !m.WordsOnly() }

// Embed gives a memory its embedding by a model, in place of its former one; an empty one makes it WordsOnly.
func (m *Memory) Embed(embedding []float32, model string) {
	if len(embedding) == 0 {
		embedding, model = nil, ""
	}
	m.Embedding, m.EmbeddingModel = embedding, model
}

// Space is an embedding space. Vectors of different spaces must never be compared.
type Space struct {
	Model string // as the embedder names it
	Dim   int    // numbers in a vector
}

// EmbeddingIn returns the memory's embedding in a space; nil if it was not embedded
// in that space or was read without its embeddings.
func (m *Memory) EmbeddingIn(s Space) []float32 {
	switch {
	case m.EmbeddingModel == s.Model && len(m.Embedding) == s.Dim:
		return m.Embedding
	case m.OtherModel == s.Model && len(m.OtherEmbedding) == s.Dim:
		return m.OtherEmbedding
	}
	return nil
}

// NewID returns a fresh UUIDv7.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// DerivedID returns the id of a memory that is made of a part of a message of a turn. It is always the same id. Such
// ids sort by the millisecond of the turn, then by the place of the message in the turn (0..MaxMessages-1), then by the
// part. turnID is an id of NewID.
func DerivedID(turnID string, place, part int) string {
	id, _ := ParseID(turnID)
	hash := sha256.Sum256(id[:])
	copy(id[10:], hash[:])
	binary.BigEndian.PutUint16(id[6:], 7<<12|uint16(place)&0xFFF) // version 7
	binary.BigEndian.PutUint16(id[8:], 2<<14|uint16(part)&0x3FFF) // variant of RFC 9562
	return uuid.UUID(id).String()
}

// CopiedID returns the id that a copy has for another owner. It sorts like the original, and is always the same for one
// round; an erasure of the owner begins a new round. The original is an id of NewID or DerivedID.
func CopiedID(id string, of Owner, round int) string {
	copied, _ := ParseID(id)
	hash := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %s", of.AppID, of.UserID, round, id))
	copy(copied[8:], hash[:])         // the bytes before are the time, and the place of a message in its turn
	copied[8] = 2<<6 | copied[8]&0x3F // variant of RFC 9562
	return uuid.UUID(copied).String()
}

// MadeOf reports of ids whether they are ids that DerivedID makes of a turn.
func MadeOf(turnID string) func(id [16]byte) bool {
	made, _ := ParseID(DerivedID(turnID, 0, 0))
	return func(id [16]byte) bool { // bytes 6 to 9 are the place and the part
		return [6]byte(id[:]) == [6]byte(made[:]) && [6]byte(id[10:]) == [6]byte(made[10:])
	}
}

// PlaceOf returns the place, in its turn, of the message that a memory was made of. id is an id of DerivedID.
func PlaceOf(id string) int {
	parsed, _ := ParseID(id)
	return int(binary.BigEndian.Uint16(parsed[6:]) & 0xFFF)
}

// MadeAgain returns the id that DerivedID makes of the same part of another turn. id is an id of DerivedID.
func MadeAgain(id, turnID string) string {
	parsed, _ := ParseID(id)
	return DerivedID(turnID, PlaceOf(id), int(binary.BigEndian.Uint16(parsed[8:])&0x3FFF))
}

// IsID reports whether s is an id in the canonical form that NewID returns.
func IsID(s string) bool {
	_, ok := ParseID(s)
	return ok
}

const idLength = 36 // bytes of the canonical form

// ParseID returns the 16 bytes of an id in canonical form.
func ParseID(s string) (id [16]byte, ok bool) {
	u, err := uuid.Parse(s)
	return u, err == nil && len(s) == idLength && s == strings.ToLower(s)
}

// IDs lists the ids of memories.
func IDs(memories []Memory) []string {
	ids := make([]string, len(memories))
	for i, m := range memories {
		ids[i] = m.ID
	}
	return ids
}

// Instant is t as the stores keep it: UTC, truncated to microseconds.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Domain is the intent domain of a memory or a query.
type Domain string

// The domains, in the order in which a prompt lists them.
const (
	GeneralChat Domain = "general_chat"
	Preferences Domain = "user_preferences"
	Profession  Domain = "professional_and_academic"
	Lifestyle   Domain = "lifestyle_and_interests"
	Social      Domain = "social_and_relationships"
	Tasks       Domain = "tasks_and_schedules"
)

// Domains lists every domain.
var Domains = []Domain{GeneralChat, Preferences, Profession, Lifestyle, Social, Tasks}

// Type says what kind of statement a memory is.
type Type string

// Types lists every memory type.
var Types = []Type{
	"message", "fact", "preference", "pattern", "skill", "project", "reflection",
	"summary", "observation", "task", "decision", "tool_use", "error", "insight",
}

// TypeFact is the default type of a memory.
const TypeFact Type = "fact"

// TypeMessage is the type of a memory that holds what was said, word by word.
const TypeMessage Type = "message"

// EmbeddedText is the text whose embedding a memory has: its content, and for a message also the name of its speaker
// and the question before it, as in "Where do you live now? Ana: In Lisbon." It has no date, so that the same words
// have the same embedding on every day.
func (m *Memory) EmbeddedText() string {
	if m.Type != TypeMessage {
		return m.Content
	}
	said := m.Content
	if name := NameOf(m.Speaker); name != "" {
		said = name + ": " + said
	}
	if m.Asked != "" {
		said = m.Asked + " " + said
	}
	return said
}

// IndexedText is the text by whose words a memory is found: EmbeddedText, and for a message also its day, as in
// "[2023-05-07] Ana: We moved last week."
func (m *Memory) IndexedText() string { return m.IndexedTextIn(time.UTC) }

// IndexedTextIn is IndexedText with the day in a zone. A message that has lexemes keeps the day that they begin with.
func (m *Memory) IndexedTextIn(zone *time.Location) string {
	if m.Type != TypeMessage {
		return m.EmbeddedText()
	}
	at := m.CreatedAt.In(zone)
	if day, err := time.Parse("2006 01 02", m.Lexemes[:min(len("2006 01 02"), len(m.Lexemes))]); err == nil &&
		day.Sub(m.CreatedAt).Abs() <= 48*time.Hour {
		at = day
	}
	return at.Format("[2006-01-02] ") + m.EmbeddedText()
}

// DayLexemes is the number of lexemes with which IndexedText of a message begins: year, month and day.
const DayLexemes = 3

// Status is the state of a memory. Only active memories are recalled.
type Status string

// The statuses of a memory.
const (
	Active       Status = "active"
	Superseded   Status = "superseded"   // replaced by a newer memory
	Consolidated Status = "consolidated" // condensed into a reflection or summary
	Forgotten    Status = "forgotten"    // soft-deleted; can be restored until purged
)

// Statuses lists every status.
var Statuses = []Status{Active, Superseded, Consolidated, Forgotten}

// VectorState is what the vector store should hold for a memory, and whether it
// is confirmed to do so.
type VectorState string

// The desired vector states.
const (
	VectorPending  VectorState = "pending"  // should be there, not confirmed
	VectorSynced   VectorState = "synced"   // confirmed to be there
	VectorRemoving VectorState = "removing" // should be absent, not confirmed
	VectorAbsent   VectorState = "absent"   // confirmed to be absent
)

// Relation links two memories: From <kind> To.
type Relation struct {
	From, To  string // ids of two memories of one owner
	Kind      RelationKind
	CreatedAt time.Time
}

// RelationKind names a relation.
type RelationKind string

// The relations.
const (
	DerivedFrom RelationKind = "derived_from" // from a reflection or summary to a source, from a fact to its message
	Supports    RelationKind = "supports"
	Contradicts RelationKind = "contradicts" // from a memory to the one it replaced
	Refines     RelationKind = "refines"     // from a memory to the one it made more precise
)

// RelationKinds lists every relation.
var RelationKinds = []RelationKind{DerivedFrom, Supports, Contradicts, Refines}

// TypeReflection and TypeSummary are the types of memories that are derived
// from other memories.
const (
	TypeReflection Type = "reflection"
	TypeSummary    Type = "summary"
)

// IsDerived reports whether memories of the type are derived from others. Rewording such a memory changes no source.
func (t Type) IsDerived() bool { return t == TypeReflection || t == TypeSummary }

// IsInferred reports whether memories of the type state what a model has concluded from what was said.
func (t Type) IsInferred() bool { return t == TypeReflection || t == "insight" }

// Dot is the dot product of two vectors of the same dimension; for unit vectors, their
// cosine. Eight independent sums let the processor overlap the additions.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
