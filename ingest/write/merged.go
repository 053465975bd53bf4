package write

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// merged merges a draft into the most similar memory, or the oldest of several. It does nothing if the judge decides,
// or has decided, about the draft.
func (w *Writer) merged(d Draft, known []*memory.Memory) (change, bool) {
	least := w.set.MergeSimilarity
	switch {
	case d.Least > 0:
		least = d.Least
	case w.Judge != nil && d.Compare == Judged:
		return change{}, false
	}
	var nearest *memory.Memory
	similarity := -1.0
	for _, m := range known {
		if m.Status != memory.Active || isAnothers(m, &d.Memory) {
			continue
		}
		if s := likeness(m, &d.Memory); s > similarity || s == similarity && nearest != nil && older(m, nearest) {
			nearest, similarity = m, s
		}
	}
	if nearest == nil || similarity < least || d.Least == 0 && !w.claimTheSame(nearest, &d.Memory) {
		return change{}, false
	}
	c := change{draft: d.Memory, into: nearest, similarity: similarity, verdict: memory.Merged, reason: fmt.Sprintf(
		"similarity %.3f to an active memory is at or over %.2f: they are one", similarity, least)}
	if d.Least > 0 {
		c.draft.Content = nearest.Content
		if d.Importance <= nearest.Importance {
			c.verdict = memory.Duplicate // nothing changes
		}
	}
	return c, true
}

// mergeDetail is the detail of the event of a merge.
type mergeDetail struct {
	Change     *history.Change `json:"change,omitempty"`
	Similarity float64         `json:"similarity"`
	From       string          `json:"from_turn,omitempty"`
	Why        string          `json:"why,omitempty"`
}

// merge keeps the newer wording and shelf life, the higher importance, and the tags and metadata of both.
func (t *transaction) merge(ctx context.Context, c change) error {
	m, draft := c.into, c.draft
	before := *m
	m.Importance = max(m.Importance, draft.Importance)
	m.Pinned, m.Tags = m.Pinned || draft.Pinned, both(m.Tags, draft.Tags)
	m.Metadata = withEntries(m.Metadata, draft.Metadata)
	m.Renew(&draft)
	if !draft.CreatedAt.Before(m.Said()) && m.Content != draft.Content {
		m.Content = draft.Content
		m.Lexemes = draft.Lexemes
		m.Domain = draft.Domain
		if draft.Type != memory.TypeReflection { // m has no sources, so that no undo could end the reflection
			m.Type = draft.Type
		}
		m.Embed(draft.Embedding, draft.EmbeddingModel)
	}
	m.SayAgain(draft.CreatedAt)
	difference := history.Diff(before, *m)
	if c.verdict == memory.Duplicate && difference == nil {
		return nil
	}
	t.Note(m.ID, memory.EventMerged, mergeDetail{
		Change: difference, Similarity: c.similarity, From: draft.SourceTurnID, Why: c.reason,
	})
	return t.update(ctx, before, m)
}

// both returns tags, followed by the tags of more that are not among them, at most memory.MaxTags.
func both(tags, more []string) []string {
	all := slices.Clone(tags)
	for _, tag := range more {
		if len(all) < memory.MaxTags && !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	return all
}

// withEntries returns metadata with the entries of more whose names metadata does not have. It returns metadata alone
// if the result would be over the limit.
func withEntries(metadata, more json.RawMessage) json.RawMessage {
	var entries, added map[string]json.RawMessage
	_ = json.Unmarshal(metadata, &entries) // both are objects or empty
	_ = json.Unmarshal(more, &added)
	missing := false
	all := map[string]json.RawMessage{}
	for name, value := range added {
		if _, has := entries[name]; !has {
			missing = true
			all[name] = value
		}
	}
	if !missing {
		return metadata
	}
	maps.Copy(all, entries)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // so that no entry becomes longer
	_ = e.Encode(all)      // valid JSON only: cannot fail
	joined := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if memory.CheckMetadata(joined) != "" {
		return metadata
	}
	return joined
}
