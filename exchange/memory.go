package exchange

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

type memoryLine struct {
	wire.Memory
	EmbeddingModel string `json:"embedding_model,omitempty"` // present if the embedding is
	Embedding      []byte `json:"embedding,omitempty"`       // float32 little-endian, in base64
}

func memoryLineOf(m memory.Memory) memoryLine {
	l := memoryLine{Memory: wire.MemoryOf(m)}
	l.Metadata = compact(m.Metadata)
	if len(m.Embedding) > 0 {
		l.EmbeddingModel, l.Embedding = m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding)
	}
	return l
}

func (l memoryLine) memory(appID string) memory.Memory {
	m := l.Memory.Memory(appID)
	m.Metadata, m.Revision = compact(m.Metadata), 1
	m.EmbeddingModel, m.Embedding = l.EmbeddingModel, rowcodec.Vector(l.Embedding)
	return m
}

func recordLineOf(r db.Record, events []memory.Event) recordLine {
	l := recordLine{
		Memory: memoryLineOf(r.Memory), Events: eventsOf(events), Relations: make([]wire.Relation, len(r.Relations)),
	}
	for i, relation := range r.Relations {
		l.Relations[i] = wire.RelationOf(relation)
	}
	return l
}

func eventsOf(events []memory.Event) []wire.Event {
	lines := make([]wire.Event, len(events))
	for i, e := range events {
		e.MemoryID, e.Detail = "", compact(e.Detail)
		lines[i] = wire.Event(e)
	}
	return lines
}

// record converts a line to a memory of the app. If the line continues another
// one, the memory has only an id and an owner.
func (l line) record(appID string) db.Record {
	r := db.Record{}
	if l.Memory != nil {
		r.Memory = l.Memory.memory(appID)
	} else {
		r.Memory.ID, r.Memory.Owner = l.Continues.ID, memory.Owner{AppID: appID, UserID: l.Continues.UserID}
	}
	for _, e := range l.Events {
		e.MemoryID = r.Memory.ID
		e.Detail = compact(e.Detail)
		e.At = memory.Instant(e.At)
		r.Events = append(r.Events, memory.Event(e))
	}
	for _, e := range l.Relations {
		r.Relations = append(r.Relations, memory.Relation{
			From: e.From, To: e.To, Kind: e.Kind, CreatedAt: memory.Instant(e.CreatedAt),
		})
	}
	return r
}

// check checks a line of a memory as the API checks a write, and as the stores require of a row.
func (l line) check() error {
	var f faults
	id := ""
	if l.Memory != nil {
		id = l.Memory.ID
		l.Memory.check(&f)
	} else {
		id = l.Continues.ID
		f.id("continues.id", id)
		f.note("continues.user_id", memory.CheckUser(l.Continues.UserID))
	}
	seen := map[string]bool{}
	for i, e := range l.Events {
		path := fmt.Sprintf("events[%d].", i)
		f.id(path+"id", e.ID)
		if seen[e.ID] {
			f.note(path+"id", "is given more than once")
		}
		seen[e.ID] = true
		oneOf(&f, path+"kind", memory.EventKinds, e.Kind)
		if utf8.RuneCountInString(e.Cause) > maxCause {
			f.note(path+"cause", fmt.Sprintf("is longer than %d characters", maxCause))
		}
		if e.Detail != nil && compact(e.Detail)[0] != '{' {
			f.note(path+"detail", "is not a JSON object")
		}
		f.time(path+"at", e.At)
	}
	for i, r := range l.Relations {
		path := fmt.Sprintf("relations[%d].", i)
		f.id(path+"from", r.From)
		f.id(path+"to", r.To)
		if r.From == r.To || r.From != id && r.To != id {
			f.note(path+"to", "is not a relation of this memory with another one")
		}
		oneOf(&f, path+"kind", memory.RelationKinds, r.Kind)
		f.time(path+"created_at", r.CreatedAt)
	}
	return Wrong(f)
}

func (l memoryLine) check(f *faults) {
	f.id("memory.id", l.ID)
	f.note("memory.user_id", memory.CheckUser(l.UserID))
	f.note("memory.agent_id", memory.CheckID(l.AgentID, true))
	f.note("memory.conversation_id", memory.CheckID(l.ConversationID, true))
	f.optionalID("memory.source_turn_id", l.SourceTurnID)
	f.note("memory.said_by", memory.CheckID(l.Speaker, true))
	if l.Asked != "" {
		f.note("memory.asked", memory.CheckContent(l.Asked, memory.MaxAskedRunes))
	}
	f.note("memory.content", memory.CheckContent(l.Content, memory.MaxContentRunes))
	oneOf(f, "memory.type", memory.Types, l.Type)
	oneOf(f, "memory.domain", memory.Domains, l.Domain)
	f.note("memory.tags", memory.CheckTags(l.Tags))
	f.fraction("memory.importance", l.Importance)
	f.note("memory.metadata", memory.CheckMetadata(compact(l.Metadata)))
	oneOf(f, "memory.status", memory.Statuses, l.Status)
	f.optionalID("memory.superseded_by", l.SupersededBy)
	if l.Faded && l.Status != memory.Forgotten {
		f.note("memory.faded", "is given, though the status is "+string(l.Status))
	}
	if l.SupersededBy != "" && l.Status != memory.Superseded {
		f.note("memory.superseded_by", "is given, though the status is "+string(l.Status))
	}
	f.time("memory.created_at", l.CreatedAt)
	if !l.LastSaidAt.IsZero() {
		f.time("memory.last_said_at", l.LastSaidAt)
	}
	f.optionalTime("memory.expires_at", l.ExpiresAt)
	f.time("memory.updated_at", l.UpdatedAt)
	f.time("memory.last_accessed_at", l.LastAccessedAt)
	inRange(f, "memory.access_count", l.AccessCount, 0, maxNumber)
	if (l.EmbeddingModel == "") != (len(l.Embedding) == 0) {
		f.note("memory.embedding_model", "and embedding are given together or not at all")
	}
	f.note("memory.embedding_model", memory.CheckID(l.EmbeddingModel, true))
	if !isUnit(l.Embedding) {
		f.note("memory.embedding",
			"is not a vector of unit length: give the base64 of its float32 numbers, little-endian")
	}
}

const unitTolerance = 1e-3 // of the length of an embedding

// isUnit reports whether bytes are a vector of unit length, or empty.
func isUnit(b []byte) bool {
	sum := 0.0
	for _, x := range rowcodec.Vector(b) {
		sum += float64(x) * float64(x)
	}
	return len(b) == 0 || len(b)%4 == 0 && math.Abs(math.Sqrt(sum)-1) < unitTolerance
}

// differences names the fields in which a record differs from the stored one. It
// ignores accesses and the embedding, which change although the memory does not.
func differences(r, stored db.Record) []string {
	names := differing(memoryLineOf(r.Memory), memoryLineOf(stored.Memory),
		"last_accessed_at", "access_count", "embedding_model", "embedding", "words_only")
	if unknown, err := unknownEvents(r.Events, stored.Events); err != nil || len(unknown) > 0 {
		names = append(names, "events")
	}
	if slices.ContainsFunc(r.Relations, func(r memory.Relation) bool {
		return !slices.ContainsFunc(stored.Relations, func(s memory.Relation) bool {
			return s.From == r.From && s.To == r.To && s.Kind == r.Kind
		})
	}) {
		names = append(names, "relations")
	}
	return names
}

// unknownEvents returns the events that are not stored. KindConflict: a stored
// event has the id of one but differs. A history outlives its memory, so the
// events of a purged memory may still be stored.
func unknownEvents(events, stored []memory.Event) (unknown []memory.Event, err error) {
	for _, e := range events {
		place := slices.IndexFunc(stored, func(s memory.Event) bool { return s.ID == e.ID })
		if place < 0 {
			unknown = append(unknown, e)
			continue
		}
		s := stored[place]
		if s.Kind != e.Kind || s.Cause != e.Cause || !s.At.Equal(e.At) || string(compact(s.Detail)) != string(e.Detail) {
			return nil, memory.Errorf(memory.KindConflict, "event %s is here already and differs", e.ID)
		}
	}
	return unknown, nil
}
