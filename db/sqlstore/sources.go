package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const selectSources = `SELECT id, app_id, user_id, agent_id, ref, client_id, title, url, content_type, version, hash,
	tags, metadata, passages, at, created_at, changed_at, forgotten_at FROM documents WHERE `

func sourceFields(d *memory.SourceDocument) []any {
	return []any{&d.ID, &d.AppID, &d.UserID, &d.AgentID, &d.Ref, &d.ClientID, &d.Title, &d.URL, &d.ContentType,
		&d.Version, &d.Hash, (*jsonArray[string])(&d.Tags), &d.Metadata, (*jsonArray[memory.Passage])(&d.Passages), &d.At,
		&d.CreatedAt, &d.ChangedAt, &d.ForgottenAt}
}

func (s *Store) SourceDocument(ctx context.Context, appID, id string) (memory.SourceDocument, error) {
	if !memory.IsID(id) {
		return memory.SourceDocument{}, NotFound("document", id)
	}
	d, ok, err := first(ctx, s.conn, sourceFields, selectSources+`id = $2 AND {|+}app_id = $1`, appID, id)
	return d, s.require(ok, err, "read the document", NotFound("document", id))
}

func (s *Store) ListSourceDocuments(ctx context.Context, f db.SourceDocumentFilter) ([]memory.SourceDocument, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ? AND forgotten_at IS NULL`, f.Owner.AppID, f.Owner.UserID)
	if f.AgentID != "" {
		where.Add(`agent_id IN ('', ?)`, f.AgentID)
	}
	if f.Before != nil {
		where.Add(`(created_at, id) < (?, ?)`, f.Before.At, f.Before.ID)
	}
	found, err := page(ctx, s.conn, sourceFields, selectSources, where, `created_at DESC, id DESC`, f.Limit)
	return found, s.fault(err, "list the documents")
}

func (s *Store) PurgeSourceDocuments(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, `DELETE FROM documents WHERE id IN (
		SELECT id FROM documents WHERE forgotten_at < $1 ORDER BY forgotten_at LIMIT $2)`, before, limit)
	return n, s.fault(err, "purge forgotten documents")
}

func (s *Store) ExportSourceDocuments(
	ctx context.Context, of db.Extent, after *memory.SourceDocument,
) ([]memory.SourceDocument, error) {
	where := within(of)
	if a := after; a != nil {
		where.Add(`(user_id, created_at, id) > (?, ?, ?)`, a.UserID, a.CreatedAt, a.ID)
	}
	found, err := page(ctx, s.conn, sourceFields, selectSources, where, `user_id, created_at, id`, of.Limit)
	return found, s.fault(err, "export the documents")
}

func (u *UserTx) SourceDocumentByRef(
	ctx context.Context, agentID, ref string,
) (d memory.SourceDocument, ok bool, err error) {
	d, ok, err = first(ctx, u.conn, sourceFields,
		selectSources+`app_id = $1 AND user_id = $2 AND agent_id = $3 AND ref = $4`,
		u.Owner.AppID, u.Owner.UserID, agentID, ref)
	return d, ok, u.fault(err, "find the document")
}

func (u *UserTx) RecordedSourceDocument(
	ctx context.Context, id string,
) (d memory.SourceDocument, ok bool, err error) {
	d, ok, err = first(ctx, u.conn, sourceFields, selectSources+`id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2`,
		u.Owner.AppID, u.Owner.UserID, id)
	return d, ok, u.fault(err, "find the document")
}

func (u *UserTx) PutSourceDocument(ctx context.Context, d memory.SourceDocument) error {
	if err := u.check("document", d.Owner, d.ID, ""); err != nil {
		return err
	}
	n, err := u.exec(ctx, `
		INSERT INTO documents (id, app_id, user_id, agent_id, ref, client_id, title, url, content_type, version, hash, tags,
			metadata, passages, at, created_at, changed_at, forgotten_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (id) DO UPDATE SET ref = excluded.ref, client_id = excluded.client_id, title = excluded.title,
			url = excluded.url, content_type = excluded.content_type, version = excluded.version, hash = excluded.hash,
			tags = excluded.tags, metadata = excluded.metadata, passages = excluded.passages, at = excluded.at,
			changed_at = excluded.changed_at, forgotten_at = excluded.forgotten_at
		WHERE documents.app_id = excluded.app_id AND documents.user_id = excluded.user_id`,
		d.ID, d.AppID, d.UserID, d.AgentID, d.Ref, d.ClientID, d.Title, d.URL, d.ContentType, d.Version, d.Hash,
		arrayJSON(d.Tags), d.Metadata, arrayJSON(d.Passages), d.At, d.CreatedAt, d.ChangedAt, null(d.ForgottenAt))
	if err == nil && n == 0 {
		return memory.Errorf(memory.KindConflict, "another user's document has the id %s", d.ID)
	}
	return u.fault(err, "store the document")
}
