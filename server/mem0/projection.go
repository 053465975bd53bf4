package mem0

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// known are the fields of a memory in mem0's form.
var known = strings.Fields("id memory user_id agent_id app_id run_id hash metadata categories type " +
	"created_at updated_at expiration_date words_only recollected updates score score_breakdown")

// view checks the options of a search or a list about former and expired memories. It returns the fields of each memory
// that the answer has, nil for all, and whether the answer has expired memories.
func view(f fields) (names []string, expired bool, err error) {
	latest, err := f.flag("latest_only", true)
	if err != nil {
		return nil, false, err
	}
	if !latest {
		return nil, false, invalid("latest_only", "cannot be false here: only present memories are found, and "+
			"GET /mem0/v1/memories/{id}/history/ has their former texts")
	}
	if expired, err = f.flag("show_expired", false); err != nil {
		return nil, false, err
	}
	names, err = f.names("fields")
	return names, expired, err
}

// names returns a field that is a list of names of a memory's fields, or a text with commas between them.
func (f fields) names(field string) (names []string, err error) {
	if f[field] == nil {
		return nil, nil
	}
	if text, isText := stringOf(f[field]); isText {
		names = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	} else {
		list, err := listOf(field, f[field])
		if err != nil {
			return nil, err
		}
		for i, raw := range list {
			name, ok := stringOf(raw)
			if !ok {
				return nil, invalid(fmt.Sprintf("%s[%d]", field, i), "is not a text")
			}
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, invalid(field, "names %q, which a memory does not have: use some of %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
}

// projected returns memories with their ids and the named fields alone; no names: all fields.
func projected(found []shown, names []string) (any, error) {
	if len(names) == 0 {
		return found, nil
	}
	list := make([]map[string]json.RawMessage, len(found))
	for i, m := range found {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("write memory %s: %w", m.ID, err)
		}
		if err := json.Unmarshal(raw, &list[i]); err != nil {
			return nil, fmt.Errorf("write memory %s: %w", m.ID, err)
		}
		maps.DeleteFunc(list[i], func(name string, _ json.RawMessage) bool {
			return name != "id" && !slices.Contains(names, name)
		})
	}
	return list, nil
}
