package ingest

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// completeOrKeep completes the messages of a turn, and facts that were taken from them, as complete does. If the
// embedder fails, or has not answered within KeepAfter, it stores the messages by their words alone, so that they can
// be recalled. kept: the messages are stored, with the embeddings that the embedder has returned since.
func (s *Service) completeOrKeep(ctx context.Context, turn memory.Turn, messages, facts []memory.Memory) (
	complete []memory.Memory, kept bool, err error,
) {
	type answer struct {
		complete []memory.Memory
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		complete, err := s.complete(ctx, slices.Concat(messages, facts))
		answers <- answer{complete, err}
	}()
	timer := time.NewTimer(s.set.KeepAfter)
	defer timer.Stop()
	select {
	case a := <-answers:
		if a.err != nil {
			_, err = s.keepByWords(ctx, turn, messages, a.err)
			return nil, false, err
		}
		return a.complete, false, nil
	case <-timer.C:
	}
	late := memory.Errorf(memory.KindUnavailable, "the embedder has not answered within %s", s.set.KeepAfter)
	kept, keepErr := s.keepByWords(ctx, turn, messages, late)
	a := <-answers
	switch {
	case a.err != nil:
		return nil, false, a.err
	case errors.Is(keepErr, errFinished) || errors.Is(keepErr, errReadAgain):
		return nil, false, keepErr
	case kept:
		return nil, true, s.storeEmbeddings(ctx, a.complete[:len(messages)])
	}
	return a.complete, false, nil
}

// keepByWords stores the messages of a turn without embeddings, since the embedder failed with cause, unless they are
// stored. It returns the cause, or errFinished or errReadAgain if these end the attempt.
func (s *Service) keepByWords(ctx context.Context, turn memory.Turn, messages []memory.Memory, cause error) (
	kept bool, err error,
) {
	if ctx.Err() != nil || len(messages)+len(turn.LeftOut) == 0 {
		return false, cause
	}
	bare := make([]memory.Memory, len(messages))
	for i, m := range messages {
		bare[i] = write.Complete(m, nil, "", s.Now())
	}
	err = s.storeMessages(ctx, turn, bare)
	switch {
	case errors.Is(err, errFinished) || errors.Is(err, errReadAgain):
		return false, err
	case memory.IsKind(err, memory.KindConflict): // they are stored
		return true, cause
	case err != nil:
		s.Log.Warn("the messages of a turn could not be stored while the embedder fails",
			zap.String("turn", turn.ID), tracing.Log(ctx), zap.Error(err))
		return false, cause
	}
	s.Log.Info("the messages of a turn are found by their words until the embedder answers",
		zap.String("turn", turn.ID), zap.Int("memories", len(bare)), tracing.Log(ctx), zap.Error(cause))
	return len(bare) > 0, cause
}

// storeMessages stores complete messages of a turn, and what is left out of them. KindConflict: they are stored.
func (s *Service) storeMessages(ctx context.Context, turn memory.Turn, messages []memory.Memory) error {
	_, err := s.Writer.Write(ctx, write.Batch{
		Owner: turn.Owner, Cause: causeOf(turn), Drafts: draftsOf(messages, write.Alone),
		First: func(ctx context.Context, tx db.UserTx) error {
			if err := isAsRead(ctx, tx, turn); err != nil {
				return err
			}
			return leaveOut(ctx, tx, turn)
		},
	})
	return err
}

// embedStored embeds the stored messages of a turn that have no embedding.
func (s *Service) embedStored(ctx context.Context, stored []memory.Memory) error {
	bare := slices.DeleteFunc(slices.Clone(stored), func(m memory.Memory) bool { return !m.WordsOnly() })
	embedded, err := s.embed(ctx, bare)
	if err != nil {
		return err
	}
	return s.storeEmbeddings(ctx, embedded)
}

// storeEmbeddings stores the embeddings of stored memories, unless these have changed since, and pushes them.
func (s *Service) storeEmbeddings(ctx context.Context, embedded []memory.Memory) error {
	var embeddings []db.Reembedding
	var space memory.Space
	var ids []string
	for _, m := range embedded {
		if m.WordsOnly() {
			continue
		}
		space = memory.Space{Model: m.EmbeddingModel, Dim: len(m.Embedding)}
		embeddings = append(embeddings, db.Reembedding{ID: m.ID, Revision: m.Revision, Embedding: m.Embedding})
		ids = append(ids, m.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	if err := s.Records.Reembed(ctx, space, embeddings); err != nil {
		return err
	}
	for {
		if n, err := s.Records.SettleEmbeddings(ctx, space, maxSettled); err != nil {
			return err
		} else if n == 0 {
			break
		}
	}
	if _, err := s.Records.Requeue(ctx, ids, s.Now()); err != nil {
		return err
	}
	s.Pusher.Push(ctx, ids)
	return nil
}

// maxSettled bounds the rows of one transaction.
const maxSettled = 100
