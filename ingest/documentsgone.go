package ingest

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// ForgetDocument forgets a document of the app with its passages, and returns their number. It can be restored until
// it is purged. Forgetting twice changes nothing. KindNotFound: it does not exist.
func (s *Service) ForgetDocument(ctx context.Context, appID, id string) (d memory.SourceDocument, n int, err error) {
	return s.changeDocument(ctx, appID, id, func(d *memory.SourceDocument, p *memory.Passage, m *memory.Memory) bool {
		if p.Forgotten = m.Status != memory.Forgotten; p.Forgotten {
			_ = forget(m)
		}
		return p.Forgotten
	}, memory.EventForgotten, memory.Instant(s.Now()))
}

// RestoreDocument undoes ForgetDocument: passages that were forgotten before stay forgotten. KindConflict: no passage
// is left, since all were purged.
func (s *Service) RestoreDocument(ctx context.Context, appID, id string) (d memory.SourceDocument, n int, err error) {
	by := llm.Serving(s.Embedder)
	d, err = s.Records.SourceDocument(ctx, appID, id)
	if err != nil || d.ForgottenAt.IsZero() {
		return d, 0, err
	}
	embeddings, err := s.embeddedAgain(ctx, by, d)
	if err != nil {
		return d, 0, err
	}
	return s.changeDocument(ctx, appID, id, func(_ *memory.SourceDocument, p *memory.Passage, m *memory.Memory) bool {
		if !p.Forgotten || m.Status != memory.Forgotten {
			return false
		}
		p.Forgotten = false
		m.Status, m.LastAccessedAt = memory.Active, memory.Instant(s.Now())
		if embedding, again := embeddings[m.ID]; again {
			m.Embed(embedding, by.Model())
		}
		return true
	}, memory.EventRestored, time.Time{})
}

// embeddedAgain returns the embeddings of passages that were embedded by another model than the present one.
func (s *Service) embeddedAgain(
	ctx context.Context, by llm.Embedder, d memory.SourceDocument,
) (embeddings map[string][]float32, err error) {
	var stale []memory.Memory
	err = s.Records.InUser(ctx, d.Owner, func(ctx context.Context, tx db.UserTx) error {
		stale, err = tx.Memories(ctx, memoriesOf(d))
		return err
	})
	if err != nil {
		return nil, err
	}
	stale = slices.DeleteFunc(stale, func(m memory.Memory) bool { return m.EmbeddingModel == by.Model() })
	embedded, err := s.embed(ctx, stale)
	embeddings = map[string][]float32{}
	for _, m := range embedded {
		embeddings[m.ID] = m.Embedding
	}
	return embeddings, err
}

func memoriesOf(d memory.SourceDocument) []string {
	ids := make([]string, len(d.Passages))
	for i, p := range d.Passages {
		ids[i] = p.MemoryID
	}
	return ids
}

// changeDocument changes a document and its passages in one transaction; change reports whether it changes a passage.
func (s *Service) changeDocument(
	ctx context.Context, appID, id string,
	change func(d *memory.SourceDocument, p *memory.Passage, m *memory.Memory) bool,
	kind memory.EventKind, forgottenAt time.Time,
) (d memory.SourceDocument, changed int, err error) {
	d, err = s.Records.SourceDocument(ctx, appID, id)
	if err != nil {
		return d, 0, err
	}
	err = s.inUser(ctx, d.Owner, func(ctx context.Context, tx db.UserTx, changes *history.Recorder) error {
		changed = 0
		now, known, err := tx.RecordedSourceDocument(ctx, id)
		if err != nil || !known || now.ForgottenAt.IsZero() == forgottenAt.IsZero() {
			d = now
			return err
		}
		d = now
		found, err := tx.Memories(ctx, memoriesOf(d))
		if err != nil {
			return err
		}
		if len(found) == 0 && forgottenAt.IsZero() {
			return memory.Errorf(memory.KindConflict, "the passages of the document were purged: send the document again")
		}
		d.Passages = slices.Clone(d.Passages)
		for i := range d.Passages {
			p := &d.Passages[i]
			at := slices.IndexFunc(found, func(m memory.Memory) bool { return m.ID == p.MemoryID })
			if at < 0 {
				continue
			}
			m, before := &found[at], found[at]
			if !change(&d, p, m) {
				continue
			}
			changed++
			if err := update(ctx, changes, before, m, kind); err != nil {
				return err
			}
		}
		d.ForgottenAt, d.ChangedAt = forgottenAt, memory.Instant(s.Now())
		return tx.PutSourceDocument(ctx, d)
	})
	return d, changed, err
}
