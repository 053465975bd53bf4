package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// pathOf is the path of a file of the memory tool.
func pathOf(name string) string { return "/memories/" + name + ".md" }

// command sends a command of the memory tool, with one entry.
func (w *writer) command(ctx context.Context, e Entry, command fields) {
	command["user_id"] = e.User
	w.send(ctx, request{
		method: "POST", path: "/v1/memory-tool", body: command, entries: []Entry{e}, repeatable: true,
		outcomes: func(a answer) []Entry { return []Entry{commandOutcome(e, a)} },
	})
}

// commandOutcome reads whether a command was refused, which an answer of status 200 states in its body.
func commandOutcome(e Entry, a answer) Entry {
	var body struct {
		Content string `json:"content"`
		IsError bool   `json:"is_error"`
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		e.Outcome = Unknown
	} else if body.IsError {
		e.Outcome = Refused
	}
	return e
}

func (w *writer) createFile(ctx context.Context, user string) {
	name := w.name("note", user)
	w.command(ctx, Entry{User: user, Kind: CreateFile, Object: name, Value: "1"},
		fields{"command": "create", "path": pathOf(name), "file_text": w.content(name, "1") + "\n"})
}

// aFile picks a file whose content is certain; version is of its content.
func (w *writer) aFile(user string) (o *object, version string) {
	o = w.pick(user, func(o *object) bool { return !o.is("") }, CreateFile)
	if o != nil {
		version = slices.Collect(maps.Keys(o.possible))[0]
	}
	return o, version
}

func (w *writer) editFile(ctx context.Context, user string) {
	o, former := w.aFile(user)
	if o == nil {
		return
	}
	w.names++
	version := strconv.Itoa(w.names)
	w.command(ctx, Entry{User: user, Kind: EditFile, Object: o.name, Value: version}, fields{
		"command": "str_replace", "path": pathOf(o.name), "old_str": "version " + former + ".",
		"new_str": "version " + version + ".",
	})
}

func (w *writer) deleteFile(ctx context.Context, user string) {
	if o, _ := w.aFile(user); o != nil {
		w.command(ctx, Entry{User: user, Kind: DeleteFile, Object: o.name},
			fields{"command": "delete", "path": pathOf(o.name)})
	}
}

// markdown is a body that is a Markdown file. If revision is not "" and the file has another revision, the server
// changes nothing.
type markdown struct{ text, revision string }

func memoryFile(user string) string { return "/v1/files/memory.md?user_id=" + url.QueryEscape(user) }

// addBullet writes a memory as a bullet of a file that shows no others.
func (w *writer) addBullet(ctx context.Context, user string) {
	name := w.name("bullet", user)
	w.send(ctx, request{
		method: "PUT", path: memoryFile(user), body: markdown{text: "# Facts\n\n- " + w.content(name, "1") + "\n"},
		entries: []Entry{{User: user, Kind: AddBullet, Object: name, Value: "1"}},
	})
}

// removeBullet forgets a memory by sending the file of all memories without it.
func (w *writer) removeBullet(ctx context.Context, user string) {
	o := w.pick(user, (*object).active, AddBullet)
	if o == nil {
		return
	}
	read := Entry{User: user, Kind: Read, Object: o.name}
	a := w.send(ctx, request{method: "GET", path: memoryFile(user), entries: []Entry{read}})
	if a.status != 200 {
		return
	}
	text, ok := withoutBullet(string(a.body), o.name)
	if !ok {
		w.ledger.Blame(Violation{
			What: fmt.Sprintf("the file of %s has not one bullet of %s", user, o.name), Entry: o.last, Found: string(a.body),
		})
		return
	}
	w.send(ctx, request{
		method: "PUT", path: memoryFile(user), body: markdown{text, a.revision}, repeatable: true,
		entries: []Entry{{User: user, Kind: ForgetMemory, Object: o.name}},
	})
}

// withoutBullet removes the bullet of a memory that addBullet wrote; ok is false if there is no such bullet. An insight
// may quote the memory, and is not among the facts.
func withoutBullet(file, name string) (rest string, ok bool) {
	var kept []string
	removed, section := 0, ""
	for line := range strings.Lines(file) {
		if strings.HasPrefix(line, "# ") {
			section = strings.TrimSpace(line)
		}
		if section == "# Facts" && strings.HasPrefix(line, "- The ") && strings.Contains(line, " keeps "+name+", version ") {
			removed++
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, ""), removed == 1
}
