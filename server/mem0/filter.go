package mem0

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the filters within filters; /v1 allows fewer.
const maxDepth = 16

// keys are the names that a filter of mem0's platform may have.
const keys = "AND OR NOT user_id agent_id app_id run_id created_at updated_at timestamp expiration_date text " +
	"categories metadata keywords_search memory_ids keywords"

// parser reads filters of mem0:
//
//	{"AND"|"OR": [filter, ...]}  {"NOT": filter or [filter, ...]}  {FIELD: condition}
//
// All entries of an object must hold. No filter of a NOT may hold.
type parser struct {
	app string // of the key
	own bool   // of mem0's own server: other names are keys of the metadata, and * stands for any value of them
}

func (p parser) filter(path string, raw jsontext.Value, depth int) (node, error) {
	if depth > maxDepth {
		return nil, invalid(path, "is nested deeper than %d levels", maxDepth)
	}
	object, err := objectOf(path, raw)
	if err != nil {
		return nil, err
	}
	nodes := all{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		n, err := p.entry(path+"."+name, name, object[name], depth)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// entry reads one entry of a filter.
func (p parser) entry(path, name string, raw jsontext.Value, depth int) (node, error) {
	switch name {
	case "AND":
		nodes, err := p.filters(path, raw, depth)
		return all(nodes), err
	case "OR":
		nodes, err := p.filters(path, raw, depth)
		return some(nodes), err
	case "NOT":
		if raw.Kind() == '{' {
			n, err := p.filter(path, raw, depth+1)
			return not{n}, err
		}
		nodes, err := p.filters(path, raw, depth)
		return not{some(nodes)}, err
	case "user_id":
		return p.conditions(path, raw, entity(func(ids []string) node { return ofUser(ids) }))
	case "app_id":
		return p.conditions(path, raw, p.ofApp(path))
	case "agent_id":
		return p.conditions(path, raw, entity(fieldIn("agent_id")))
	case "run_id":
		return p.conditions(path, raw, entity(fieldIn("conversation_id")))
	case "created_at", "timestamp":
		return p.conditions(path, raw, times("created_at"))
	case "updated_at":
		return p.conditions(path, raw, times(name))
	case "text":
		return p.conditions(path, raw, plain("content", "eq", "ne", "in", "contains", "icontains"))
	case "keywords", "keywords_search":
		if raw.Kind() == '"' {
			return condition{"content", "", map[string]any{"icontains": raw}}, nil
		}
		return p.conditions(path, raw, plain("content", "contains", "icontains"))
	case "categories":
		return p.conditions(path, raw, categories)
	case "memory_ids":
		return p.conditions(path, raw, plain("id", "eq", "ne", "in"))
	case "metadata":
		return p.metadata(path, raw)
	case "expiration_date":
		return nil, invalid(path, "cannot be honoured here: searches leave out what has expired")
	}
	if p.own && name != "" {
		return p.conditions(path, raw, p.ofMetadata(name))
	}
	return nil, invalid(path, "is unknown: use one of %s", keys)
}

// filters reads the list of AND, OR or NOT.
func (p parser) filters(path string, raw jsontext.Value, depth int) ([]node, error) {
	list, err := listOf(path, raw)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, invalid(path, "is empty: it needs at least one filter")
	}
	nodes := make([]node, len(list))
	for i, item := range list {
		if nodes[i], err = p.filter(path+"["+strconv.Itoa(i)+"]", item, depth+1); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// field returns the condition that an operator makes; nil: the field has no such operator.
type field func(path, operator string, operand jsontext.Value) (node, error)

// conditions reads what a field is compared with: a value, a list of values, one being equal, or an object of operators
// that must all hold.
func (p parser) conditions(path string, raw jsontext.Value, f field) (node, error) {
	operators := fields{}
	switch raw.Kind() {
	case '{':
		var err error
		if operators, err = objectOf(path, raw); err != nil {
			return nil, err
		}
		if len(operators) == 0 {
			return nil, invalid(path, "has no operator with a value")
		}
	case '[':
		operators["in"] = raw
	default:
		operators["eq"] = raw
	}
	nodes := all{}
	for _, operator := range slices.Sorted(maps.Keys(operators)) {
		positive := operator
		if operator == "nin" && p.own {
			positive = "in"
		}
		n, err := f(path+"."+operator, positive, operators[operator])
		switch {
		case err != nil:
			return nil, err
		case n == nil:
			return nil, invalid(path+"."+operator, "is not an operator of this field")
		case positive != operator:
			n = not{n}
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// plain returns a field whose operators are those of /v1.
func plain(name string, operators ...string) field {
	return func(_, operator string, operand jsontext.Value) (node, error) {
		if !slices.Contains(operators, operator) {
			return nil, nil
		}
		return condition{name, "", map[string]any{operator: operand}}, nil
	}
}

// categories is the field of the categories, which are tags here. "contains" compares with whole categories.
func categories(_, operator string, operand jsontext.Value) (node, error) {
	if operator == "contains" {
		operator = "eq"
	}
	return plain("tags", "eq", "ne", "in")("", operator, operand)
}

// times returns a field that holds a time.
func times(name string) field {
	return func(path, operator string, operand jsontext.Value) (node, error) {
		var value any
		switch operator {
		case "in":
			list, err := listOf(path, operand)
			if err != nil {
				return nil, err
			}
			texts := make([]string, len(list))
			for i, item := range list {
				if texts[i], err = timeOf(path, item); err != nil {
					return nil, err
				}
			}
			value = texts
		case "eq", "ne", "gt", "gte", "lt", "lte":
			text, err := timeOf(path, operand)
			if err != nil {
				return nil, err
			}
			value = text
		default:
			return nil, nil
		}
		return condition{name, "", map[string]any{operator: value}}, nil
	}
}

// entity returns a field that holds an id. in makes the condition that the field is one of some ids or, without ids,
// any id.
func entity(in func(ids []string) node) field {
	return func(path, operator string, operand jsontext.Value) (node, error) {
		items := []jsontext.Value{operand}
		switch operator {
		case "eq", "ne":
		case "in":
			var err error
			if items, err = listOf(path, operand); err != nil {
				return nil, err
			}
			if len(items) == 0 {
				return always(false), nil
			}
		default:
			return nil, nil
		}
		ids := make([]string, len(items))
		for i, item := range items {
			var err error
			if ids[i], err = idOf(path, item); err != nil {
				return nil, err
			}
		}
		if slices.Contains(ids, "*") {
			ids = nil
		}
		if operator == "ne" {
			return not{in(ids)}, nil
		}
		return in(ids), nil
	}
}

// fieldIn makes the condition that a field of /v1 is one of some ids or, without ids, any id.
func fieldIn(name string) func(ids []string) node {
	return func(ids []string) node {
		if len(ids) == 0 {
			return condition{name, "", map[string]any{"ne": nil}}
		}
		return condition{name, "", map[string]any{"in": ids}}
	}
}

// ofApp returns the field that names the app. A key reads only the memories of its own app.
func (p parser) ofApp(path string) field {
	return func(at, operator string, operand jsontext.Value) (node, error) {
		n, err := entity(func(ids []string) node {
			return always(len(ids) == 0 || slices.Contains(ids, p.app))
		})(at, operator, operand)
		if n == node(always(false)) {
			return nil, invalid(path, "is not the app of the key, which is %q: each app has keys of its own", p.app)
		}
		return n, err
	}
}

// metadata reads the conditions on the metadata.
func (p parser) metadata(path string, raw jsontext.Value) (node, error) {
	object, err := objectOf(path, raw)
	if err != nil {
		return nil, err
	}
	nodes := all{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		n, err := p.conditions(path+"."+key, object[key], p.ofMetadata(key))
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// ofMetadata returns the field of a key of the metadata.
func (p parser) ofMetadata(key string) field {
	return func(_, operator string, operand jsontext.Value) (node, error) {
		switch {
		case p.own && operator == "eq" && string(operand) == `"*"`:
			return condition{"metadata", key, map[string]any{"ne": nil}}, nil
		case slices.Contains(strings.Fields("eq ne in gt gte lt lte contains icontains"), operator):
			return condition{"metadata", key, map[string]any{operator: operand}}, nil
		}
		return nil, nil
	}
}

// text is the JSON of a filter of /v1.
func text(filter map[string]any) (string, error) {
	raw, err := json.Marshal(filter)
	return string(raw), err
}
