// Package files serves what is remembered about a user as Markdown files that are read, edited and sent back:
//
//	GET /v1/files/NAME -> requests to /v1 -> internal/memoryfile -> file, with an ETag
//	PUT /v1/files/NAME -> internal/memoryfile -> plan -> requests to /v1 -> the merged file, with a report
//
// memory.md shows memories, learnings.md instructions and the memories of what worked or failed. Both are read and
// changed by requests to the API as the same key. The server keeps nothing about files.
package files

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/internal/memoryfile"
	"hippocampus/server/frame"
)

// prefix is where the files are mounted.
const prefix = "/v1/files/"

const (
	markdown     = "text/markdown; charset=utf-8"
	reportHeader = "X-Hippocampus-File"
)

// Mounts returns the routes of the files.
func Mounts() []frame.Mount {
	var mounts []frame.Mount
	for _, form := range []*memoryfile.Form{memoryfile.Memories, memoryfile.Learnings} {
		mounts = append(mounts, frame.Mount{
			Path: prefix + form.Name, Role: memory.RoleRead, Methods: []string{http.MethodGet, http.MethodPut},
			Open: func(v1 http.Handler) frame.MountHandler { return server{v1, form}.serve },
		})
	}
	return mounts
}

// server serves the files of a form.
type server struct {
	v1   http.Handler
	form *memoryfile.Form
}

// scope states whose memories a file shows: the memories of a user that belong to no agent, or to one agent. Only a
// file without an agent shows the user's instructions.
type scope struct{ user, agent string }

func (s server) serve(w http.ResponseWriter, r *http.Request) error {
	key, _ := frame.KeyOf(r.Context())
	query := r.URL.Query() // which the API has checked
	of := scope{cmp.Or(query.Get("user_id"), key.UserID), query.Get("agent_id")}
	w.Header().Set("Vary", "Accept")
	if r.Method == http.MethodGet {
		return s.get(w, r, of)
	}
	if !key.Role.Includes(memory.RoleWrite) {
		return memory.Errorf(memory.KindForbidden, "writing a file needs a key of role write; the one sent has role %s",
			key.Role)
	}
	confirmed, _ := strconv.ParseBool(query.Get("confirm"))
	return s.put(w, r, of, confirmed)
}

func (s server) get(w http.ResponseWriter, r *http.Request, of scope) error {
	present, err := s.list(r.Context(), of)
	if err != nil {
		return err
	}
	tag := etag(present)
	w.Header().Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	d, err := s.form.Parse("")
	if err != nil {
		return err
	}
	d.Show(of.user, of.agent, present)
	w.Header().Set("Content-Type", markdown)
	_, _ = io.WriteString(w, d.Bytes()) // fails only if the client has left
	return nil
}

// put synchronizes a file.
func (s server) put(w http.ResponseWriter, r *http.Request, of scope, confirmed bool) error {
	file, err := io.ReadAll(r.Body)
	if err != nil {
		return memory.Errorf(memory.KindInvalid, "reading the file: %w", err)
	}
	text, cleaned := clean(string(file))
	d, err := s.form.Parse(text)
	if err != nil {
		return err
	}
	if d.User != "" && d.User != of.user || d.User != "" && d.Agent != of.agent {
		return memory.Errorf(memory.KindConflict, "the file is that of user %q and agent %q: give them, or another file",
			d.User, d.Agent)
	}
	present, err := s.list(r.Context(), of)
	if err != nil {
		return err
	}
	if sent := r.Header.Get("If-Match"); sent != "" && !matches(sent, etag(present)) {
		return s.precondition(w, etag(present))
	}
	done, err := s.apply(r.Context(), of, d.Merge(present, confirmed), present, confirmed)
	if err != nil {
		return err
	}
	if present, err = s.list(r.Context(), of); err != nil {
		return err
	}
	done.Cleaned = cleaned
	d.Show(of.user, of.agent, present)
	w.Header().Set("ETag", etag(present))
	w.Header().Set(reportHeader, done.line())
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		done.File = d.Bytes()
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(done)
	}
	w.Header().Set("Content-Type", markdown)
	_, _ = io.WriteString(w, d.Bytes()) // fails only if the client has left
	return nil
}

// precondition answers that the memories differ from the state that If-Match names.
func (s server) precondition(w http.ResponseWriter, tag string) error {
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusPreconditionFailed)
	return json.NewEncoder(w).Encode(frame.Problem{
		Type: "urn:hippocampus:problem:precondition_failed", Title: http.StatusText(http.StatusPreconditionFailed),
		Status: http.StatusPreconditionFailed, Instance: prefix + s.form.Name,
		Detail: "The memories changed since the revision of If-Match. Send the file without If-Match to merge both.",
	})
}

func etag(present []memoryfile.Memory) string {
	return fmt.Sprintf("%q", memoryfile.RevisionOf(present))
}

// matches reports whether a header names an entity tag.
func matches(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		if one = strings.TrimSpace(one); one == tag || one == "*" {
			return true
		}
	}
	return false
}
