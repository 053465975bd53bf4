package mem0

import "slices"

// node is a part of a filter. A memory of /v1 has one user, whose memories each request reads. So the conditions on the
// user are decided before the request:
//
//	filter -> users -> the users that have to be asked
//	filter -> of    -> for each of them, the filter of /v1
type node interface {
	// users returns the users whose memories can match; bounded is false if it does not name them.
	users() (ids []string, bounded bool)
	// of returns the rest of the filter for a user.
	of(user string) decided
}

// decided is a filter for one user: a filter of /v1, or one that is known to match every memory or no memory.
type decided struct {
	filter map[string]any // nil: see matches
	known  bool           // without a filter: whether it matches
}

type (
	all       []node
	some      []node
	not       struct{ node }
	always    bool
	ofUser    []string // one of these users; empty: any user
	condition struct {
		field, key string // key is of the metadata
		operators  map[string]any
	}
)

func (n all) users() (ids []string, bounded bool) {
	for _, part := range n {
		named, does := part.users()
		switch {
		case !does:
		case !bounded:
			ids, bounded = named, true
		default:
			ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(named, id) })
		}
	}
	return ids, bounded
}

func (n some) users() (ids []string, bounded bool) {
	for _, part := range n {
		named, does := part.users()
		if !does {
			return nil, false
		}
		ids = append(ids, named...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), true
}

func (not) users() (ids []string, bounded bool)       { return nil, false }
func (condition) users() (ids []string, bounded bool) { return nil, false }
func (n always) users() (ids []string, bounded bool)  { return nil, !bool(n) }
func (n ofUser) users() (ids []string, bounded bool) {
	return slices.Compact(slices.Sorted(slices.Values(n))), len(n) > 0
}

func (n all) of(user string) decided {
	var parts []map[string]any
	for _, part := range n {
		d := part.of(user)
		switch {
		case d.filter != nil:
			parts = append(parts, d.filter)
		case !d.known:
			return decided{}
		}
	}
	if len(parts) == 0 {
		return decided{known: true}
	}
	return decided{filter: joined(parts)}
}

func (n some) of(user string) decided {
	var parts []map[string]any
	for _, part := range n {
		d := part.of(user)
		switch {
		case d.filter != nil:
			parts = append(parts, d.filter)
		case d.known:
			return d
		}
	}
	switch len(parts) {
	case 0:
		return decided{}
	case 1:
		return decided{filter: parts[0]}
	}
	return decided{filter: map[string]any{"or": parts}}
}

func (n not) of(user string) decided {
	d := n.node.of(user)
	if d.filter == nil {
		return decided{known: !d.known}
	}
	return decided{filter: map[string]any{"not": d.filter}}
}

func (n always) of(string) decided { return decided{known: bool(n)} }

func (n ofUser) of(user string) decided {
	return decided{known: len(n) == 0 || slices.Contains(n, user)}
}

func (n condition) of(string) decided {
	if n.field == "metadata" {
		return decided{filter: map[string]any{n.field: map[string]any{n.key: n.operators}}}
	}
	return decided{filter: map[string]any{n.field: n.operators}}
}

// joined returns one filter that holds where all parts hold, with as few levels as possible.
func joined(parts []map[string]any) map[string]any {
	one := map[string]any{}
	for _, part := range parts {
		for name, value := range part {
			if _, taken := one[name]; taken {
				return map[string]any{"and": parts}
			}
			one[name] = value
		}
	}
	return one
}
