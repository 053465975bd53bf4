package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const maxRefBytes = 2200

// documentLine is a document. Its passages are memories with lines of their own.
type documentLine struct {
	ID          string             `json:"id"`
	UserID      string             `json:"user_id"`
	AgentID     string             `json:"agent_id,omitempty"`
	Ref         string             `json:"ref"`
	ClientID    string             `json:"client_id,omitempty"`
	Title       string             `json:"title,omitempty"`
	URL         string             `json:"url,omitempty"`
	ContentType memory.ContentType `json:"content_type"`
	Version     int                `json:"version"`
	Hash        string             `json:"hash"`
	Tags        []string           `json:"tags,omitempty"`
	Metadata    json.RawMessage    `json:"metadata,omitempty"`
	Passages    []memory.Passage   `json:"passages"`
	At          time.Time          `json:"at"`
	CreatedAt   time.Time          `json:"created_at"`
	ChangedAt   time.Time          `json:"changed_at"`
	ForgottenAt time.Time          `json:"forgotten_at,omitzero"`
}

func documentLineOf(d memory.SourceDocument) documentLine {
	return documentLine{
		ID: d.ID, UserID: d.UserID, AgentID: d.AgentID, Ref: d.Ref, ClientID: d.ClientID, Title: d.Title, URL: d.URL,
		ContentType: d.ContentType, Version: d.Version, Hash: d.Hash, Tags: d.Tags, Metadata: compact(d.Metadata),
		Passages: append([]memory.Passage{}, d.Passages...), At: d.At, CreatedAt: d.CreatedAt, ChangedAt: d.ChangedAt,
		ForgottenAt: d.ForgottenAt,
	}
}

func (l *documentLine) document(appID string) memory.SourceDocument {
	d := memory.SourceDocument{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, AgentID: l.AgentID, Ref: l.Ref, ClientID: l.ClientID,
		Title: l.Title, URL: l.URL, ContentType: l.ContentType, Version: l.Version, Hash: l.Hash, Tags: l.Tags,
		Metadata: l.Metadata, Passages: l.Passages, At: memory.Instant(l.At), CreatedAt: memory.Instant(l.CreatedAt),
		ChangedAt: memory.Instant(l.ChangedAt),
	}
	if !l.ForgottenAt.IsZero() {
		d.ForgottenAt = memory.Instant(l.ForgottenAt)
	}
	return d
}

func (l *documentLine) kind() Kind   { return Documents }
func (l *documentLine) user() string { return l.UserID }

func (l *documentLine) check(f *faults) {
	f.id("document.id", l.ID)
	f.note("document.user_id", memory.CheckID(l.UserID, false))
	f.note("document.agent_id", memory.CheckID(l.AgentID, true))
	f.note("document.client_id", memory.CheckID(l.ClientID, true))
	if why := memory.CheckContent(l.Ref, maxRefBytes); why != "" || len(l.Ref) > maxRefBytes {
		f.note("document.ref", fmt.Sprintf("is not 1 to %d bytes of text", maxRefBytes))
	}
	if l.Title != "" {
		f.note("document.title", memory.CheckTitle(l.Title))
	}
	f.note("document.url", memory.CheckDocumentURL(l.URL))
	if !slices.Contains(memory.ContentTypes, l.ContentType) {
		f.note("document.content_type", "is not one of the content types")
	}
	inRange(f, "document.version", l.Version, 1, maxNumber)
	f.hash("document.hash", l.Hash)
	f.note("document.tags", memory.CheckTags(l.Tags))
	f.note("document.metadata", memory.CheckDocumentMetadata(l.Metadata))
	if len(l.Passages) > memory.MaxDocumentPassages {
		f.note("document.passages", fmt.Sprintf("has more than %d passages", memory.MaxDocumentPassages))
	}
	for n, p := range l.Passages {
		path := fmt.Sprintf("document.passages[%d].", n)
		f.id(path+"memory_id", p.MemoryID)
		f.hash(path+"hash", p.Hash)
	}
	f.time("document.at", l.At)
	f.time("document.created_at", l.CreatedAt)
	f.time("document.changed_at", l.ChangedAt)
}

func (l *documentLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	d := l.document(i.appID)
	stored, found, err := tx.RecordedSourceDocument(ctx, d.ID)
	if err == nil && !found {
		stored, found, err = tx.SourceDocumentByRef(ctx, d.AgentID, d.Ref)
	}
	if err != nil || found {
		return false, orDifference(err, "this document", documentLineOf(d), documentLineOf(stored))
	}
	return true, idTaken(tx.PutSourceDocument(ctx, d), "a document")
}
