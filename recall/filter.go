package recall

import (
	"slices"

	"hippocampus/internal/memory"
)

// allows reports whether a document passes every filter of the query, with
// the domains given in place of the query's (empty: all).
func (q *Query) allows(d *document, domains []memory.Domain) bool {
	switch {
	case len(domains) > 0 && !slices.Contains(domains, d.Domain):
	case len(q.Types) > 0 && !slices.Contains(q.Types, d.Type):
	case q.AgentID != "" && d.AgentID != "" && d.AgentID != q.AgentID:
	case q.ConversationID != "" && d.ConversationID != q.ConversationID:
	case !q.Since.IsZero() && d.CreatedAt().Before(q.Since):
	case !q.Until.IsZero() && !d.CreatedAt().Before(q.Until):
	case d.Importance < q.MinImportance:
	default:
		return true
	}
	return false
}

// beyondVectors reports whether the query filters by what the vector store
// does not know, so that its nearest records could all be filtered away.
func (q *Query) beyondVectors() bool {
	return q.ConversationID != "" || q.MinImportance > 0 || len(q.Tags) > 0
}

// open says of every document whether it passes every filter, and lists the
// places of those that do.
func (q *Query) open(x *index, domains []memory.Domain) (open []bool, allowed []int) {
	open, allowed = make([]bool, len(x.docs)), make([]int, 0, len(x.docs))
	tagged := x.tagged(q.Tags)
	for i := range x.docs {
		if open[i] = tagged[x.docs[i].tags] && q.allows(&x.docs[i], domains); open[i] {
			allowed = append(allowed, i)
		}
	}
	return open, allowed
}
