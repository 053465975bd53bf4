package recall

import "hippocampus/internal/memory"

// level makes the workflows of each skill as relevant as the best of them, so
// that their importance, which is how well they are proven, orders them. For
// the same reason they are all fresh: what works does not fade.
func level(found []candidate, x *index) {
	best := map[string]float64{}
	for i := range found {
		if name := x.skillOf(found[i].doc); name != "" {
			found[i].fresh = true
			best[name] = max(best[name], found[i].relevance)
		}
	}
	for i := range found {
		if c := &found[i]; c.fresh {
			c.skill = best[x.skillOf(c.doc)] - c.relevance
			c.relevance += c.skill
		}
	}
}

// skillOf is the skill that a document is a workflow of; "": of none.
func (x *index) skillOf(doc int) string {
	if d := &x.docs[doc]; d.Type == memory.TypeSkill {
		return memory.SkillOf(x.tags[d.tags])
	}
	return ""
}

// addProven adds to the candidates, for each skill that one of them is a
// workflow of, the best proven of its open workflows. Its own words and meaning
// may be far from the query's: which of them is best is no matter of these.
func addProven(found []candidate, x *index, open []bool) []candidate {
	proven := map[string]int{} // places, by skill
	for _, c := range found {
		if name := x.skillOf(c.doc); name != "" {
			proven[name] = c.doc
		}
	}
	if len(proven) == 0 {
		return found
	}
	for doc := range x.docs {
		name := x.skillOf(doc)
		if best, wanted := proven[name]; wanted && open[doc] && x.docs[doc].Importance > x.docs[best].Importance {
			proven[name] = doc
		}
	}
	for _, c := range found {
		if name := x.skillOf(c.doc); proven[name] == c.doc {
			delete(proven, name)
		}
	}
	for _, doc := range proven {
		found = append(found, candidate{id: x.docs[doc].ID, doc: doc, sources: fromSkill})
	}
	return found
}

// admitSkills opens to the words of a query the skills that nothing but the
// router's choice of domains keeps out: how something is done serves tasks of
// any domain.
func (q *Query) admitSkills(x *index, domains []memory.Domain, open []bool) {
	if len(domains) == 0 || len(q.Domains) > 0 {
		return
	}
	tagged := x.tagged(q.Tags)
	for i := range x.docs {
		if d := &x.docs[i]; d.Type == memory.TypeSkill {
			open[i] = tagged[d.tags] && q.allows(d, nil)
		}
	}
}
