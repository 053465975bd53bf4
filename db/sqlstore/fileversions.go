package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const fileVersionColumns = `v.id, v.app_id, v.user_id, v.agent_id, v.file_id, v.path, v.version, v.bytes, v.written_at`

func fileVersionFields(v *memory.FileVersion) []any {
	return []any{&v.ID, &v.AppID, &v.UserID, &v.AgentID, &v.FileID, &v.Path, &v.Number, &v.Bytes, &v.WrittenAt}
}

func contentFields(v *memory.FileVersion) []any { return append(fileVersionFields(v), &v.Content) }

const selectFileVersion = `SELECT ` + fileVersionColumns + `, v.content FROM memory_file_versions AS v WHERE `

func (s *Store) ListFileVersions(ctx context.Context, f db.FileVersionFilter) ([]memory.FileVersion, error) {
	var where Conditions
	where.Add(`v.app_id = ? AND v.user_id = ? AND v.agent_id = ? AND v.path = ?`,
		f.Owner.AppID, f.Owner.UserID, f.AgentID, f.Path)
	if b := f.Before; b != nil {
		where.Add(`(v.written_at, v.id) < (?, ?)`, b.At, b.ID)
	}
	found, err := page(ctx, s.conn, fileVersionFields,
		`SELECT `+fileVersionColumns+` FROM memory_file_versions AS v WHERE `, where, `v.written_at DESC, v.id DESC`, f.Limit)
	return found, s.fault(err, "list the versions of the file")
}

func (s *Store) FileVersion(ctx context.Context, owner memory.Owner, id string) (memory.FileVersion, error) {
	if !memory.IsID(id) {
		return memory.FileVersion{}, NotFound("version", id)
	}
	v, ok, err := first(ctx, s.conn, contentFields, findFileVersion, id, owner.AppID, owner.UserID)
	return v, s.require(ok, err, "read the version", NotFound("version", id))
}

const findFileVersion = selectFileVersion + `v.id = $1 AND {|+}v.app_id = $2 AND {|+}v.user_id = $3`

func (u *UserTx) RecordedFileVersion(ctx context.Context, id string) (memory.FileVersion, bool, error) {
	v, ok, err := first(ctx, u.conn, contentFields, findFileVersion, id, u.Owner.AppID, u.Owner.UserID)
	return v, ok, u.fault(err, "read the version")
}

func (u *UserTx) AddFileVersion(ctx context.Context, v memory.FileVersion) error {
	if err := u.check("version", v.Owner, v.ID, v.FileID); err != nil {
		return err
	}
	_, err := u.exec(ctx, `
		INSERT INTO memory_file_versions
			(id, app_id, user_id, agent_id, file_id, path, version, bytes, content, written_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		v.ID, v.AppID, v.UserID, v.AgentID, v.FileID, v.Path, v.Number, len(v.Content), v.Content, v.WrittenAt)
	return u.fault(err, "store the version of the file")
}

// isPresent holds for the version v whose content a file has.
const isPresent = `EXISTS (SELECT 1 FROM memory_files AS f WHERE f.id = v.file_id AND f.version = v.version)`

func (u *UserTx) PruneFileVersions(ctx context.Context, fileID string) error {
	_, err := u.exec(ctx, `DELETE FROM memory_file_versions WHERE file_id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2
		AND version <= (SELECT max(version) FROM memory_file_versions WHERE file_id = $3) - $4`,
		u.Owner.AppID, u.Owner.UserID, fileID, memory.MaxFileVersions)
	if err == nil {
		_, err = u.exec(ctx, `DELETE FROM memory_file_versions WHERE {app_id = $1 AND user_id = $2 AND |}id IN (
			SELECT v.id FROM memory_file_versions AS v WHERE v.app_id = $1 AND v.user_id = $2 AND NOT `+isPresent+`
			ORDER BY v.written_at DESC, v.id DESC LIMIT {ALL|-1} OFFSET $3)`,
			u.Owner.AppID, u.Owner.UserID, memory.MaxPastContents)
	}
	return u.fault(err, "delete old versions of files")
}

func (s *Store) ExportFiles(ctx context.Context, of db.Extent, after *db.ExportedFile) ([]db.ExportedFile, error) {
	var where Conditions
	where.Add(`f.app_id = ?`, of.AppID)
	if of.UserID != "" {
		where.Add(`f.user_id = ?`, of.UserID)
	}
	if a := after; a != nil {
		where.Add(`(f.user_id, f.agent_id, f.path) > (?, ?, ?)`, a.File.UserID, a.File.AgentID, a.File.Path)
	}
	found, err := page(ctx, s.conn, exportedFileFields, selectFile, where, `f.user_id, f.agent_id, f.path`, of.Limit)
	return found, s.fault(err, "export the files")
}

func (s *Store) ExportFileVersions(
	ctx context.Context, of db.Extent, after *memory.FileVersion,
) ([]memory.FileVersion, error) {
	var where Conditions
	where.Add(`v.app_id = ?`, of.AppID)
	if of.UserID != "" {
		where.Add(`v.user_id = ?`, of.UserID)
	}
	if a := after; a != nil {
		where.Add(`(v.user_id, v.agent_id, v.path, v.written_at, v.id) > (?, ?, ?, ?, ?)`,
			a.UserID, a.AgentID, a.Path, a.WrittenAt, a.ID)
	}
	where.Add(`NOT ` + isPresent)
	found, err := page(ctx, s.conn, contentFields, selectFileVersion, where,
		`v.user_id, v.agent_id, v.path, v.written_at, v.id`, of.Limit)
	return found, s.fault(err, "export the versions of files")
}
