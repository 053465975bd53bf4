package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const (
	firstYear, lastYear = 1970, 2200    // the range that every store keeps exactly
	maxCause            = 1024          // characters
	unitError           = 1e-3          // of an embedding's length
	maxSummary          = 64 << 10      // characters
	maxError            = 64 << 10      // characters
	maxNumber           = math.MaxInt32 // of what is counted
)

// complaints are what is wrong with a line, field by field.
type complaints []memory.Field

// note records a complaint; "" is none.
func (c *complaints) note(path, complaint string) {
	if complaint != "" {
		*c = append(*c, memory.Field{Path: path, Message: complaint})
	}
}

func (c *complaints) id(path, id string) {
	if !memory.IsID(id) {
		c.note(path, "is not a UUID in lower case")
	}
}

func (c *complaints) time(path string, t time.Time) {
	if year := t.UTC().Year(); year < firstYear || year > lastYear {
		c.note(path, fmt.Sprintf("is not in the years %d to %d", firstYear, lastYear))
	}
}

func (c *complaints) timeOrNone(path string, t time.Time) {
	if !t.IsZero() {
		c.time(path, t)
	}
}

func (c *complaints) textOrNone(path, text string, maxRunes int) {
	if text != "" {
		c.note(path, memory.CheckContent(text, maxRunes))
	}
}

func (c *complaints) number(path string, n, least, most int64) {
	if n < least || n > most {
		c.note(path, fmt.Sprintf("is not in %d to %d", least, most))
	}
}

// hash is one as everything is hashed that clients send.
func (c *complaints) hash(path, hash string) {
	if sum, err := hex.DecodeString(hash); err != nil || len(sum) != sha256.Size || strings.ToLower(hash) != hash {
		c.note(path, "is not the SHA-256 of a text, in hexadecimal digits")
	}
}

func known[T ~string](c *complaints, path string, list []T, value T) {
	if !slices.Contains(list, value) {
		c.note(path, fmt.Sprintf("is not one of %v", list))
	}
}

// check holds a line to what the API asks of a write, and the stores of a row.
func (l line) check() error {
	var c complaints
	id := ""
	if l.Memory != nil {
		id = l.Memory.ID
		l.Memory.check(&c)
	} else {
		id = l.Continues.ID
		c.id("continues.id", id)
		c.note("continues.user_id", memory.CheckID(l.Continues.UserID, false))
	}
	seen := map[string]bool{}
	for i, e := range l.Events {
		path := fmt.Sprintf("events[%d].", i)
		c.id(path+"id", e.ID)
		if seen[e.ID] {
			c.note(path+"id", "is given more than once")
		}
		seen[e.ID] = true
		known(&c, path+"kind", memory.EventKinds, e.Kind)
		if utf8.RuneCountInString(e.Cause) > maxCause {
			c.note(path+"cause", fmt.Sprintf("is longer than %d characters", maxCause))
		}
		if e.Detail != nil && compact(e.Detail)[0] != '{' {
			c.note(path+"detail", "is not a JSON object")
		}
		c.time(path+"at", e.At)
	}
	for i, r := range l.Relations {
		path := fmt.Sprintf("relations[%d].", i)
		c.id(path+"from", r.From)
		c.id(path+"to", r.To)
		if r.From == r.To || r.From != id && r.To != id {
			c.note(path+"to", "is not a relation of this memory with another one")
		}
		known(&c, path+"kind", memory.RelationKinds, r.Kind)
		c.time(path+"created_at", r.CreatedAt)
	}
	return Wrong(c)
}

// Wrong is the error of a line whose fields are wrong; nil for none. Its text
// names the first few of them.
func Wrong(fields []memory.Field) error {
	const most = 5
	if len(fields) == 0 {
		return nil
	}
	told, more := fields[:min(len(fields), most)], ""
	if n := len(fields) - len(told); n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return &memory.Error{Kind: memory.KindInvalid, Err: errors.New("is not valid" + more), Fields: told}
}

func (l memoryLine) check(c *complaints) {
	c.id("memory.id", l.ID)
	c.note("memory.user_id", memory.CheckID(l.UserID, false))
	c.note("memory.agent_id", memory.CheckID(l.AgentID, true))
	c.note("memory.conversation_id", memory.CheckID(l.ConversationID, true))
	if l.SourceTurnID != "" {
		c.id("memory.source_turn_id", l.SourceTurnID)
	}
	c.note("memory.content", memory.CheckContent(l.Content, memory.MaxContentRunes))
	known(c, "memory.type", memory.Types, l.Type)
	known(c, "memory.domain", memory.Domains, l.Domain)
	c.note("memory.tags", memory.CheckTags(l.Tags))
	if !(l.Importance >= 0 && l.Importance <= 1) {
		c.note("memory.importance", "is not in 0 to 1")
	}
	c.note("memory.metadata", memory.CheckMetadata(compact(l.Metadata)))
	known(c, "memory.status", memory.Statuses, l.Status)
	if l.SupersededBy != "" {
		c.id("memory.superseded_by", l.SupersededBy)
		if l.Status != memory.Superseded {
			c.note("memory.superseded_by", "is given, though the status is "+string(l.Status))
		}
	}
	c.time("memory.created_at", l.CreatedAt)
	c.time("memory.updated_at", l.UpdatedAt)
	c.time("memory.last_accessed_at", l.LastAccessedAt)
	if l.AccessCount < 0 || l.AccessCount > math.MaxInt32 {
		c.note("memory.access_count", fmt.Sprintf("is not in 0 to %d", math.MaxInt32))
	}
	if (l.EmbeddingModel == "") != (len(l.Embedding) == 0) {
		c.note("memory.embedding_model", "and embedding are given together or not at all")
	}
	c.note("memory.embedding_model", memory.CheckID(l.EmbeddingModel, true))
	if !isUnit(l.Embedding) {
		c.note("memory.embedding", "is not a vector of unit length: give the base64 of its float32 numbers, little-endian")
	}
}

// isUnit reports whether bytes are a vector of unit length, or none.
func isUnit(b []byte) bool {
	sum := 0.0
	for _, x := range rowcodec.Vector(b) {
		sum += float64(x) * float64(x)
	}
	return len(b) == 0 || len(b)%4 == 0 && math.Abs(math.Sqrt(sum)-1) < unitError
}

// differences names what of a record is not as it is stored. How often and when
// a memory was accessed, and its embedding, are not compared: they change
// without anybody changing the memory.
func differences(r, stored db.Record) (names []string) {
	a, b := memoryLineOf(r.Memory), memoryLineOf(stored.Memory)
	for _, field := range []struct {
		name string
		same bool
	}{
		{"agent_id", a.AgentID == b.AgentID}, {"conversation_id", a.ConversationID == b.ConversationID},
		{"source_turn_id", a.SourceTurnID == b.SourceTurnID}, {"content", a.Content == b.Content},
		{"type", a.Type == b.Type}, {"domain", a.Domain == b.Domain}, {"tags", slices.Equal(a.Tags, b.Tags)},
		{"importance", a.Importance == b.Importance}, {"metadata", string(a.Metadata) == string(b.Metadata)},
		{"pinned", a.Pinned == b.Pinned}, {"status", a.Status == b.Status}, {"superseded_by", a.SupersededBy == b.SupersededBy},
		{"created_at", a.CreatedAt.Equal(b.CreatedAt)}, {"updated_at", a.UpdatedAt.Equal(b.UpdatedAt)},
	} {
		if !field.same {
			names = append(names, field.name)
		}
	}
	if fresh, err := unknownEvents(r.Events, stored.Events); err != nil || len(fresh) > 0 {
		names = append(names, "events")
	}
	if len(unknownRelations(r.Relations, stored.Relations)) > 0 {
		names = append(names, "relations")
	}
	return names
}
