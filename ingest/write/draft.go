package write

import (
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Complete gives a new memory its times, its lexemes, its embedding by a model (see Memory.Embed), and an id unless it
// has one. A zero CreatedAt becomes now.
func Complete(m memory.Memory, embedding []float32, model string, now time.Time) memory.Memory {
	if m.ID == "" {
		m.ID = memory.NewID()
	}
	m.Status = memory.Active
	m.Revision = 1
	m.UpdatedAt = memory.Instant(now)
	if m.CreatedAt.IsZero() {
		m.CreatedAt = m.UpdatedAt
	}
	m.CreatedAt = memory.Instant(m.CreatedAt)
	if m.LastAccessedAt = m.CreatedAt; m.LastAccessedAt.After(m.UpdatedAt) {
		m.LastAccessedAt = m.UpdatedAt // a date in the future does not make it fresher
	}
	if m.Lexemes == "" {
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
	}
	m.Embed(embedding, model)
	return m
}

// alike reports whether a draft may concern what a memory of the same user states. Messages stay as they were said, and
// two persons do not mean the same "I". An active memory may also say the same as the draft; a condensed one can only
// be contradicted by it.
func alike(m, draft *memory.Memory) bool {
	isKnown := m.Status == memory.Active || m.Status == memory.Consolidated
	return isKnown && m.AgentID == draft.AgentID && m.Type != memory.TypeMessage &&
		!memory.SpeakersDiffer(m.Speaker, draft.Speaker) && (draft.SaidOf() == "" || m.Speaker == draft.Speaker)
}

// isAnothers reports whether another participant has stated a memory of the user, and the user states a draft. The
// user's words may replace the memory, and are not merged into it.
func isAnothers(m, draft *memory.Memory) bool { return m.SaidOf() != "" && m.Speaker != draft.Speaker }

// likeness returns the cosine of a memory and a draft in the draft's embedding space, or -1 if
// the memory has no embedding in it.
func likeness(m, draft *memory.Memory) float64 {
	return cosine(m.EmbeddingIn(spaceOf(draft)), draft.Embedding)
}

func spaceOf(draft *memory.Memory) memory.Space {
	return memory.Space{Model: draft.EmbeddingModel, Dim: len(draft.Embedding)}
}

// cosine returns the cosine of two unit vectors, or -1 if they cannot be compared.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return -1
	}
	return float64(memory.Dot(a, b))
}
