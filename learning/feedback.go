package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// MaxFeedback is the most memories that one request gives feedback on.
const MaxFeedback = 100

// Given is what a client says about memories that a recall returned.
type Given struct {
	Owner    memory.Owner
	RecallID string
	On       map[memory.FeedbackKind][]string // ids of memories
}

// clockSkew is by how much the clocks of two servers may differ.
const clockSkew = time.Minute

// Give stores feedback and returns all feedback on the recall. The same feedback again changes nothing; other feedback
// on the same memory replaces it.
//
// KindNotFound: the recall is not of the user, or the user has no such memory. KindInvalid: a memory was written after
// the recall, or is not among those that the log of recalls has, unless it is a preference, which contexts add.
func (s *Service) Give(ctx context.Context, g Given) ([]memory.Feedback, error) {
	if !memory.IsRecallOf(g.RecallID, g.Owner) {
		return nil, memory.Errorf(memory.KindNotFound,
			"user %q has no recall %q: give the recall_id of an answer for this user", g.Owner.UserID, g.RecallID)
	}
	entry, err := s.records.LoggedRecall(ctx, g.Owner, g.RecallID) // empty unless recalls are logged
	if err != nil {
		return nil, err
	}
	logged := entry.Memories
	var list []memory.Feedback
	var wrong memory.Fields
	for _, kind := range memory.FeedbackKinds {
		for i, id := range g.On[kind] {
			m, err := s.records.Memory(ctx, g.Owner.AppID, id)
			if memory.IsKind(err, memory.KindNotFound) || err == nil && m.Owner != g.Owner {
				return nil, memory.Errorf(memory.KindNotFound, "user %q has no memory %q: nothing was stored",
					g.Owner.UserID, id)
			}
			if err != nil {
				return nil, err
			}
			f := memory.Feedback{
				Owner: g.Owner, SourceID: g.RecallID, MemoryID: id, Kind: kind, At: memory.Instant(s.now()),
			}
			at := slices.IndexFunc(logged, func(l memory.LoggedMemory) bool { return l.ID == id })
			if at >= 0 {
				f.Score = logged[at].Confidence
			}
			isNewer := memory.MadeAt(id).After(memory.MadeAt(g.RecallID).Add(clockSkew))
			if isNewer || at < 0 && len(logged) > 0 && m.Type != "preference" {
				wrong.Add(fmt.Sprintf("%s[%d]", kind, i), "is a memory that this recall did not return")
			}
			list = append(list, f)
		}
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b memory.Feedback) int { return strings.Compare(a.MemoryID, b.MemoryID) })
	err = s.records.InUser(ctx, g.Owner, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.AddFeedback(ctx, list)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.records.FeedbackOn(ctx, g.Owner, []string{g.RecallID})
}

// On lists feedback of clients on recalls of a user.
func (s *Service) On(ctx context.Context, owner memory.Owner, recallIDs []string) ([]memory.Feedback, error) {
	return s.records.FeedbackOn(ctx, owner, recallIDs)
}

// Count counts an app's feedback by kind; that on one memory of the owner if memoryID is not empty.
func (s *Service) Count(
	ctx context.Context, of memory.Owner, memoryID string,
) (map[memory.FeedbackKind]int, error) {
	return s.records.CountFeedback(ctx, of, memoryID)
}
