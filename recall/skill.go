package recall

import "hippocampus/internal/memory"

// level makes the workflows of each skill as relevant as the best of them, so
// that their importance, which is how well they are proven, orders them. For
// the same reason they are all fresh: what works does not fade.
func level(found []candidate, x *index) {
	skillOf := func(c *candidate) string {
		if d := &x.docs[c.doc]; d.Type == memory.TypeSkill {
			return memory.SkillOf(x.tags[d.tags])
		}
		return ""
	}
	best := map[string]float64{}
	for i := range found {
		if name := skillOf(&found[i]); name != "" {
			found[i].fresh = true
			best[name] = max(best[name], found[i].relevance)
		}
	}
	for i := range found {
		if c := &found[i]; c.fresh {
			c.skill = best[skillOf(c)] - c.relevance
			c.relevance += c.skill
		}
	}
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
