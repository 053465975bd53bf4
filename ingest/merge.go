package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// merged is the detail of a merge.
type merged struct {
	Change     *history.Change `json:"change,omitempty"`
	Similarity float64         `json:"similarity"`
	From       string          `json:"from_turn,omitempty"`
	Why        string          `json:"why,omitempty"`
}

// merge keeps the newer wording, the higher importance, and the tags and metadata of both.
func (w *writing) merge(
	ctx context.Context, m *memory.Memory, draft memory.Memory,
	similarity float64, verdict memory.Verdict, reason string,
) (Written, error) {
	before := *m
	m.Importance = max(m.Importance, draft.Importance)
	m.Pinned, m.Tags = m.Pinned || draft.Pinned, both(m.Tags, draft.Tags)
	m.Metadata = withEntries(m.Metadata, draft.Metadata)
	if !draft.CreatedAt.Before(m.CreatedAt) && m.Content != draft.Content {
		m.Content = draft.Content
		m.Lexemes = draft.Lexemes
		m.Domain = draft.Domain
		if draft.Type != memory.TypeReflection { // m was not derived from anything, so no undo could end it
			m.Type = draft.Type
		}
		m.Embedding, m.EmbeddingModel = draft.Embedding, draft.EmbeddingModel
	}
	written := Written{Memory: *m, Verdict: verdict, Reason: reason}
	change := history.Diff(before, *m)
	if verdict == memory.Duplicate && change == nil {
		return written, nil
	}
	w.Note(m.ID, memory.EventMerged, merged{
		Change: change, Similarity: similarity, From: draft.SourceTurnID, Why: reason,
	})
	if w.isNew(m) {
		return written, nil
	}
	err := w.store(ctx, before, m)
	written.Memory = *m
	return written, err
}

// both returns tags and those of more that are not among them, at most memory.MaxTags.
func both(tags, more []string) []string {
	all := slices.Clone(tags)
	for _, tag := range more {
		if len(all) < memory.MaxTags && !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	return all
}

// withEntries returns metadata with those entries of more whose names it does not have. It stays as it is if both
// together are over the limit.
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
