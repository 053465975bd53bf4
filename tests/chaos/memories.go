package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

type fields map[string]any

// content of a memory.
func (w *writer) content(name, version string) string {
	return fmt.Sprintf("The %s keeps %s, version %s.", w.some(), name, version)
}

// written reads the id of a memory from an answer.
func written(e Entry) func(a answer) []Entry {
	return func(a answer) []Entry {
		var m Memory
		if err := json.Unmarshal(a.body, &m); err != nil || m.ID == "" {
			e.Outcome = Unknown
		}
		e.ID = m.ID
		return []Entry{e}
	}
}

func (w *writer) writeMemory(ctx context.Context, user string) {
	name := w.name("memo", user)
	e := Entry{User: user, Kind: WriteMemory, Object: name, Value: "1"}
	w.send(ctx, request{
		method: "POST", path: "/v1/memories", entries: []Entry{e}, outcomes: written(e),
		body: fields{"user_id": user, "content": w.content(name, "1"), "tags": []string{name}},
	})
}

func (w *writer) writeBatch(ctx context.Context, user string) {
	var entries []Entry
	var memories []fields
	for range 3 {
		name := w.name("memo", user)
		entries = append(entries, Entry{User: user, Kind: WriteMemory, Object: name, Value: "1"})
		memories = append(memories,
			fields{"user_id": user, "content": w.content(name, "1"), "tags": []string{name}})
	}
	w.send(ctx, request{
		method: "POST", path: "/v1/memories/batch", body: fields{"memories": memories}, entries: entries,
		outcomes: func(a answer) []Entry { return batchOutcomes(entries, a) },
	})
}

// batchOutcomes reads the result of each item.
func batchOutcomes(entries []Entry, a answer) (read []Entry) {
	var body struct {
		Results []struct {
			ID    string `json:"id"`
			Error *struct {
				Status int    `json:"status"`
				Detail string `json:"detail"`
			} `json:"error"`
		} `json:"results"`
	}
	err := json.Unmarshal(a.body, &body)
	for i, e := range entries {
		switch {
		case err != nil || i >= len(body.Results):
			e.Outcome = Unknown
		case body.Results[i].Error != nil:
			item := answer{status: body.Results[i].Error.Status}
			e.Outcome, e.Error = item.outcome(), body.Results[i].Error.Detail
		default:
			e.ID = body.Results[i].ID
		}
		read = append(read, e)
	}
	return read
}

func (w *writer) importMemories(ctx context.Context, user string) {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	lines := []any{fields{"format": "hippocampus-export", "version": 2, "exported_at": now}}
	var entries []Entry
	for range 2 {
		name, id := w.name("memo", user), uuid.Must(uuid.NewV7()).String()
		entries = append(entries, Entry{User: user, Kind: ImportMemory, Object: name, Value: "1", ID: id})
		lines = append(lines, fields{
			"memory": fields{
				"id": id, "user_id": user, "content": w.content(name, "1"), "type": "fact", "domain": "general_chat",
				"tags": []string{name}, "importance": 0.7, "pinned": false, "status": "active", "created_at": now,
				"updated_at": now, "last_accessed_at": now, "access_count": 0,
			},
			"events": []any{}, "relations": []any{},
		})
	}
	lines = append(lines, fields{"end": fields{"memories": len(entries)}})
	var text strings.Builder
	for _, l := range lines {
		row, err := json.Marshal(l)
		if err != nil {
			panic(err) // the lines have only texts and numbers
		}
		text.Write(append(row, '\n'))
	}
	w.send(ctx, request{
		method: "POST", path: "/v1/import", body: text.String(), entries: entries, repeatable: true,
		outcomes: func(a answer) []Entry { return importOutcomes(entries, a) },
	})
}

func importOutcomes(entries []Entry, a answer) (read []Entry) {
	var body struct {
		Failed int             `json:"failed"`
		Errors json.RawMessage `json:"errors"`
	}
	err := json.Unmarshal(a.body, &body)
	for _, e := range entries {
		if err != nil || body.Failed > 0 {
			e.Outcome, e.Error = Unknown, string(body.Errors)
		}
		read = append(read, e)
	}
	return read
}

// known picks a memory whose id is known.
func (w *writer) known(user string, wanted func(*object) bool) *object {
	return w.pick(user, func(o *object) bool { return o.id != "" && wanted(o) }, WriteMemory, ImportMemory)
}

func (w *writer) updateMemory(ctx context.Context, user string) {
	o := w.known(user, (*object).active)
	if o == nil {
		return
	}
	w.names++
	version := strconv.Itoa(w.names)
	w.send(ctx, request{
		method: "PATCH", path: "/v1/memories/" + o.id, body: fields{"content": w.content(o.name, version)}, repeatable: true,
		entries: []Entry{{User: user, Kind: UpdateMemory, Object: o.name, Value: version, ID: o.id}},
	})
}

func (w *writer) forgetMemory(ctx context.Context, user string) {
	if o := w.known(user, (*object).active); o != nil {
		w.send(ctx, request{
			method: "DELETE", path: "/v1/memories/" + o.id, repeatable: true,
			entries: []Entry{{User: user, Kind: ForgetMemory, Object: o.name, ID: o.id}},
		})
	}
}

func (w *writer) forgetMany(ctx context.Context, user string) {
	first, second := w.known(user, (*object).active), w.known(user, (*object).active)
	if first == nil || first == second {
		return
	}
	entries := []Entry{
		{User: user, Kind: ForgetMemory, Object: first.name, ID: first.id},
		{User: user, Kind: ForgetMemory, Object: second.name, ID: second.id},
	}
	w.send(ctx, request{
		method: "POST", path: "/v1/memories/forget", body: fields{"ids": []string{first.id, second.id}}, repeatable: true,
		entries: entries, outcomes: func(a answer) []Entry { return batchOutcomes(entries, a) },
	})
}

func (w *writer) restoreMemory(ctx context.Context, user string) {
	if o := w.known(user, (*object).forgotten); o != nil {
		w.send(ctx, request{
			method: "POST", path: "/v1/memories/" + o.id + "/restore", repeatable: true,
			entries: []Entry{{User: user, Kind: RestoreMemory, Object: o.name, ID: o.id}},
		})
	}
}

func (w *writer) readMemory(ctx context.Context, user string) {
	o := w.known(user, func(*object) bool { return true })
	if o == nil {
		return
	}
	e := Entry{User: user, Kind: Read, Object: o.name, ID: o.id}
	a := w.send(ctx, request{method: "GET", path: "/v1/memories/" + o.id, entries: []Entry{e}})
	var m Memory
	if a.status == 200 && json.Unmarshal(a.body, &m) == nil {
		w.blame(CheckRead(w.x, e, m))
	}
}

func (w *writer) recall(ctx context.Context, user string) {
	o := w.known(user, func(*object) bool { return true })
	if o == nil {
		return
	}
	e := Entry{User: user, Kind: Recall, Object: o.name}
	a := w.send(ctx, request{
		method: "POST", path: "/v1/recall", entries: []Entry{e},
		body: fields{"user_id": user, "query": "Where is " + o.name + "?", "limit": 30},
	})
	var body struct {
		Memories []Memory `json:"memories"`
	}
	if a.status == 200 && json.Unmarshal(a.body, &body) == nil {
		w.blame(CheckSeen(w.x, e, body.Memories))
	}
}

func (w *writer) blame(violations []Violation) {
	for _, v := range violations {
		w.ledger.Blame(v)
	}
}
