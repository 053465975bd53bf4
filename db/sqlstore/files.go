package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const (
	fileColumns = `f.id, f.app_id, f.user_id, f.agent_id, f.path, f.version, f.paragraphs, f.created_at, f.changed_at`
	// selectFile selects files with their contents and the ids of their versions.
	selectFile = `SELECT ` + fileColumns + `, v.content, v.id FROM memory_files AS f
		{|CROSS }JOIN memory_file_versions AS v ON v.file_id = f.id AND v.version = f.version WHERE `
)

func fileFields(f *memory.File) []any {
	return []any{&f.ID, &f.AppID, &f.UserID, &f.AgentID, &f.Path, &f.Version,
		(*jsonArray[memory.Paragraph])(&f.Paragraphs), &f.CreatedAt, &f.ChangedAt}
}

const listFiles = `SELECT id, path, version, bytes FROM memory_files
	WHERE app_id = $1 AND user_id = $2 AND agent_id = $3 ORDER BY path`

func entryFields(e *db.FileEntry) []any { return []any{&e.ID, &e.Path, &e.Version, &e.Bytes} }

func (s *Store) ListFiles(ctx context.Context, scope db.FileScope) ([]db.FileEntry, error) {
	found, err := collect(ctx, s.conn, entryFields, listFiles, scope.Owner.AppID, scope.Owner.UserID, scope.AgentID)
	return found, s.fault(err, "list the files")
}

func (s *Store) FindFile(ctx context.Context, scope db.FileScope, path string) (memory.File, error) {
	f, ok, err := first(ctx, s.conn, exportedFileFields,
		selectFile+`f.app_id = $1 AND f.user_id = $2 AND f.agent_id = $3 AND f.path = $4`,
		scope.Owner.AppID, scope.Owner.UserID, scope.AgentID, path)
	return f.File, s.require(ok, err, "read the file", NotFound("file", path))
}

func (u *UserTx) ListFiles(ctx context.Context, agentID string) ([]db.FileEntry, error) {
	found, err := collect(ctx, u.conn, entryFields, listFiles, u.Owner.AppID, u.Owner.UserID, agentID)
	return found, u.fault(err, "list the files")
}

func (s *Store) Files(ctx context.Context, owner memory.Owner, ids []string) ([]memory.File, error) {
	found, err := collect(ctx, s.conn, fileFields, `SELECT `+fileColumns+` FROM memory_files AS f
		WHERE f.id = ANY($3::uuid[]) AND {|+}f.app_id = $1 AND {|+}f.user_id = $2 ORDER BY f.path`,
		owner.AppID, owner.UserID, validIDs(ids))
	return found, s.fault(err, "read the files")
}

func exportedFileFields(f *db.ExportedFile) []any {
	return append(fileFields(&f.File), &f.File.Content, &f.VersionID)
}

func (u *UserTx) RecordedFile(ctx context.Context, agentID, path string) (db.ExportedFile, bool, error) {
	f, ok, err := first(ctx, u.conn, exportedFileFields,
		selectFile+`f.app_id = $1 AND f.user_id = $2 AND f.agent_id = $3 AND f.path = $4`,
		u.Owner.AppID, u.Owner.UserID, agentID, path)
	return f, ok, u.fault(err, "read the file")
}

func (u *UserTx) FileUsage(ctx context.Context) (db.FileUsage, error) {
	usage, _, err := first(ctx, u.conn, func(n *db.FileUsage) []any { return []any{&n.Files, &n.Bytes, &n.Paragraphs} },
		`SELECT count(*), coalesce(sum(bytes), 0), coalesce(sum(json_array_length(paragraphs)), 0)
		FROM memory_files WHERE app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID)
	return usage, u.fault(err, "count the files")
}

func (u *UserTx) PutFile(ctx context.Context, f memory.File, versionID string) error {
	if err := u.check("file", f.Owner, f.ID, ""); err != nil {
		return err
	}
	n, err := u.exec(ctx, `
		INSERT INTO memory_files (id, app_id, user_id, agent_id, path, version, bytes, paragraphs, created_at, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, bytes = excluded.bytes,
			paragraphs = excluded.paragraphs, changed_at = excluded.changed_at
		WHERE memory_files.app_id = excluded.app_id AND memory_files.user_id = excluded.user_id
			AND memory_files.agent_id = excluded.agent_id AND memory_files.path = excluded.path`,
		f.ID, f.AppID, f.UserID, f.AgentID, f.Path, f.Version, len(f.Content), arrayJSON(f.Paragraphs),
		f.CreatedAt, f.ChangedAt)
	if err == nil && n == 0 {
		return memory.Errorf(memory.KindConflict, "another file has the id %s", f.ID)
	}
	if err != nil {
		return u.fault(err, "store the file")
	}
	return u.AddFileVersion(ctx, memory.FileVersion{
		ID: versionID, Owner: f.Owner, AgentID: f.AgentID, FileID: f.ID, Path: f.Path, Number: f.Version,
		Content: f.Content, WrittenAt: f.ChangedAt,
	})
}

func (u *UserTx) MoveFile(ctx context.Context, id, path string) error {
	n, err := u.exec(ctx, `UPDATE memory_files SET path = $4 WHERE id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2`,
		u.Owner.AppID, u.Owner.UserID, id, path)
	if err := u.require(n > 0, err, "rename the file", NotFound("file", id)); err != nil {
		return err
	}
	_, err = u.exec(ctx,
		`UPDATE memory_file_versions SET path = $4 WHERE file_id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2`,
		u.Owner.AppID, u.Owner.UserID, id, path)
	return u.fault(err, "rename the versions of the file")
}

func (u *UserTx) DeleteFile(ctx context.Context, id string) error {
	n, err := u.exec(ctx, `DELETE FROM memory_files WHERE id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2`,
		u.Owner.AppID, u.Owner.UserID, id)
	return u.require(n > 0, err, "delete the file", NotFound("file", id))
}
