package sqlstore

import (
	"encoding/json"
	"time"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// writtenData is the data of memory.written and, without the memory's fields, of
// memory.forgotten.
type writtenData struct {
	MemoryID       string           `json:"memory_id"`
	Change         memory.EventKind `json:"change"`
	Cause          string           `json:"cause"`
	AgentID        string           `json:"agent_id,omitempty"`
	ConversationID string           `json:"conversation_id,omitempty"`
	*memoryData
}

type memoryData struct {
	Status     memory.Status `json:"status"`
	Type       memory.Type   `json:"type"`
	Domain     memory.Domain `json:"domain"`
	Importance float64       `json:"importance"`
	Content    string        `json:"content"`
}

type reflectionData struct {
	MemoryID string   `json:"memory_id"`
	AgentID  string   `json:"agent_id,omitempty"`
	Content  string   `json:"content"`
	Sources  []string `json:"sources"`
}

// announcing returns the announcements of events, given the memories by id as the
// same transaction has written them.
func announcing(events []memory.Event, written map[string]memory.Memory) []memory.Announcement {
	var all []memory.Announcement
	for _, e := range events {
		m, known := written[e.MemoryID]
		data := writtenData{
			MemoryID: e.MemoryID, Change: e.Kind, Cause: rowcodec.Storable(e.Cause),
			AgentID: m.AgentID, ConversationID: m.ConversationID,
		}
		if e.Kind == memory.EventForgotten || e.Kind == memory.EventPurged {
			all = append(all, announcement(memory.MemoryForgotten, e, data))
			continue
		}
		if known {
			data.memoryData = &memoryData{
				Status: m.Status, Type: m.Type, Domain: m.Domain, Importance: m.Importance, Content: m.Content,
			}
		}
		all = append(all, announcement(memory.MemoryWritten, e, data))
		if known && e.Kind == memory.EventCreated && m.Type == memory.TypeReflection {
			all = append(all, announcement(memory.ReflectionCreated, e, reflectionData{
				MemoryID: m.ID, AgentID: m.AgentID, Content: m.Content, Sources: sourcesOf(e),
			}))
		}
	}
	return all
}

func announcement(kind memory.AnnouncementKind, e memory.Event, data any) memory.Announcement {
	return memory.Announcement{Kind: kind, At: e.At, Data: object(data)}
}

// sourcesOf returns the sources that the event of a derived memory names.
func sourcesOf(e memory.Event) []string {
	detail := struct{ Sources []string }{Sources: []string{}}
	_ = json.Unmarshal(e.Detail, &detail) // a reflection written by a client has no sources
	return detail.Sources
}

// failedTurn announces that a turn was abandoned at an instant.
func failedTurn(t memory.Turn, at time.Time) memory.Announcement {
	return memory.Announcement{Kind: memory.TurnGivenUp, At: at, Data: object(struct {
		TurnID         string `json:"turn_id"`
		ClientID       string `json:"client_id,omitempty"`
		AgentID        string `json:"agent_id,omitempty"`
		ConversationID string `json:"conversation_id,omitempty"`
		Attempts       int    `json:"attempts"`
		Error          string `json:"error"`
	}{
		TurnID: t.ID, ClientID: t.ClientID, AgentID: t.AgentID, ConversationID: t.ConversationID,
		Attempts: t.Attempts, Error: t.LastError,
	})}
}

// endedConversation announces that a conversation has ended.
func endedConversation(c memory.Conversation) memory.Announcement {
	return memory.Announcement{Kind: memory.ConversationEnded, At: c.EndedAt, Data: object(struct {
		ConversationID string `json:"conversation_id"`
		Reason         string `json:"reason"`
		Title          string `json:"title,omitempty"`
		Turns          int64  `json:"turns"`
		Events         int64  `json:"events"`
	}{ConversationID: c.ID, Reason: c.EndReason, Title: c.Title, Turns: c.Turns, Events: c.Events})}
}

func object(data any) json.RawMessage {
	raw, _ := json.Marshal(data) // strings and numbers only: cannot fail
	return raw
}
