package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// values are the fields of a memory that its history follows, as JSON shows them.
type values map[string]any

func valuesOf(m memory.Memory) values {
	metadata, tags := m.Metadata, m.Tags
	if metadata == nil {
		metadata = json.RawMessage("null")
	}
	if tags == nil {
		tags = []string{}
	}
	text, err := json.Marshal(map[string]any{
		"content": m.Content, "importance": m.Importance, "domain": m.Domain, "type": m.Type, "tags": tags,
		"metadata": metadata, "pinned": m.Pinned, "status": m.Status, "faded": m.Faded,
		"superseded_by": m.SupersededBy, "last_said_at": "", "expires_at": "",
	})
	if err != nil {
		panic(err) // metadata that is no JSON cannot be stored
	}
	var v values
	if err := json.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	if !m.LastSaidAt.IsZero() {
		v["last_said_at"] = m.LastSaidAt.UTC().Format(time.RFC3339Nano)
	}
	if !m.ExpiresAt.IsZero() {
		v["expires_at"] = m.ExpiresAt.UTC().Format(time.RFC3339Nano)
	}
	return v
}

// statusAfter maps a kind of event to the status in which it leaves a memory.
var statusAfter = map[memory.EventKind]memory.Status{
	memory.EventSuperseded: memory.Superseded, memory.EventConsolidated: memory.Consolidated,
	memory.EventForgotten: memory.Forgotten, memory.EventRestored: memory.Active,
}

// apply changes v as an event states. The former values that the event states
// must be those of v, as far as v has them.
func (v values) apply(e memory.Event) error {
	type change struct{ From, To values }
	var detail struct {
		change
		Change change `json:"change"`
	}
	if e.Detail != nil {
		if err := json.Unmarshal(e.Detail, &detail); err != nil {
			return fmt.Errorf("the %s event at %s has the detail %s: %w", e.Kind, e.At, e.Detail, err)
		}
	}
	for _, c := range []change{detail.change, detail.Change} {
		for field, to := range c.To {
			if was, known := v[field]; known && !reflect.DeepEqual(was, c.From[field]) {
				return fmt.Errorf("the %s event at %s takes %s from %v, which was %v", e.Kind, e.At, field, c.From[field], was)
			}
			v[field] = to
		}
	}
	if status, known := statusAfter[e.Kind]; known && v["status"] != string(status) {
		return fmt.Errorf("after the %s event at %s the status is %v", e.Kind, e.At, v["status"])
	}
	return nil
}

// replay applies a memory's history: it begins with the creation, each event
// continues where the previous one ended, and the last one leads to the row.
func replay(r db.Record) error {
	if len(r.Events) == 0 || r.Events[0].Kind != memory.EventCreated {
		return fmt.Errorf("memory %s has no created event before its others: %v", r.Memory.ID, kinds(r.Events))
	}
	v := values{"status": string(memory.Active), "faded": false, "superseded_by": "", "last_said_at": ""}
	purged := false
	for i, e := range r.Events {
		if purged || i > 0 && e.Kind == memory.EventCreated {
			return fmt.Errorf("memory %s has the history %v", e.MemoryID, kinds(r.Events))
		}
		if err := v.apply(e); err != nil {
			return fmt.Errorf("memory %s: %w", e.MemoryID, err)
		}
		purged = e.Kind == memory.EventPurged
	}
	if gone := r.Memory.ID == ""; gone != purged {
		return fmt.Errorf("memory %s has the history %v, and its row is gone: %v", r.Events[0].MemoryID, kinds(r.Events),
			gone)
	} else if gone {
		return nil
	}
	for field, is := range valuesOf(r.Memory) {
		if replayed, known := v[field]; known && !reflect.DeepEqual(replayed, is) {
			return fmt.Errorf("memory %s replays to the %s %v and has %v", r.Memory.ID, field, replayed, is)
		}
	}
	return nil
}

func kinds(events []memory.Event) []memory.EventKind {
	list := make([]memory.EventKind, len(events))
	for i, e := range events {
		list[i] = e.Kind
	}
	return list
}

// unexplained replays every history, and finds memories that are inactive without
// a cause or derived without a source.
func unexplained(all map[string]db.Record) error {
	var errs []error
	report := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for id, r := range all {
		errs = append(errs, replay(r))
		m := r.Memory
		if m.ID == "" {
			continue
		}
		if (m.Status == memory.Superseded) != (m.SupersededBy != "") {
			report("memory %s is %s, and superseded by %q", id, m.Status, m.SupersededBy)
		}
		from := map[memory.RelationKind][]string{} // memories that point to it
		to := map[memory.RelationKind][]string{}   // memories that it points to
		for _, relation := range r.Relations {
			if relation.To == id {
				from[relation.Kind] = append(from[relation.Kind], relation.From)
			} else {
				to[relation.Kind] = append(to[relation.Kind], relation.To)
			}
			for _, end := range []string{relation.From, relation.To} {
				if all[end].Memory.ID == "" {
					report("the relation %+v has an end without a memory", relation)
				}
			}
		}
		switch m.Status {
		case memory.Superseded:
			successor, known := all[m.SupersededBy]
			switch {
			case !known:
				report("memory %s is superseded by %s, which is unknown", id, m.SupersededBy)
			case successor.Memory.ID != "" && !slices.Contains(from[memory.Contradicts], m.SupersededBy) &&
				!slices.Contains(from[memory.Refines], m.SupersededBy):
				report("memory %s is superseded by %s without a relation", id, m.SupersededBy)
			}
		case memory.Consolidated:
			var detail struct{ Into []string }
			for _, e := range r.Events {
				if e.Kind == memory.EventConsolidated {
					_ = json.Unmarshal(e.Detail, &detail)
				}
			}
			if len(detail.Into) == 0 {
				report("memory %s is consolidated into nothing: %+v", id, r.Events)
			}
			for _, derived := range detail.Into {
				r, known := all[derived]
				if !known || r.Memory.ID != "" && !slices.Contains(from[memory.DerivedFrom], derived) {
					report("memory %s is consolidated into %s (known: %v) without a relation", id, derived, known)
				}
			}
		}
		if m.Type == memory.TypeReflection || m.Type == memory.TypeSummary {
			var detail struct{ Sources []string }
			if err := json.Unmarshal(r.Events[0].Detail, &detail); err != nil || len(detail.Sources) == 0 {
				report("the %s %s was derived from nothing: %s", m.Type, id, r.Events[0].Detail)
			}
			for _, source := range detail.Sources {
				r, known := all[source]
				if !known || r.Memory.ID != "" && !slices.Contains(to[memory.DerivedFrom], source) {
					report("the %s %s was derived from %s (known: %v) without a relation", m.Type, id, source, known)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// follows compares the records before and after a change: every event stays, only
// a purge removes a memory, and each row differs by exactly what the new events state.
func follows(before, after map[string]db.Record) error {
	var errs []error
	for id, was := range before {
		is, known := after[id]
		if !known {
			errs = append(errs, fmt.Errorf("memory %s is missing without an event: %+v", id, was.Memory))
			continue
		}
		if len(is.Events) < len(was.Events) || !reflect.DeepEqual(was.Events, is.Events[:len(was.Events)]) {
			errs = append(errs, fmt.Errorf("the events of memory %s were %+v and are %+v", id, was.Events, is.Events))
			continue
		}
		added := is.Events[len(was.Events):]
		if was.Memory.ID == "" || is.Memory.ID == "" {
			if was.Memory.ID == "" && (is.Memory.ID != "" || len(added) > 0) {
				errs = append(errs, fmt.Errorf("memory %s was purged and is back: %v", id, kinds(is.Events)))
			}
			continue // replay checks that a purged event ends the history
		}
		errs = append(errs, step(was.Memory, is.Memory, added))
	}
	return errors.Join(errs...)
}

// step checks that events lead from one state of a row to another.
func step(was, is memory.Memory, events []memory.Event) error {
	v := valuesOf(was)
	for _, e := range events {
		if err := v.apply(e); err != nil {
			return fmt.Errorf("memory %s: %w", was.ID, err)
		}
	}
	if now := valuesOf(is); !reflect.DeepEqual(v, now) {
		return fmt.Errorf("memory %s was %+v, the events %v make it %+v, and it is %+v", was.ID, valuesOf(was),
			kinds(events), v, now)
	}
	if is.Owner != was.Owner || is.AgentID != was.AgentID || is.ConversationID != was.ConversationID ||
		is.SourceTurnID != was.SourceTurnID || !is.CreatedAt.Equal(was.CreatedAt) {
		return fmt.Errorf("memory %s has changed a field that never changes: %+v, %+v", was.ID, was, is)
	}
	if is.AccessCount < was.AccessCount || is.LastAccessedAt.Before(was.LastAccessedAt) || is.Revision < was.Revision {
		return fmt.Errorf("memory %s has gone back: %+v, %+v", was.ID, was, is)
	}
	return nil
}
