package recall

import (
	"slices"

	"hippocampus/internal/memory"
	"hippocampus/router"
)

// scope is the part of an index that a query may recall from.
type scope struct {
	domains  []memory.Domain // searched; empty: all
	widened  bool            // the routed domains hold fewer memories than the limit
	matching []int           // places of the documents that pass every filter
	open     []bool          // by place: passes every filter, or is a skill that only the route excludes
}

// narrowedBy reports whether the route, and not the request, chooses domains.
func (q *Query) narrowedBy(route router.Route) bool {
	return len(q.Domains) == 0 && len(route.Domains) > 0
}

// scope applies the filters of a query and the domains of its route. Routed
// domains that hold fewer memories than the limit are widened to all; domains of
// the request are not. A route excludes no skills, since a skill serves tasks of
// any domain: those outside of the routed domains are candidates by their words.
func (q *Query) scope(x *index, route router.Route) scope {
	if !q.narrowedBy(route) {
		open, matching := q.filter(x, q.Domains)
		return scope{domains: q.Domains, matching: matching, open: open}
	}
	open, matching := q.filter(x, route.Domains)
	if len(matching) < q.Limit {
		open, matching = q.filter(x, nil)
		return scope{widened: true, matching: matching, open: open}
	}
	hasTags := x.listsWithTags(q.Tags)
	for i := range x.docs {
		if d := &x.docs[i]; d.Type == memory.TypeSkill {
			open[i] = hasTags[d.tags] && q.allows(d, nil)
		}
	}
	return scope{domains: route.Domains, matching: matching, open: open}
}

// filter reports by place whether a document passes every filter, and lists the
// places of those that do.
func (q *Query) filter(x *index, domains []memory.Domain) (passes []bool, matching []int) {
	passes, matching = make([]bool, len(x.docs)), make([]int, 0, len(x.docs))
	hasTags := x.listsWithTags(q.Tags)
	for i := range x.docs {
		if passes[i] = hasTags[x.docs[i].tags] && q.allows(&x.docs[i], domains); passes[i] {
			matching = append(matching, i)
		}
	}
	return passes, matching
}

// allows reports whether a document is in one of the domains (empty: all) and
// passes every filter but the tags.
func (q *Query) allows(d *document, domains []memory.Domain) bool {
	switch {
	case len(domains) > 0 && !slices.Contains(domains, d.Domain):
	case len(q.Types) > 0 && !slices.Contains(q.Types, d.Type):
	case q.AgentID != "" && d.AgentID != "" && d.AgentID != q.AgentID:
	case q.ConversationID != "" && d.ConversationID != q.ConversationID:
	case !q.Since.IsZero() && d.createdAt().Before(q.Since):
	case !q.Until.IsZero() && !d.createdAt().Before(q.Until):
	case d.importance < q.MinImportance:
	default:
		return true
	}
	return false
}

// beyondVectors reports whether the query has filters that the vector store
// does not know, so that its nearest records could all be filtered out.
func (q *Query) beyondVectors() bool {
	return q.ConversationID != "" || q.MinImportance > 0 || len(q.Tags) > 0
}
