package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// DocumentParts are the parts behind the routes of documents.
type DocumentParts struct {
	Writer DocumentWriter
	Reader DocumentReader
}

// DocumentWriter stores and forgets documents; package ingest implements it.
type DocumentWriter interface {
	WriteDocument(ctx context.Context, given ingest.GivenDocument) (ingest.StoredDocument, error)
	ForgetDocument(ctx context.Context, appID, id string) (d memory.SourceDocument, passages int, err error)
	RestoreDocument(ctx context.Context, appID, id string) (d memory.SourceDocument, passages int, err error)
}

// DocumentReader reads documents and their passages; db.Store implements it.
type DocumentReader interface {
	SourceDocument(ctx context.Context, appID, id string) (memory.SourceDocument, error)
	ListSourceDocuments(ctx context.Context, f db.SourceDocumentFilter) ([]memory.SourceDocument, error)
	Recorded(ctx context.Context, owner memory.Owner, ids []string) (map[string]db.Record, error)
}

type documentHandlers struct {
	DocumentParts
	quotas *quotas
	slots  *frame.Slots
	modes  ModeKeeper
}

func (h documentHandlers) register(r *frame.Routes) {
	r.AddLimited("POST /v1/documents", memory.RoleWrite, r.Limits.Batch,
		h.slots.Bound(h.quotas.bound(frame.WithBody(h.post), passages)))
	r.Add("GET /v1/documents", memory.RoleRead, frame.List[db.SourceDocumentFilter, memory.SourceDocument, documentBody]{
		Name: "documents",
		Filter: func(r *frame.Request, p frame.Page) db.SourceDocumentFilter {
			return db.SourceDocumentFilter{
				Owner: r.QueryOwner(), AgentID: r.QueryID("agent_id"), Before: p.Before, Limit: p.Limit,
			}
		},
		Find:     h.Reader.ListSourceDocuments,
		Body:     documentOf,
		Position: func(d memory.SourceDocument) db.Position { return db.Position{At: d.CreatedAt, ID: d.ID} },
	}.Handle)
	r.Add("GET /v1/documents/:id", memory.RoleRead, h.get)
	r.Add("DELETE /v1/documents/:id", memory.RoleWrite, changeDocument(h.Writer.ForgetDocument))
	r.Add("POST /v1/documents/:id/restore", memory.RoleWrite, h.slots.Bound(changeDocument(h.Writer.RestoreDocument)))
}

// passages is the addition of a body with a document: about as many passages as its characters fill.
func passages(body []byte) addition {
	a := memories(body)
	a.Memories += a.Bytes / 600
	a.Versions = a.Memories
	return a
}

type documentRequest struct {
	UserID      string             `json:"user_id"`
	ID          string             `json:"id"`
	AgentID     string             `json:"agent_id"`
	Title       string             `json:"title"`
	URL         string             `json:"url"`
	ContentType memory.ContentType `json:"content_type"`
	Content     string             `json:"content"`
	At          string             `json:"at"`
	Tags        []string           `json:"tags"`
	Metadata    json.RawMessage    `json:"metadata"`
}

// documentBody is the JSON of a document.
type documentBody struct {
	ID          string             `json:"id"`
	ClientID    string             `json:"client_id,omitempty"`
	UserID      string             `json:"user_id"`
	AgentID     string             `json:"agent_id,omitempty"`
	Title       string             `json:"title,omitempty"`
	URL         string             `json:"url,omitempty"`
	ContentType memory.ContentType `json:"content_type"`
	Version     int                `json:"version"`
	Hash        string             `json:"hash"`
	Count       int                `json:"passage_count"`
	Tags        []string           `json:"tags"`
	Metadata    json.RawMessage    `json:"metadata,omitempty"`
	At          time.Time          `json:"at"`
	CreatedAt   time.Time          `json:"created_at"`
	ChangedAt   time.Time          `json:"changed_at"`
	ForgottenAt time.Time          `json:"forgotten_at,omitzero"`
}

func documentOf(d memory.SourceDocument) documentBody {
	return documentBody{
		ID: d.ID, ClientID: d.ClientID, UserID: d.UserID, AgentID: d.AgentID, Title: d.Title, URL: d.URL,
		ContentType: d.ContentType, Version: d.Version, Hash: d.Hash, Count: len(d.Passages),
		Tags: append([]string{}, d.Tags...), Metadata: d.Metadata, At: d.At, CreatedAt: d.CreatedAt, ChangedAt: d.ChangedAt,
		ForgottenAt: d.ForgottenAt,
	}
}

// storedDocumentBody says what became of the passages of a document.
type storedDocumentBody struct {
	documentBody
	Added   int `json:"added"`
	Kept    int `json:"kept"`
	Gone    int `json:"forgotten"`
	LeftOut int `json:"left_out,omitempty"`
	frame.Altered
}

func (h documentHandlers) post(ctx context.Context, r *frame.Request, body documentRequest) (any, error) {
	given := ingest.GivenDocument{
		Owner: r.BodyOwner(body.UserID), AgentID: body.AgentID, ClientID: body.ID, Title: body.Title, URL: body.URL,
		ContentType: body.ContentType, Content: body.Content, At: r.Time("at", body.At), Tags: body.Tags,
		Metadata: r.Metadata("metadata", body.Metadata),
	}
	if given.ContentType == "" {
		given.ContentType = memory.PlainText
	}
	r.Note("id", memory.CheckID(body.ID, true))
	if body.Title != "" {
		r.Note("title", memory.CheckTitle(body.Title))
	}
	r.Note("url", memory.CheckDocumentURL(body.URL))
	r.Note("content", memory.CheckContent(body.Content, memory.MaxDocumentRunes))
	r.Note("tags", memory.CheckTags(body.Tags))
	r.Note("metadata", memory.CheckDocumentMetadata(given.Metadata))
	r.OptionalIDs("", body.AgentID, "")
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, given.Owner, ""); err != nil {
		return nil, err
	}
	stored, err := h.Writer.WriteDocument(ctx, given)
	status := http.StatusOK
	if stored.Fresh {
		status = http.StatusCreated
	}
	return frame.WithStatus(status, storedDocumentBody{
		documentBody: documentOf(stored.Document), Added: stored.Added, Kept: stored.Kept, Gone: stored.Gone,
		LeftOut: stored.LeftOut, Altered: r.Altered,
	}), err
}

// passageBody is a passage with its memory, unless that was purged.
type passageBody struct {
	MemoryID string        `json:"memory_id"`
	Heading  string        `json:"heading,omitempty"`
	Content  string        `json:"content,omitempty"`
	Since    int           `json:"since_version,omitempty"`
	Status   memory.Status `json:"status,omitempty"`
}

func (h documentHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	d, err := h.document(ctx, r)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(d.Passages))
	for i, p := range d.Passages {
		ids[i] = p.MemoryID
	}
	found, err := h.Reader.Recorded(ctx, d.Owner, ids)
	body := struct {
		documentBody
		Passages []passageBody `json:"passages"`
	}{documentOf(d), make([]passageBody, len(ids))}
	for i, id := range ids {
		m := found[id].Memory
		c := m.Citation()
		body.Passages[i] = passageBody{MemoryID: id, Heading: c.Heading, Content: m.Content, Since: c.Since, Status: m.Status}
	}
	return body, err
}

func (h documentHandlers) document(ctx context.Context, r *frame.Request) (memory.SourceDocument, error) {
	id, err := r.PathID()
	if err != nil {
		return memory.SourceDocument{}, err
	}
	return h.Reader.SourceDocument(ctx, r.Key.AppID, id)
}

// changeDocument makes a handler that changes the document of a path.
func changeDocument(
	change func(ctx context.Context, appID, id string) (memory.SourceDocument, int, error),
) frame.Handler {
	return func(ctx context.Context, r *frame.Request) (any, error) {
		id, err := r.PathID()
		if err != nil {
			return nil, err
		}
		d, changed, err := change(ctx, r.Key.AppID, id)
		return struct {
			documentBody
			Changed int `json:"changed"`
		}{documentOf(d), changed}, err
	}
}
