package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/memorytool"
	"hippocampus/server/frame"
)

// MemoryToolParts are the parts behind the routes of Anthropic's memory tool.
type MemoryToolParts struct {
	Runner CommandRunner
	Reader FileReader
}

// CommandRunner runs commands; package memorytool implements it.
type CommandRunner interface {
	Run(ctx context.Context, scope db.FileScope, c memorytool.Command) (memorytool.Result, error)
}

// FileReader reads the contents that files have and had; db.Files implements it.
type FileReader interface {
	ListFileVersions(ctx context.Context, f db.FileVersionFilter) ([]memory.FileVersion, error)
	FileVersion(ctx context.Context, owner memory.Owner, id string) (memory.FileVersion, error)
}

type memoryToolHandlers struct {
	MemoryToolParts
	quotas *quotas
	slots  *frame.Slots
	modes  ModeKeeper
}

func (h memoryToolHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/memory-tool", memory.RoleRead, h.slots.Bound(frame.WithBody(h.run)))
	list := frame.List[db.FileVersionFilter, memory.FileVersion, fileVersionBody]{
		Name:     "versions",
		Filter:   fileVersionFilter,
		Find:     h.Reader.ListFileVersions,
		Body:     fileVersionOf,
		Position: func(v memory.FileVersion) db.Position { return db.Position{At: v.WrittenAt, ID: v.ID} },
	}
	r.Add("GET /v1/memory-tool/versions", memory.RoleRead, list.Handle)
	r.Add("GET /v1/memory-tool/versions/:id", memory.RoleRead, h.version)
}

type commandRequest struct {
	UserID     string  `json:"user_id"`
	AgentID    string  `json:"agent_id"`
	Command    string  `json:"command"`
	Path       *string `json:"path"`
	ViewRange  []int   `json:"view_range"`
	FileText   *string `json:"file_text"`
	OldStr     *string `json:"old_str"`
	NewStr     *string `json:"new_str"`
	InsertLine *int    `json:"insert_line"`
	InsertText *string `json:"insert_text"`
	OldPath    *string `json:"old_path"`
	NewPath    *string `json:"new_path"`
}

// required are the fields that each command needs.
var required = map[string][]string{
	memorytool.View:       {"path"},
	memorytool.Create:     {"path", "file_text"},
	memorytool.StrReplace: {"path", "old_str", "new_str"},
	memorytool.Insert:     {"path", "insert_line", "insert_text"},
	memorytool.Delete:     {"path"},
	memorytool.Rename:     {"old_path", "new_path"},
}

// given lists the fields of a request that some command needs.
func (b commandRequest) given() (names []string) {
	for name, text := range map[string]*string{
		"path": b.Path, "file_text": b.FileText, "old_str": b.OldStr, "new_str": b.NewStr, "insert_text": b.InsertText,
		"old_path": b.OldPath, "new_path": b.NewPath,
	} {
		if text != nil {
			names = append(names, name)
		}
	}
	if b.InsertLine != nil {
		names = append(names, "insert_line")
	}
	return names
}

// run answers with the text that the model reads. Only a request that is wrong by itself, or not allowed, gets an HTTP
// error.
func (h memoryToolHandlers) run(ctx context.Context, r *frame.Request, body commandRequest) (any, error) {
	scope := db.FileScope{Owner: r.BodyOwner(body.UserID), AgentID: body.AgentID}
	r.Note("agent_id", memory.CheckID(body.AgentID, true))
	given := body.given()
	for _, name := range required[body.Command] {
		if !slices.Contains(given, name) {
			r.Note(name, fmt.Sprintf("is missing: the command %s needs it", body.Command))
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if body.Command != memorytool.View && !r.Key.Role.Includes(memory.RoleWrite) {
		return nil, memory.Errorf(memory.KindForbidden,
			"the command %s needs a key of role %s; the one sent has role %s", body.Command, memory.RoleWrite, r.Key.Role)
	}
	set, err := modeFor(ctx, r, h.modes, scope.Owner, "")
	writes := slices.Contains([]string{memorytool.Create, memorytool.StrReplace, memorytool.Insert}, body.Command)
	switch {
	case err != nil:
		return nil, err
	case writes && !set.Keeps(), body.Command == memorytool.View && !set.Recalls():
		return nil, set.Refusal(scope.Owner, "")
	}
	if writes {
		if err := h.quotas.admit(ctx, r.Key.AppID, r.Body, paragraphs); err != nil {
			return nil, err
		}
	}
	result, err := h.Runner.Run(ctx, scope, memorytool.Command{
		Name: body.Command, Path: valueOf(body.Path), ViewRange: body.ViewRange, FileText: valueOf(body.FileText),
		OldStr: valueOf(body.OldStr), NewStr: valueOf(body.NewStr), InsertLine: valueOf(body.InsertLine),
		InsertText: valueOf(body.InsertText), OldPath: valueOf(body.OldPath), NewPath: valueOf(body.NewPath),
	})
	return struct {
		Content string `json:"content"`
		IsError bool   `json:"is_error"`
		frame.Altered
	}{result.Content, result.IsError, r.Altered}, err
}

// paragraphs is the addition of a body that writes into a file: each paragraph becomes a memory.
func paragraphs(raw []byte) addition {
	var body commandRequest
	_ = json.Unmarshal(raw, &body)
	a := addition{users: []string{body.UserID}}
	for _, text := range []*string{body.FileText, body.NewStr, body.InsertText} {
		for _, paragraph := range memorytool.Paragraphs(valueOf(text)) {
			a.Memories++
			a.Bytes += len(paragraph)
		}
	}
	a.Memories = max(1, a.Memories)
	a.Versions = a.Memories
	return a
}

// valueOf returns the value of an optional field, or the zero value.
func valueOf[T any](field *T) (value T) {
	if field != nil {
		value = *field
	}
	return value
}

type fileVersionBody struct {
	ID        string    `json:"id"`
	AgentID   string    `json:"agent_id,omitempty"`
	FileID    string    `json:"file_id"`
	Path      string    `json:"path"`
	Version   int       `json:"version"`
	Bytes     int       `json:"bytes"`
	WrittenAt time.Time `json:"written_at"`
}

func fileVersionOf(v memory.FileVersion) fileVersionBody {
	return fileVersionBody{
		ID: v.ID, AgentID: v.AgentID, FileID: v.FileID, Path: v.Path, Version: v.Number, Bytes: v.Bytes,
		WrittenAt: v.WrittenAt,
	}
}

func fileVersionFilter(r *frame.Request, p frame.Page) db.FileVersionFilter {
	f := db.FileVersionFilter{
		FileScope: db.FileScope{Owner: r.QueryOwner(), AgentID: r.QueryID("agent_id")},
		Path:      r.Query.Get("path"), Before: p.Before, Limit: p.Limit,
	}
	r.Note("query.path", memory.CheckFilePath(f.Path))
	return f
}

func (h memoryToolHandlers) version(ctx context.Context, r *frame.Request) (any, error) {
	id, _ := r.PathID()
	owner := r.QueryOwner()
	if err := r.Err(); err != nil {
		return nil, err
	}
	v, err := h.Reader.FileVersion(ctx, owner, id)
	return struct {
		fileVersionBody
		UserID  string `json:"user_id"`
		Content string `json:"content"`
	}{fileVersionOf(v), v.UserID, v.Content}, err
}
