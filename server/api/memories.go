package api

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

// MemoryParts are the parts behind the routes of memories.
type MemoryParts struct {
	Reader MemoryReader
	Writer MemoryWriter
	Undoer Undoer
}

// MemoryReader reads memories; db.Store implements it.
type MemoryReader interface {
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	EndOfExamined(ctx context.Context, f db.MemoryFilter, n int) (*db.Position, error)
	Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error)
	History(ctx context.Context, appID, memoryID string) ([]memory.Event, error)
	Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error)
}

// MemoryWriter writes and changes memories; package ingest implements it.
type MemoryWriter interface {
	Write(ctx context.Context, w ingest.Write) (write.Written, error)
	// WriteBatch returns a result for each write, in the same order.
	WriteBatch(ctx context.Context, writes []ingest.Write) []ingest.BatchResult
	Change(ctx context.Context, appID, id string, c ingest.Change) (memory.Memory, error)
	Forget(ctx context.Context, appID, id string, scope ingest.Scope) (ingest.Edited, error)
	// ForgetAll returns a result for each id, in the same order.
	ForgetAll(ctx context.Context, appID string, ids []string, how ingest.Forgetting) []ingest.Edited
	ForgetSelected(ctx context.Context, sel ingest.Selection, how ingest.Forgetting) (ingest.Selected, error)
	Restore(ctx context.Context, appID, id string, scope ingest.Scope) (ingest.Edited, error)
	// RestoreAll returns a result for each id, in the same order.
	RestoreAll(ctx context.Context, appID string, ids []string, scope ingest.Scope) []ingest.Edited
}

// Undoer undoes reflections and summaries; reflection/derivation implements it.
type Undoer interface {
	Undo(ctx context.Context, appID, id string) (derived memory.Memory, restored []memory.Memory, err error)
}

type memoryHandlers struct {
	MemoryParts
	quotas *quotas
	slots  *frame.Slots
	modes  ModeKeeper
	now    func() time.Time

	feedback FeedbackKeeper
}

func (h memoryHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/memories", memory.RoleWrite, h.slots.Bound(h.quotas.bound(frame.WithBody(h.post), memories)))
	r.AddLimited("POST /v1/memories/batch", memory.RoleWrite, r.Limits.Batch,
		h.slots.Bound(h.quotas.bound(frame.WithBody(h.postBatch), memories)))
	r.Add("POST /v1/memories/forget", memory.RoleWrite, frame.WithBody(h.forgetMany))
	r.Add("POST /v1/memories/restore", memory.RoleWrite,
		h.slots.Bound(h.quotas.bound(frame.WithBody(h.restoreMany), restored)))
	r.Add("GET /v1/memories", memory.RoleRead, frame.List[db.MemoryFilter, memory.Memory, wire.Memory]{
		Name:     "memories",
		Filter:   h.filter,
		Find:     h.find,
		Body:     wire.MemoryOf,
		Position: func(m memory.Memory) db.Position { return db.Position{At: m.CreatedAt, ID: m.ID} },
		End:      h.end,
	}.Handle)
	r.Add("GET /v1/memories/:id", memory.RoleRead, h.get)
	r.Add("PATCH /v1/memories/:id", memory.RoleWrite, h.slots.Bound(h.quotas.bound(frame.WithBody(h.patch), change)))
	r.Add("DELETE /v1/memories/:id", memory.RoleWrite, editOne(h.Writer.Forget))
	r.Add("POST /v1/memories/:id/restore", memory.RoleWrite,
		h.slots.Bound(h.quotas.bound(editOne(h.Writer.Restore), always(db.Usage{Memories: 1, Versions: 1}))))
	r.Add("POST /v1/memories/:id/undo", memory.RoleWrite, h.quotas.bound(h.undo, change))
	r.Add("GET /v1/memories/:id/history", memory.RoleRead, h.history)
	r.Add("PUT /v1/memories/:id/feedback", memory.RoleRead, frame.WithBody(h.rate))
	r.Add("GET /v1/memories/:id/relations", memory.RoleRead, h.relations)
}

func (h memoryHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	at := r.QueryTime("as_of")
	if err := r.Err(); err != nil {
		return nil, err
	}
	m, err := h.Reader.Memory(ctx, r.Key.AppID, id)
	if err == nil && !at.IsZero() {
		m, err = h.past(ctx, m, at)
	}
	if err != nil {
		return nil, err
	}
	return h.detail(ctx, m)
}

func (h memoryHandlers) detail(ctx context.Context, m memory.Memory) (any, error) {
	n, err := h.feedback.Count(ctx, m.Owner, m.ID)
	return memoryDetail{wire.MemoryOf(m), feedbackCountsOf(n)}, err
}

// memoryDetail is a memory with the feedback on it.
type memoryDetail struct {
	wire.Memory
	Feedback feedbackCounts `json:"feedback,omitzero"`
}

// past returns a memory as it was at an instant.
func (h memoryHandlers) past(ctx context.Context, m memory.Memory, at time.Time) (memory.Memory, error) {
	events, err := h.Reader.Events(ctx, m.Owner, []string{m.ID})
	if err != nil {
		return memory.Memory{}, err
	}
	then, existed := history.At(m, events[m.ID], at)
	if !existed {
		return memory.Memory{}, memory.Errorf(memory.KindNotFound,
			"there was no memory with this id at %s", at.Format(time.RFC3339Nano))
	}
	return then, nil
}

type changeRequest struct {
	Content    *string          `json:"content"`
	Importance *float64         `json:"importance"`
	Domain     *memory.Domain   `json:"domain"`
	Type       *memory.Type     `json:"type"`
	Tags       *[]string        `json:"tags"`
	Metadata   *json.RawMessage `json:"metadata"`
	Pinned     *bool            `json:"pinned"`
	ExpiresAt  *string          `json:"expires_at"`
}

// change converts the request.
func (b changeRequest) change(c *frame.Checks) ingest.Change {
	change := ingest.Change{
		Content: b.Content, Importance: b.Importance, Domain: b.Domain, Type: b.Type, Tags: b.Tags, Metadata: b.Metadata,
		Pinned: b.Pinned,
	}
	if b.ExpiresAt != nil {
		expires := c.Expiry("expires_at", *b.ExpiresAt)
		change.Expires = &expires
	}
	return change
}

func (h memoryHandlers) patch(ctx context.Context, r *frame.Request, body changeRequest) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	if body.Content != nil {
		r.Note("content", memory.CheckContent(*body.Content, memory.MaxContentRunes))
	}
	if body.Tags != nil {
		r.Note("tags", memory.CheckTags(*body.Tags))
	}
	if body.Metadata != nil {
		*body.Metadata = r.Metadata("metadata", *body.Metadata)
	}
	change := body.change(&r.Checks)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if change.Content != nil {
		if err := h.admitContent(ctx, r, id); err != nil {
			return nil, err
		}
	}
	m, err := h.Writer.Change(ctx, r.Key.AppID, id, change)
	return editedMemoryBody{wire.MemoryOf(m), r.Altered}, err
}

// admitContent refuses a new text of a memory while nothing new is kept of its user or conversation.
func (h memoryHandlers) admitContent(ctx context.Context, r *frame.Request, id string) error {
	m, err := h.Reader.Memory(ctx, r.Key.AppID, id)
	if err != nil {
		return err
	}
	return admitWrite(ctx, r, h.modes, m.Owner, m.ConversationID)
}

// editedMemoryBody is a changed memory with what the server altered in the request.
type editedMemoryBody struct {
	wire.Memory
	frame.Altered
}

func (h memoryHandlers) filter(r *frame.Request, p frame.Page) db.MemoryFilter {
	filter := db.MemoryFilter{
		Owner:          r.QueryOwner(),
		Types:          frame.NamesOf[memory.Type](r.Query["type"]),
		Domains:        frame.NamesOf[memory.Domain](r.Query["domain"]),
		Statuses:       frame.NamesOf[memory.Status](r.Query["status"]),
		Tags:           r.Query["tag"],
		ConversationID: r.Query.Get("conversation_id"), AgentID: r.Query.Get("agent_id"),
		AsOf: r.QueryTime("as_of"), Where: r.QueryWhere(), Before: p.Before, Limit: p.Limit,
	}
	if r.Query.Get("expired") == "exclude" {
		filter.Unexpired = cmp.Or(filter.AsOf, h.now())
	}
	if len(filter.Statuses) == 0 {
		filter.Statuses = []memory.Status{memory.Active}
	}
	filter.Since, filter.Until = r.Window("query.", r.Query.Get("since"), r.Query.Get("until"))
	r.OptionalIDs("query.", filter.AgentID, filter.ConversationID)
	r.Note("query.tag", memory.CheckTags(filter.Tags))
	return filter
}

func (h memoryHandlers) end(ctx context.Context, f *db.MemoryFilter, examine int) (end *db.Position, err error) {
	f.DownTo, err = h.Reader.EndOfExamined(ctx, *f, examine)
	return f.DownTo, err
}

func (h memoryHandlers) find(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	if f.AsOf.IsZero() {
		return h.Reader.ListMemories(ctx, f)
	}
	return history.List(ctx, h.Reader, f)
}

type undoBody struct {
	Memory   wire.Memory   `json:"memory"`
	Restored []wire.Memory `json:"restored"`
}

func (h memoryHandlers) undo(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	m, restored, err := h.Undoer.Undo(ctx, r.Key.AppID, id)
	return undoBody{wire.MemoryOf(m), frame.BodiesOf(restored, wire.MemoryOf)}, err
}

func (h memoryHandlers) history(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	events, err := h.Reader.History(ctx, r.Key.AppID, id)
	return struct {
		Events []wire.Event `json:"events"`
	}{frame.BodiesOf(events, func(e memory.Event) wire.Event { return wire.Event(e) })}, err
}

func (h memoryHandlers) relations(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	relations, err := h.Reader.Relations(ctx, r.Key.AppID, id)
	return struct {
		Relations []wire.Relation `json:"relations"`
	}{frame.BodiesOf(relations, wire.RelationOf)}, err
}
