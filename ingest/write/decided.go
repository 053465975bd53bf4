package write

import (
	"fmt"
	"strings"
	"time"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// decided applies the verdicts on the memories that have not changed since they were compared. The other memories are
// kept unchanged. It settles no draft about which there is neither a verdict nor a note.
func decided(d Draft, known []*memory.Memory, f finding) (change, bool) {
	if len(f.verdicts) == 0 && f.note == "" || d.Least > 0 && !f.asked {
		return change{}, false
	}
	c := change{draft: d.Memory, verdict: memory.Kept}
	var merging verdict
	var reasons []string
	rows := unchanged(known, f.verdicts)
	for _, v := range f.verdicts {
		m := rows[v.id]
		switch {
		case m == nil:
		case m.Status == memory.Consolidated && (v.Decision == judge.Merge || v.Relation != memory.Contradicts):
			reasons = append(reasons, fmt.Sprintf("it does not contradict memory %s, which was condensed%s",
				v.id, inBrackets(v.Why)))
		case v.Decision == judge.Merge && !isAnothers(m, &c.draft):
			c.into, merging = m, v
		case c.draft.Said().Before(m.Said()) && v.Merged == "":
			c.replacedBy = append(c.replacedBy, v)
			reasons = append(reasons, fmt.Sprintf("memory %s %s and replaces it, since it was said later%s",
				v.id, v.Relation, inBrackets(v.Why)))
		default:
			c.replaces = append(c.replaces, replacement{v, m})
			c.draft.Pinned = c.draft.Pinned || m.Pinned
			c.draft = v.worded(c.draft, m.CreatedAt)
			reasons = append(reasons, fmt.Sprintf("it %s and replaces memory %s%s", v.Relation, v.id, inBrackets(v.Why)))
		}
	}
	if c.into != nil {
		c.verdict, c.similarity = memory.Merged, likeness(c.into, &c.draft)
		c.draft = merging.worded(c.draft, c.into.CreatedAt)
		reasons = append([]string{fmt.Sprintf("similarity %.3f to an active memory, and judged to say the same",
			c.similarity)}, reasons...)
	}
	if f.note != "" {
		reasons = append(reasons, f.note)
	}
	if len(reasons) == 0 {
		reasons = []string{"what it was judged to replace has changed since"}
	}
	c.reason = memory.Clip(strings.Join(reasons, "; "), maxReasonRunes)
	return c, true
}

// maxReasonRunes bounds the reason of a candidate.
const maxReasonRunes = 1000

func inBrackets(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// unchanged returns the known memories on which there is a verdict and that have not changed since, by id. A memory
// that was condensed since still says the same.
func unchanged(known []*memory.Memory, verdicts []verdict) map[string]*memory.Memory {
	before := make(map[string]verdict, len(verdicts))
	for _, v := range verdicts {
		before[v.id] = v
	}
	rows := map[string]*memory.Memory{}
	for _, m := range known {
		if v, ok := before[m.ID]; ok && m.Content == v.content &&
			(m.Revision == v.revision || m.Status == memory.Consolidated) {
			rows[m.ID] = m
		}
	}
	return rows
}

// worded returns the draft in the judge's wording, which also holds what another memory says.
func (v verdict) worded(draft memory.Memory, other time.Time) memory.Memory {
	if v.Merged != "" {
		draft.Content, draft.Lexemes = v.Merged, text.Join(text.Lexemes(v.Merged))
		draft.Embed(v.embedding, v.model)
		if draft.CreatedAt.Before(other) {
			draft.CreatedAt = other // of the later statement
		}
	}
	return draft
}
