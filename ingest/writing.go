package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// writing collects the changes of one user's transaction. Every put sees the earlier ones.
type writing struct {
	*history.Recorder
	s  *Service
	tx db.UserTx

	recent    []memory.Memory // so recent that searches may not find them yet
	looked    bool            // recent is read
	inserted  []*memory.Memory
	outdated  []memory.Memory // those of inserted that were superseded since, as they were before
	relations []memory.Relation

	details map[string]any // of the events of the creations, by id; may be nil
	except  []string       // ids of memories that nothing is merged into
}

func (s *Service) writing(tx db.UserTx, cause string) *writing {
	return &writing{Recorder: history.NewRecorder(tx, cause, s.Now()), s: s, tx: tx}
}

// draft completes a new memory with an embedding of a model.
func (s *Service) draft(m memory.Memory, embedding []float32, model string) memory.Memory {
	m.ID = memory.NewID()
	m.Status = memory.Active
	m.Revision = 1
	m.UpdatedAt = memory.Instant(s.Now())
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
	m.Embedding, m.EmbeddingModel = embedding, model
	return m
}

// put merges a draft into the active memory that says the same in the same words. Otherwise it applies the decisions
// of the judge. Without a judge it applies the rules, and merges the draft into the most similar memory.
func (w *writing) put(ctx context.Context, draft memory.Memory, near neighbourhood) (Written, error) {
	same, similarity, err := w.nearest(ctx, draft, near.ids)
	if err != nil {
		return Written{}, err
	}
	switch {
	case same == nil:
	case same.Content == draft.Content:
		return w.merge(ctx, same, draft, 1, memory.Duplicate, "an active memory says exactly this")
	case sameWords(same.Content, draft.Content):
		return w.merge(ctx, same, draft, 1, memory.Merged, "an active memory says this in the same words")
	case w.s.Judge == nil && similarity >= w.s.set.MergeSimilarity && len(near.judged) == 0 &&
		w.s.claimTheSame(*same, draft):
		return w.merge(ctx, same, draft, similarity, memory.Merged,
			fmt.Sprintf("similarity %.3f to an active memory is at or over %.2f: they are one",
				similarity, w.s.set.MergeSimilarity))
	}
	return w.settle(ctx, draft, near)
}

// add makes the draft a memory of its own.
func (w *writing) add(draft memory.Memory) Written {
	w.Created(&draft, w.details[draft.ID])
	w.inserted = append(w.inserted, &draft)
	return Written{Memory: draft, Verdict: memory.Kept, Reason: "nothing like it was known"}
}

// nearest returns the active memory of the same agent that is most similar to the draft, or
// nil, and the similarity. Equal words have a similarity of 1; the oldest of several equally
// similar memories is returned.
func (w *writing) nearest(ctx context.Context, draft memory.Memory, nearby []string) (*memory.Memory, float64, error) {
	m, ok, err := w.tx.SameContent(ctx, draft.AgentID, draft.Content)
	if err != nil || ok && !slices.Contains(w.except, m.ID) {
		return &m, 1, err
	}
	stored, err := w.tx.Memories(ctx, nearby)
	if err != nil {
		return nil, 0, err
	}
	if !w.looked {
		// Another process may have written after the search and before this transaction got the lock.
		if w.recent, err = w.tx.Unconfirmed(ctx, w.s.Now().Add(-w.s.set.OwnWindow), w.s.set.OwnLimit); err != nil {
			return nil, 0, err
		}
		w.looked = true
	}
	var best *memory.Memory
	similarity := -1.0
	consider := func(m *memory.Memory) {
		if !alike(*m, draft) || slices.Contains(w.except, m.ID) {
			return
		}
		c := likeness(m, &draft)
		if sameWords(m.Content, draft.Content) {
			c = 1
		}
		if c > similarity || c == similarity && older(m, best) {
			best, similarity = m, c
		}
	}
	for _, list := range [][]memory.Memory{stored, w.recent} {
		for i := range list {
			consider(&list[i])
		}
	}
	for _, m := range w.inserted {
		consider(m)
	}
	return best, similarity, nil
}

// older reports whether a was created before b.
func older(a, b *memory.Memory) bool {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) < 0
}

// store stores a changed memory, and updates it in recent for the next put.
func (w *writing) store(ctx context.Context, before memory.Memory, m *memory.Memory) error {
	err := w.Update(ctx, before, m)
	for i := range w.recent {
		if w.recent[i].ID == m.ID {
			w.recent[i] = *m
		}
	}
	return err
}

func (w *writing) isNew(m *memory.Memory) bool {
	for _, n := range w.inserted {
		if n.ID == m.ID {
			*n = *m
			return true
		}
	}
	return false
}

// derive notes that a memory was taken from a message, if there is one.
func (w *writing) derive(id string, message *memory.Memory) {
	if message != nil {
		w.relations = append(w.relations, memory.Relation{
			From: id, Kind: memory.DerivedFrom, To: message.ID, CreatedAt: memory.Instant(w.s.Now()),
		})
	}
}

// flush writes the collected changes at the end of the transaction.
func (w *writing) flush(ctx context.Context) error {
	if err := w.insert(ctx); err != nil {
		return err
	}
	return w.Flush(ctx)
}

// insert stores the added memories, with the relations.
func (w *writing) insert(ctx context.Context) error {
	if len(w.inserted) > 0 {
		if err := w.tx.Insert(ctx, w.memories(false), w.s.Pusher.ClaimedUntil()); err != nil {
			return err
		}
	}
	for _, before := range w.outdated {
		for _, m := range w.inserted {
			if m.ID == before.ID {
				if err := w.Update(ctx, before, m); err != nil {
					return err
				}
			}
		}
	}
	if len(w.relations) == 0 {
		return nil
	}
	return w.tx.AddRelations(ctx, w.relations)
}

// push pushes the changes after the commit.
func (w *writing) push(ctx context.Context, owner memory.Owner) {
	if len(w.inserted) > 0 {
		w.s.Pusher.PushNew(ctx, w.memories(true))
	}
	w.s.Pusher.Push(ctx, w.Changed())
	isFact := func(m *memory.Memory) bool { return m.Type != memory.TypeMessage }
	if slices.ContainsFunc(w.inserted, isFact) || len(w.Changed()) > 0 {
		w.s.OnWritten(owner)
	}
	if len(w.inserted) > 0 {
		w.s.OnGrown(ctx, owner, len(w.inserted))
	}
}

// memories returns the added memories as they were before they were superseded, or, if active is set, without those.
func (w *writing) memories(active bool) []memory.Memory {
	list := make([]memory.Memory, 0, len(w.inserted))
	for _, m := range w.inserted {
		i := slices.IndexFunc(w.outdated, func(before memory.Memory) bool { return before.ID == m.ID })
		switch {
		case i < 0:
			list = append(list, *m)
		case !active:
			list = append(list, w.outdated[i])
		}
	}
	return list
}

// likeness returns the cosine of a memory and a draft in the draft's embedding space, or -1 if
// the memory has no embedding in it.
func likeness(m, draft *memory.Memory) float64 {
	return cosine(m.EmbeddingIn(memory.Space{Model: draft.EmbeddingModel, Dim: len(draft.Embedding)}), draft.Embedding)
}

// cosine returns the cosine of two unit vectors, or -1 if they cannot be compared.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return -1
	}
	return float64(memory.Dot(a, b))
}
