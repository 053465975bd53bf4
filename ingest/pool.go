package ingest

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
)

// The causes of changes of a shared pool.
const (
	byContribution = "promotion to the pool"
	byRetraction   = "withdrawal from the pool"
	byPurge        = "purge of the original"
)

// Contribution is the promotion of a memory of a user to the shared pool of the app.
type Contribution struct {
	memory.Owner        // the contributor
	MemoryID     string // an active memory of the contributor
	AgentID      string // the only agent that is to see it; empty: all do
	KeyID        string
}

// Contribute copies the text of a memory to the pool of the app, as a memory that is compared with no other one. If it
// has been shared already, Contribute returns that copy, and fresh is false. The copy of a message is a fact.
// KindConflict: the memory is not active, or the app's policy never keeps its text; KindInvalid: its text has a secret.
func (s *Service) Contribute(ctx context.Context, p Contribution) (shared db.PooledMemory, fresh bool, err error) {
	original, err := s.Records.Memory(ctx, p.AppID, p.MemoryID)
	switch {
	case err == nil && original.Owner != p.Owner:
		err = memory.Errorf(memory.KindNotFound, "user %q has no memory %q: check the id", p.UserID, p.MemoryID)
	case err == nil && (original.Status != memory.Active || original.HasExpired(s.Now())):
		err = memory.Errorf(memory.KindConflict, "the memory is former or forgotten: promote one that is current")
	case err == nil:
		err = s.RefuseNever(ctx, p.AppID, original.Content)
	}
	if err != nil {
		return shared, false, err
	}
	if _, kinds := secret.Cut(original.Content); len(kinds) > 0 {
		return shared, false, memory.Invalid(memory.Field{
			Path: "memory_id", Message: "is a memory with a secret (" + kinds[0] + "): change its text first"})
	}
	copied := memory.Memory{
		Owner: memory.PoolOf(p.AppID), AgentID: p.AgentID, Content: original.Content, Type: original.Type,
		Domain: original.Domain, Tags: original.Tags, Importance: original.Importance, CreatedAt: original.CreatedAt,
		ExpiresAt: original.ExpiresAt,
	}
	if copied.Type == memory.TypeMessage {
		copied.Type = memory.TypeFact
	}
	complete, err := s.complete(ctx, []memory.Memory{copied})
	if err != nil {
		return shared, false, err
	}
	copied = complete[0]
	entry := memory.Pooled{
		ID: copied.ID, Owner: p.Owner, AgentID: original.AgentID, MemoryID: p.MemoryID,
		PromotedAt: memory.Instant(s.Now()), KeyID: p.KeyID,
	}
	add := func(ctx context.Context, tx db.UserTx, changes *history.Recorder) (err error) {
		shared.Memory = copied
		if shared.Pooled, fresh, err = tx.AddPooled(ctx, entry); err != nil {
			return err
		}
		if !fresh {
			found, err := tx.Memories(ctx, []string{shared.Pooled.ID})
			if err == nil {
				shared.Memory = found[0]
			}
			return err
		}
		changes.Created(&shared.Memory, nil)
		return tx.Insert(ctx, []memory.Memory{shared.Memory}, s.Pusher.ClaimedUntil())
	}
	err = s.inUserBy(ctx, copied.Owner, byContribution, add)
	if err == nil && fresh {
		s.Pusher.PushNew(ctx, []memory.Memory{shared.Memory})
	}
	return shared, fresh, err
}

// Retract withdraws memories from the pool of an app: they are forgotten.
func (s *Service) Retract(ctx context.Context, appID string, ids []string) error {
	return s.retract(ctx, appID, ids, byRetraction)
}

func (s *Service) retract(ctx context.Context, appID string, ids []string, cause string) error {
	return s.inUserBy(ctx, memory.PoolOf(appID), cause,
		func(ctx context.Context, tx db.UserTx, changes *history.Recorder) error {
			_, err := revise(ctx, tx, changes, ids, memory.EventForgotten, forget)
			return err
		})
}

// Release removes from the pool what was copied from memories of a user that are about to be deleted for good, or with
// Settings.OrphanPooled who contributed it. It returns the memories that must wait, since their copies are still in the
// vector store.
func (s *Service) Release(ctx context.Context, owner memory.Owner, memories []string) (waiting []string, err error) {
	if owner.IsPool() || len(memories) == 0 {
		return nil, nil
	}
	entries, err := s.Records.CopiesOf(ctx, owner, memories)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	ids := make([]string, len(entries))
	for i, p := range entries {
		ids[i] = p.ID
	}
	pool := memory.PoolOf(owner.AppID)
	if s.set.OrphanPooled {
		return nil, s.Records.InUser(ctx, pool, func(ctx context.Context, tx db.UserTx) error {
			return tx.OrphanPooled(ctx, ids)
		})
	}
	if err := s.retract(ctx, owner.AppID, ids, byPurge); err != nil {
		return nil, err
	}
	if err := s.purge(ctx, pool, ids, byPurge); err != nil {
		return nil, err
	}
	left, err := s.Records.CopiesOf(ctx, owner, memories)
	for _, p := range left {
		waiting = append(waiting, p.MemoryID)
	}
	return waiting, err
}
