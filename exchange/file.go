package exchange

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// fileLine is a file of the memory tool with its present content.
type fileLine struct {
	ID         string             `json:"id"`
	UserID     string             `json:"user_id"`
	AgentID    string             `json:"agent_id,omitempty"`
	Path       string             `json:"path"`
	Version    int                `json:"version"`
	VersionID  string             `json:"version_id"`
	Content    string             `json:"content"`
	Paragraphs []memory.Paragraph `json:"paragraphs"`
	CreatedAt  time.Time          `json:"created_at"`
	ChangedAt  time.Time          `json:"changed_at"`
}

// fileVersionLine is a content that a file had.
type fileVersionLine struct {
	ID        string    `json:"id"`
	UserID    string    `json:"user_id"`
	AgentID   string    `json:"agent_id,omitempty"`
	FileID    string    `json:"file_id"`
	Path      string    `json:"path"`
	Version   int       `json:"version"`
	Content   string    `json:"content"`
	WrittenAt time.Time `json:"written_at"`
}

func fileLineOf(e db.ExportedFile) fileLine {
	f := e.File
	return fileLine{
		ID: f.ID, UserID: f.UserID, AgentID: f.AgentID, Path: f.Path, Version: f.Version, VersionID: e.VersionID,
		Content: f.Content, Paragraphs: append([]memory.Paragraph{}, f.Paragraphs...),
		CreatedAt: f.CreatedAt, ChangedAt: f.ChangedAt,
	}
}

func fileVersionLineOf(v memory.FileVersion) fileVersionLine {
	return fileVersionLine{
		ID: v.ID, UserID: v.UserID, AgentID: v.AgentID, FileID: v.FileID, Path: v.Path, Version: v.Number,
		Content: v.Content, WrittenAt: v.WrittenAt,
	}
}

func (l *fileLine) file(appID string) memory.File {
	return memory.File{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, AgentID: l.AgentID, Path: l.Path, Version: l.Version,
		Content: l.Content, Paragraphs: l.Paragraphs,
		CreatedAt: memory.Instant(l.CreatedAt), ChangedAt: memory.Instant(l.ChangedAt),
	}
}

func (l *fileVersionLine) version(appID string) memory.FileVersion {
	return memory.FileVersion{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, AgentID: l.AgentID, FileID: l.FileID, Path: l.Path,
		Number: l.Version, Bytes: len(l.Content), Content: l.Content, WrittenAt: memory.Instant(l.WrittenAt),
	}
}

func (l *fileLine) kind() Kind        { return Files }
func (l *fileLine) user() string      { return l.UserID }
func (l *fileVersionLine) kind() Kind { return FileVersions }

func (l *fileVersionLine) user() string { return l.UserID }

func (l *fileLine) check(f *faults) {
	f.id("file.id", l.ID)
	f.note("file.user_id", memory.CheckID(l.UserID, false))
	f.note("file.agent_id", memory.CheckID(l.AgentID, true))
	f.note("file.path", memory.CheckFilePath(l.Path))
	inRange(f, "file.version", l.Version, 1, maxNumber)
	f.id("file.version_id", l.VersionID)
	f.note("file.content", memory.CheckFileContent(l.Content))
	if len(l.Paragraphs) > memory.MaxFileParagraphs {
		f.note("file.paragraphs", fmt.Sprintf("has more than %d paragraphs", memory.MaxFileParagraphs))
	}
	for n, p := range l.Paragraphs {
		path := fmt.Sprintf("file.paragraphs[%d].", n)
		f.hash(path+"hash", p.Hash)
		f.id(path+"memory_id", p.MemoryID)
	}
	f.time("file.created_at", l.CreatedAt)
	f.time("file.changed_at", l.ChangedAt)
}

func (l *fileVersionLine) check(f *faults) {
	f.id("file_version.id", l.ID)
	f.note("file_version.user_id", memory.CheckID(l.UserID, false))
	f.note("file_version.agent_id", memory.CheckID(l.AgentID, true))
	f.id("file_version.file_id", l.FileID)
	f.note("file_version.path", memory.CheckFilePath(l.Path))
	inRange(f, "file_version.version", l.Version, 1, maxNumber)
	f.note("file_version.content", memory.CheckFileContent(l.Content))
	f.time("file_version.written_at", l.WrittenAt)
}

func (l *fileLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	f := l.file(i.appID)
	stored, found, err := tx.RecordedFile(ctx, f.AgentID, f.Path)
	if err != nil || found {
		return false, orDifference(err, "a file of this path", fileLineOf(db.ExportedFile{File: f, VersionID: l.VersionID}),
			fileLineOf(stored))
	}
	if err := idTaken(tx.PutFile(ctx, f, l.VersionID), "a file or of its version"); err != nil {
		return false, err
	}
	usage, err := tx.FileUsage(ctx)
	if excess := usage.Excess(); err == nil && excess != "" {
		err = memory.Errorf(memory.KindConflict, "%s", excess)
	}
	return true, err
}

func (l *fileVersionLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	v := l.version(i.appID)
	stored, found, err := tx.RecordedFileVersion(ctx, v.ID)
	if err != nil || found {
		return false, orDifference(err, "this version of a file", fileVersionLineOf(v), fileVersionLineOf(stored))
	}
	return true, idTaken(tx.AddFileVersion(ctx, v), "a version of a file")
}
