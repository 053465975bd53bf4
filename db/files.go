package db

import (
	"context"
	"fmt"

	"hippocampus/internal/memory"
)

// Files keeps the files of the memory tool, and the contents that they had:
//
//	PutFile -> file, and its content as a version -> DeleteFile -> the versions alone
//
// Paths are compared and ordered by their bytes. A directory is a path that begins the paths of files.
type Files interface {
	// ListFiles lists the files of a scope in the order of their paths.
	ListFiles(ctx context.Context, scope FileScope) ([]FileEntry, error)
	// FindFile returns a file. KindNotFound: it does not exist.
	FindFile(ctx context.Context, scope FileScope, path string) (memory.File, error)
	// Files returns the files of an owner with these ids, without their contents, in the order of their paths.
	Files(ctx context.Context, owner memory.Owner, ids []string) ([]memory.File, error)
	// ListFileVersions pages through the versions of the files that are at a path or
	// were there when they were deleted, newest first, without their contents.
	ListFileVersions(ctx context.Context, f FileVersionFilter) ([]memory.FileVersion, error)
	// FileVersion returns a version of an owner. KindNotFound: the owner has no such version.
	FileVersion(ctx context.Context, owner memory.Owner, id string) (memory.FileVersion, error)
}

// FileTx is Files in a user's transaction.
type FileTx interface {
	// ListFiles is Files.ListFiles for an agent of the owner, or for memories of no agent.
	ListFiles(ctx context.Context, agentID string) ([]FileEntry, error)
	// RecordedFile returns a file of the owner with its content; ok is false if it does not exist.
	RecordedFile(ctx context.Context, agentID, path string) (f ExportedFile, ok bool, err error)
	// FileUsage counts what the owner's files of all agents take.
	FileUsage(ctx context.Context) (FileUsage, error)
	// PutFile stores a file of the owner with its content as a version under an id.
	// KindConflict: another file has its path, or the version exists already.
	PutFile(ctx context.Context, f memory.File, versionID string) error
	// MoveFile gives a file and its versions another path. KindConflict: another file has it. KindNotFound: the owner
	// has no such file.
	MoveFile(ctx context.Context, id, path string) error
	// DeleteFile deletes a file and keeps its versions. KindNotFound: the owner has no such file.
	DeleteFile(ctx context.Context, id string) error
	// AddFileVersion stores a version as it is. KindConflict: its id exists already, or the file has its number.
	AddFileVersion(ctx context.Context, v memory.FileVersion) error
	// RecordedFileVersion returns a version of the owner; ok is false if it does not exist.
	RecordedFileVersion(ctx context.Context, id string) (v memory.FileVersion, ok bool, err error)
	// PruneFileVersions deletes the oldest versions of a file, and of all files of the owner, beyond
	// memory.MaxFileVersions and memory.MaxPastContents. Present contents stay.
	PruneFileVersions(ctx context.Context, fileID string) error
}

// FileScope says whose files are meant.
type FileScope struct {
	Owner   memory.Owner
	AgentID string // of the only agent that has the files; empty: the files of no agent
}

// FileEntry is a file in a list.
type FileEntry struct {
	ID      string
	Path    string
	Version int
	Bytes   int
}

// FileUsage is what files take.
type FileUsage struct {
	Files, Bytes, Paragraphs int
}

// Excess says which limit of a user the files exceed, in a sentence; "" if they are within all limits.
func (u FileUsage) Excess() string {
	for _, limit := range []struct {
		used, most int
		what       string
	}{
		{u.Files, memory.MaxFiles, "files"},
		{u.Bytes, memory.MaxFilesBytes, "bytes"},
		{u.Paragraphs, memory.MaxParagraphs, "paragraphs"},
	} {
		if limit.used > limit.most {
			return fmt.Sprintf("The memory directory would hold %d %s, and at most %d are allowed: "+
				"delete files that are not needed", limit.used, limit.what, limit.most)
		}
	}
	return ""
}

// FileVersionFilter chooses versions.
type FileVersionFilter struct {
	FileScope
	Path   string    // required
	Before *Position // strictly older than this, in (WrittenAt, ID) order
	Limit  int       // required, 1..memory.MaxPage
}
