package write

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
)

// same merges a draft into a memory with the same words, the oldest of several.
func same(d Draft, known []*memory.Memory) (change, bool) {
	var found *memory.Memory
	for _, m := range known {
		if m.Status == memory.Active && !isAnothers(m, &d.Memory) && SameWords(m.Content, d.Content) &&
			(found == nil || older(m, found)) {
			found = m
		}
	}
	switch {
	case found == nil:
		return change{}, false
	case found.Content == d.Content:
		return change{draft: d.Memory, into: found, similarity: 1, verdict: memory.Duplicate,
			reason: "an active memory says exactly this"}, true
	}
	if d.Least > 0 {
		d.Content = found.Content
	}
	return change{draft: d.Memory, into: found, similarity: 1, verdict: memory.Merged,
		reason: "an active memory says this in the same words"}, true
}

// again completes the change of a draft that a memory says in the same words: this memory again supersedes the memories
// that it contradicts, if they became active before the draft was said.
func again(c change, d Draft, known []*memory.Memory, f finding) change {
	rows := unchanged(known, f.verdicts)
	for _, v := range f.verdicts {
		m := rows[v.id]
		if m == nil || m.ID == c.into.ID || v.Decision != judge.Replace || v.Relation != memory.Contradicts ||
			!d.Said().After(m.UpdatedAt) {
			continue
		}
		c.replaces = append(c.replaces, replacement{v, m})
		c.reason += fmt.Sprintf("; it was said again, and replaces memory %s%s", v.id, inBrackets(v.Why))
	}
	return c
}

// undoneBy returns verdicts on active facts: those that a memory in the words of a draft superseded, until a request
// restored them.
func (w *Writer) undoneBy(ctx context.Context, draft memory.Memory, near nearest) (verdicts []verdict, err error) {
	isSame := func(m memory.Memory) bool { return alike(&m, &draft) && SameWords(m.Content, draft.Content) }
	i := slices.IndexFunc(near.known, isSame)
	if i < 0 {
		return nil, nil
	}
	m := near.known[i]
	relations, err := w.Records.Relations(ctx, m.AppID, m.ID)
	if err != nil && !memory.IsKind(err, memory.KindNotFound) {
		return nil, err
	}
	for _, r := range relations {
		i := slices.IndexFunc(near.facts, func(f memory.Memory) bool { return f.ID == r.To })
		if r.From == m.ID && r.Kind == memory.Contradicts && i >= 0 {
			verdicts = append(verdicts, verdictOn(near.facts[i], judge.Verdict{
				Decision: judge.Replace, Relation: memory.Contradicts, Why: "it was superseded by this before",
			}))
		}
	}
	return verdicts, nil
}

// statesTheSame reports whether one of the memories has the same words as a draft.
func statesTheSame(memories []memory.Memory, draft memory.Memory) bool {
	return slices.ContainsFunc(memories, func(m memory.Memory) bool {
		return alike(&m, &draft) && SameWords(m.Content, draft.Content)
	})
}

// SameWords reports whether two texts are equal except for case, width, spaces and the marks at their ends.
func SameWords(a, b string) bool { return a == b || plainWords(a) == plainWords(b) }

func plainWords(s string) string {
	s = strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
	return strings.TrimRight(s, ".!?。！？ ")
}
