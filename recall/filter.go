package recall

import (
	"slices"

	"hippocampus/internal/memory"
	"hippocampus/router"
)

// scope is the part of an index that a query may recall from.
type scope struct {
	matching []int  // places of the documents that pass every filter
	open     []bool // by place: passes every filter
}

// liftedBy returns the domains whose memories the route lifts. The route excludes no memory: only the domains of the
// request do.
func (q *Query) liftedBy(route router.Route) []memory.Domain {
	if len(q.Domains) > 0 {
		return nil
	}
	return route.Domains
}

// scope applies all filters of a query except Where. What has lapsed is out of scope.
func (q *Query) scope(x *index) scope {
	s := scope{open: make([]bool, len(x.docs)), matching: make([]int, 0, len(x.docs))}
	hasTags := x.listsWithTags(q.Tags)
	for i := range x.docs {
		if s.open[i] = hasTags[x.docs[i].tags] && q.allows(x.kind(i), &x.docs[i]); s.open[i] {
			s.matching = append(s.matching, i)
		}
	}
	if !q.IncludeFormer && !q.IncludeExpired {
		s.keepCurrent(x)
	}
	return s
}

// keepOnly removes the documents whose ids are not listed.
func (s *scope) keepOnly(x *index, ids []string) {
	listed := make([]bool, len(x.docs))
	for _, id := range ids {
		if doc, known := x.place(id); known {
			listed[doc] = true
		}
	}
	for doc := range s.open {
		s.open[doc] = s.open[doc] && listed[doc]
	}
	s.matching = slices.DeleteFunc(s.matching, func(doc int) bool { return !listed[doc] })
}

// allows reports whether a document passes every filter but the tags and Where.
func (q *Query) allows(k *kind, d *document) bool {
	switch {
	case len(q.Domains) > 0 && !slices.Contains(q.Domains, k.Domain):
	case len(q.Types) > 0 && !slices.Contains(q.Types, k.Type):
	case q.AgentID != "" && k.AgentID != "" && k.AgentID != q.AgentID:
	case q.ConversationID != "" && k.ConversationID != q.ConversationID:
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
	return q.ConversationID != "" || q.MinImportance > 0 || len(q.Tags) > 0 || q.Where != nil
}
