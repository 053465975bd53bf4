package exchange_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/exchange"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

const (
	head = `{"format":"hippocampus-export","version":1,"exported_at":"2026-05-01T12:00:00Z"}` + "\n"
	id1  = "0198c0de-0000-7000-8000-000000000001"
	id2  = "0198c0de-0000-7000-8000-000000000002"
	id3  = "0198c0de-0000-7000-8000-000000000003"
)

// object is a JSON object.
type object map[string]any

// fact is a line of an active memory of ada, with these fields replaced.
func fact(id string, fields object) object {
	m := object{
		"id": id, "user_id": "ada", "content": "fact " + id, "type": "fact", "domain": "general_chat", "tags": []string{},
		"importance": 0.5,
		"pinned":     false, "status": "active", "created_at": "2026-01-01T00:00:00.000001Z",
		"updated_at":       "2026-01-02T00:00:00Z",
		"last_accessed_at": "2026-01-03T00:00:00Z", "access_count": 2,
	}
	for name, value := range fields {
		m[name] = value
		if value == nil {
			delete(m, name)
		}
	}
	return object{"memory": m, "events": []object{}, "relations": []object{}}
}

func (o object) with(name string, value any) object {
	o[name] = value
	return o
}

func event(id string) object {
	return object{"id": id, "kind": "created", "cause": "api", "at": "2026-01-01T00:00:00Z"}
}

func relation(from, to string) object {
	return object{"from": from, "to": to, "kind": "refines", "created_at": "2026-01-01T00:00:00Z"}
}

// stream is an export with these lines.
func stream(lines ...any) string {
	text := head
	memories := 0
	for _, l := range lines {
		switch l := l.(type) {
		case string:
			text += l + "\n"
			continue
		case object:
			if l["memory"] != nil {
				memories++
			}
			raw, err := json.Marshal(l)
			if err != nil {
				panic(err)
			}
			text += string(raw) + "\n"
		}
	}
	return text + fmt.Sprintf(`{"end":{"memories":%d}}`, memories) + "\n"
}

func embedding(numbers ...float32) string {
	return base64.StdEncoding.EncodeToString(rowcodec.VectorBytes(numbers))
}

// An import never changes a stored memory.
func TestImport_OverwritesNothing(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	was := fact(id1, object{"metadata": object{"a": 1}, "tags": []string{"x"}}).with("events", []object{event(id3)})
	p.importAll(stream(fact(id2, nil), was.with("relations", []object{relation(id1, id2)})))
	before := p.export(exchange.Selection{})
	for field, value := range map[string]any{
		"content": "other", "importance": 0.6, "domain": "tasks_and_schedules", "type": "task", "tags": []string{"y"},
		"metadata": object{"a": 2},
		"pinned":   true, "status": "forgotten", "created_at": "2026-01-01T00:00:01Z", "updated_at": "2026-01-02T00:00:01Z",
		"agent_id": "a", "conversation_id": "c", "source_turn_id": id3,
	} {
		changed := fact(id1, object{"metadata": object{"a": 1}, "tags": []string{"x"}, field: value})
		r := p.importAll(stream(changed))
		if r.Failed != 1 || !strings.Contains(r.Errors[0].Message, "differs in "+field+":") {
			t.Errorf("%s: %+v", field, r)
		}
	}
	same := fact(id1, object{"metadata": object{"a": 1}, "tags": []string{"x"}, "last_accessed_at": "2026-01-09T00:00:00Z",
		"access_count": 9})
	for _, c := range []struct {
		field string
		value []object
	}{
		{"events", []object{event(id2)}},
		{"events", []object{event(id3).with("cause", "other")}},
		{"relations", []object{relation(id2, id1)}},
	} {
		r := p.importAll(stream(fact(id1, same["memory"].(object)).with(c.field, c.value)))
		if r.Failed != 1 || !strings.Contains(r.Errors[0].Message, "differs in "+c.field+":") {
			t.Errorf("%s: %+v", c.field, r)
		}
	}
	if r := p.importAll(stream(same)); r.Skipped != 1 || r.Failed != 0 {
		t.Errorf("with other accesses only: %+v", r)
	}
	if after := p.export(exchange.Selection{}); after != before {
		t.Errorf("the store has changed: %s", firstDifference(before, after))
	}
}

func TestImport_LinesOfOneStreamMeet(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	r := p.importAll(stream(
		fact(id1, nil), fact(id1, nil), fact(id1, object{"content": "other"}),
		fact(id2, object{"user_id": "bob"}), fact(id3, nil).with("relations", []object{relation(id3, id1)}),
	))
	if r.Imported != 3 || r.Skipped != 1 || r.Failed != 1 || r.Errors[0].Line != 4 || !r.Complete {
		t.Errorf("%+v", r)
	}
	whole := stream(fact(id1, nil))
	if r := p.importAll(whole + whole); !r.Complete || r.Skipped != 2 || r.Lines != 6 {
		t.Errorf("two exports in one stream: %+v", r)
	}
	for what, text := range map[string]string{
		"without an end":     head + "\n",
		"a lost line":        strings.Replace(whole, `{"end":{"memories":1}}`, `{"end":{"memories":2}}`, 1),
		"one without an end": head + whole,
	} {
		if r := p.importAll(text); r.Complete {
			t.Errorf("%s counts as complete: %+v", what, r)
		}
	}
	if r := p.importAll(whole + `{"memory":{}}`); r.Failed != 1 || !strings.Contains(r.Errors[0].Message,
		"after the end") {
		t.Errorf("after the end: %+v", r)
	}
}

func TestImport_RefusesOtherStreams(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	for text, want := range map[string]string{
		"":                                 "is not an export",
		"\n \r\n":                          "is not an export",
		"<html>":                           "is not an export",
		stream(fact(id1, nil))[len(head):]: "is not an export",
		strings.Replace(head, `"version":1`, `"version":3`, 1): "version 3",
	} {
		_, err := p.Import(t.Context(), "app", strings.NewReader(text), valid)
		if !memory.IsKind(err, memory.KindInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v", text, err)
		}
	}
}

// A report describes 100 failed lines and counts all, and every good line is imported.
func TestImport_CountsManyBadLines(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	var lines []any
	for i := range 150 {
		lines = append(lines, fact(memory.NewID(), nil), fact(memory.NewID(), nil).with("relations",
			[]object{relation(id1, id2)}))
		if i%2 == 0 {
			lines = append(lines, "{")
		}
	}
	r := p.importAll(stream(lines...))
	if r.Imported != 150 || r.Failed != 225 || len(r.Errors) != 100 || !r.Complete {
		t.Errorf("%d imported, %d failed, %d described, complete %t", r.Imported, r.Failed, len(r.Errors), r.Complete)
	}
}

func TestImport_EmbedsWhereNeeded(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	unit := make([]float32, 16)
	unit[3] = 1
	with := func(id, model, status string, vector ...float32) object {
		return fact(id, object{"status": status, "embedding_model": model, "embedding": embedding(vector...)})
	}
	lines := []any{
		with(id1, llm.HashedModel, "active", unit...), with(id2, "other", "active", 0.6, 0.8), with(id3, llm.HashedModel,
			"active", 0.6, 0.8),
		with(foreign, "other", "forgotten", 0.6, 0.8), with(taken, llm.HashedModel, "forgotten", 0.6, 0.8),
	}
	if r := p.importAll(stream(lines...)); r.Imported != 5 {
		t.Fatalf("%+v", r)
	}
	if p.embedder.texts != 2 {
		t.Errorf("%d texts were embedded, want the two active ones without a vector of the model", p.embedder.texts)
	}
	p.change(ada, func(ctx context.Context, tx db.UserTx) error {
		all, err := tx.Memories(ctx, []string{id1, id2, id3, foreign, taken})
		for _, m := range all {
			model, dim := llm.HashedModel, 16
			switch m.ID {
			case foreign:
				model, dim = "other", 2
			case taken:
				model, dim = "", 0
			}
			if m.EmbeddingModel != model || len(m.Embedding) != dim || m.ID == id1 && m.Embedding[3] != 1 {
				t.Errorf("%s has %d numbers of %q", m.ID, len(m.Embedding), m.EmbeddingModel)
			}
			if m.Lexemes == "" {
				t.Errorf("%s cannot be found by its words", m.ID)
			}
		}
		return err
	})
	p.embedder.err = memory.Errorf(memory.KindUnavailable, "away")
	if _, err := p.Import(t.Context(), "app", strings.NewReader(stream(fact(memory.NewID(), nil))),
		valid); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("without the embedder: %v", err)
	}
}

// erasing refuses the changes of a user under erasure.
type erasing struct{ db.Store }

func (e erasing) InUser(ctx context.Context, owner memory.Owner, f func(context.Context, db.UserTx) error) error {
	if owner == ada {
		return memory.Errorf(memory.KindConflict, "the user is being erased; try again in a moment")
	}
	return e.Store.InUser(ctx, owner, f)
}

func TestImport_RefusesUserUnderErasure(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	service := exchange.New(erasing{p.store}, p.embedder, p.now)
	r, err := service.Import(t.Context(), "app",
		strings.NewReader(stream(fact(id1, nil), fact(id2, object{"user_id": "bob"}), fact(id3, nil))), valid)
	if err != nil || r.Imported != 1 || r.Failed != 2 || !strings.Contains(r.Errors[0].Message, "being erased") {
		t.Errorf("%+v, %v", r, err)
	}
	p.store.Close()
	if _, err := p.Import(t.Context(), "app", strings.NewReader(stream(fact(id1, nil))), valid); !memory.IsKind(err,
		memory.KindUnavailable) {
		t.Errorf("without the database: %v", err)
	}
}

// A purged memory is imported again, with the history that is still stored.
func TestImport_RestoresPurgedMemory(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	text := stream(fact(id1, object{"status": "forgotten"}).with("events", []object{event(id2)}))
	p.importAll(text)
	p.change(ada, func(ctx context.Context, tx db.UserTx) error {
		if purged, err := tx.Purge(ctx, []string{id1}); err != nil || len(purged) != 1 {
			t.Errorf("purged %v, %v", purged, err)
		}
		return tx.AddEvents(ctx, []memory.Event{{ID: id3, MemoryID: id1, Kind: memory.EventPurged, At: noon}})
	})
	if r := p.importAll(text); r.Imported != 1 || r.Failed != 0 {
		t.Fatalf("%+v", r)
	}
	events, err := p.store.History(t.Context(), "app", id1)
	if err != nil || len(events) != 2 {
		t.Errorf("history: %v, %v", events, err)
	}
}
