package mem0

import (
	"cmp"

	"github.com/go-json-experiment/json"
)

// maxUsers bounds the users of one request, which makes a request to /v1 for each.
const maxUsers = 20

// entities are the ids that a request may name outside of its filters.
var entities = []string{"user_id", "agent_id", "app_id", "run_id"}

// scope chooses memories of one or more users.
type scope struct{ users []part }

// part is the part of a scope about one user.
type part struct {
	user   string
	filter map[string]any // of /v1; nil: all memories
}

// scopeOf returns the scope of a request: its filters, the ids outside of them, and further conditions must all hold.
func (c *call) scopeOf(f fields, further ...node) (scope, error) {
	p := parser{app: c.app, own: c.form == own}
	conditions := all(further)
	if raw := f["filters"]; raw != nil {
		if text, isText := stringOf(raw); isText { // in a query
			raw = []byte(text)
		}
		n, err := p.filter("filters", raw, 1)
		if err != nil {
			return scope{}, err
		}
		conditions = append(conditions, n)
	}
	for _, name := range entities {
		if f[name] == nil {
			continue
		}
		n, err := p.entry(name, name, f[name], 1)
		if err != nil {
			return scope{}, err
		}
		conditions = append(conditions, n)
	}
	if _, bounded := conditions.users(); !bounded && c.user != "" {
		conditions = append(conditions, ofUser{c.user})
	}
	users, bounded := conditions.users()
	switch {
	case !bounded:
		return scope{}, invalid("user_id", "is missing: here each memory belongs to a user, and every request must name "+
			"one or more, by filters such as {\"user_id\":\"ada\"} or {\"user_id\":{\"in\":[\"ada\",\"bob\"]}}")
	case len(users) > maxUsers:
		return scope{}, invalid("user_id", "is given for %d users: at most %d are read at once", len(users), maxUsers)
	}
	var s scope
	for _, user := range users {
		if d := conditions.of(user); d.filter != nil || d.known {
			s.users = append(s.users, part{user, d.filter})
		}
	}
	return s, nil
}

// named are the ids that an addition names, outside of filters or in them.
func (c *call) named() (map[string]string, error) {
	given := fields{}
	if c.body["filters"] != nil {
		inner, err := objectOf("filters", c.body["filters"])
		if err != nil {
			return nil, err
		}
		given = inner.withoutNulls()
	}
	ids := map[string]string{}
	for _, name := range entities {
		raw := c.body[name]
		if raw == nil {
			raw = given[name]
		}
		if raw == nil {
			continue
		}
		id, err := idOf(name, raw)
		if err != nil {
			return nil, err
		}
		ids[name] = id
	}
	ids["user_id"] = cmp.Or(ids["user_id"], c.user)
	switch app := ids["app_id"]; {
	case app != "" && app != c.app:
		return nil, invalid("app_id", "is not the app of the key, which is %q: each app has keys of its own", c.app)
	case ids["user_id"] == "":
		return nil, invalid("user_id", "is missing: here each memory belongs to a user")
	}
	return ids, nil
}

// metadataOf returns a metadata object as it was sent; nil if it is absent.
func metadataOf(f fields) (any, error) {
	raw := f["metadata"]
	if raw == nil {
		return nil, nil
	}
	if _, err := objectOf("metadata", raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// quoted is a text as JSON.
func quoted(text string) []byte {
	raw, _ := json.Marshal(text)
	return raw
}
