// Package memorytool runs the commands of Anthropic's memory tool (memory_20250818) on files of the database, and keeps
// a memory of each paragraph of the files:
//
//	command -> files of the scope -> answer, and a change of files
//	        -> paragraphs that are new or removed -> memories to add and to forget
//	        -> one transaction: files as they were read? -> files, versions and memories
//
// The texts of the answers are those of the file system backend of Anthropic's SDK, since models know them. If a file
// has changed since it was read, the command starts again.
package memorytool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// The commands.
const (
	View       = "view"
	Create     = "create"
	StrReplace = "str_replace"
	Insert     = "insert"
	Delete     = "delete"
	Rename     = "rename"
)

// Command is a call of the tool. A command ignores the fields of the others.
type Command struct {
	Name       string // one of the commands above
	Path       string // of all but Rename
	ViewRange  []int  // of View: empty, or the first and the last line, from 1; -1: to the end
	FileText   string // of Create
	OldStr     string // of StrReplace; not empty
	NewStr     string // of StrReplace
	InsertLine int    // of Insert: the line after which the text is inserted; 0: before the first
	InsertText string // of Insert
	OldPath    string // of Rename
	NewPath    string // of Rename
}

// Result is what the model reads.
type Result struct {
	Content string
	IsError bool // the command was not performed; Content says why
}

// Records is the part of the database that the tool uses.
type Records interface {
	ListFiles(ctx context.Context, scope db.FileScope) ([]db.FileEntry, error)
	FindFile(ctx context.Context, scope db.FileScope, path string) (memory.File, error)
	Files(ctx context.Context, owner memory.Owner, ids []string) ([]memory.File, error)
}

// Rewriter changes memories and files in one transaction; package ingest implements it.
type Rewriter interface {
	Rewrite(ctx context.Context, r ingest.Rewrite) error
}

// Service runs commands.
type Service struct {
	records Records
	writer  Rewriter
	now     func() time.Time
}

// New makes a service.
func New(records Records, writer Rewriter, now func() time.Time) *Service {
	return &Service{records, writer, now}
}

// attempts bounds how often a command starts again because a file has changed.
const attempts = 20

// Run runs a command on the files of a scope. KindConflict: the files keep changing, or ErrErasing. KindUnavailable: a
// part is unavailable, such as the embedder.
func (s *Service) Run(ctx context.Context, scope db.FileScope, c Command) (Result, error) {
	for range attempts {
		r := &run{Service: s, scope: scope, command: c}
		answer, err := r.plan(ctx)
		if err == nil && r.change.changes() {
			err = r.apply(ctx)
		}
		var refused refusal
		switch {
		case errors.As(err, &refused):
			return Result{Content: string(refused), IsError: true}, nil
		case errors.Is(err, errChanged):
			continue
		}
		return Result{Content: answer}, err
	}
	return Result{}, memory.Errorf(memory.KindConflict, "the files kept changing during the command: try it again")
}

// refusal is why a command is not performed, for the model.
type refusal string

func (r refusal) Error() string { return string(r) }

// errChanged means that files have changed since they were read.
var errChanged = errors.New("the files have changed")

type entry = db.FileEntry

// run is one attempt at a command.
type run struct {
	*Service
	scope   db.FileScope
	command Command
	files   tree
	change  change
}

// change is what a command does to files. A change of one file sets either put or from.
type change struct {
	put  *memory.File // a new file or a new content
	from string       // the path that is edited, deleted or renamed
	seen tree         // the files at from as they were read
	free string       // the path of a new file, or the new path of from
}

func (c change) changes() bool { return c.put != nil || c.from != "" }

// plan reads what the command needs, and returns its answer.
func (r *run) plan(ctx context.Context) (answer string, err error) {
	if r.files, err = r.records.ListFiles(ctx, r.scope); err != nil {
		return "", err
	}
	switch r.command.Name {
	case View:
		return r.view(ctx)
	case Create:
		return r.create()
	case StrReplace:
		return r.replace(ctx)
	case Insert:
		return r.insert(ctx)
	case Delete:
		return r.delete()
	case Rename:
		return r.rename()
	}
	return "", memory.Invalid(memory.Field{Path: "command", Message: fmt.Sprintf("is not known: %q", r.command.Name)})
}

// read reads a file that was listed.
func (r *run) read(ctx context.Context, path string) (memory.File, error) {
	file, err := r.records.FindFile(ctx, r.scope, path)
	if memory.IsKind(err, memory.KindNotFound) {
		err = errChanged
	}
	return file, err
}
