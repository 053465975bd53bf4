package learning

import (
	"context"
	"fmt"
	"maps"
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
	Owner     memory.Owner
	RecallID  string
	On        map[memory.FeedbackKind][]string // ids of memories
	Withdrawn []string                         // ids of memories on which feedback is taken back
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
	err = s.records.InUser(ctx, g.Owner, func(ctx context.Context, tx db.UserTx) error {
		list, err := s.given(ctx, tx, g, entry.Memories)
		if err != nil {
			return err
		}
		if _, err := tx.AddFeedback(ctx, list); err != nil {
			return err
		}
		return tx.WithdrawFeedback(ctx, g.RecallID, g.Withdrawn)
	})
	if err != nil {
		return nil, err
	}
	return s.records.FeedbackOn(ctx, g.Owner, []string{g.RecallID})
}

// given checks feedback and returns it by the ids of the memories. logged are the memories that the recall returned;
// nil if it was not logged.
func (s *Service) given(
	ctx context.Context, tx db.UserTx, g Given, logged []memory.LoggedMemory,
) (list []memory.Feedback, err error) {
	found, err := tx.Memories(ctx, slices.Concat(slices.Collect(maps.Values(g.On))...))
	if err != nil {
		return nil, err
	}
	types := map[string]memory.Type{}
	for _, m := range found {
		types[m.ID] = m.Type
	}
	var wrong memory.Fields
	for _, kind := range memory.FeedbackKinds {
		for i, id := range g.On[kind] {
			if types[id] == "" {
				return nil, memory.Errorf(memory.KindNotFound, "user %q has no memory %q: nothing was stored",
					g.Owner.UserID, id)
			}
			score, returned := confidenceOf(id, logged)
			isNewer := memory.MadeAt(id).After(memory.MadeAt(g.RecallID).Add(clockSkew))
			if isNewer || !returned && len(logged) > 0 && types[id] != "preference" {
				wrong.Add(fmt.Sprintf("%s[%d]", kind, i), "is a memory that this recall did not return")
			}
			list = append(list, memory.Feedback{
				Owner: g.Owner, SourceID: g.RecallID, MemoryID: id, Kind: kind, Score: score, At: memory.Instant(s.now()),
			})
		}
	}
	slices.SortFunc(list, func(a, b memory.Feedback) int { return strings.Compare(a.MemoryID, b.MemoryID) })
	return list, wrong.Err()
}

// confidenceOf returns the confidence with which a memory was returned, and whether it was.
func confidenceOf(id string, logged []memory.LoggedMemory) (confidence float64, returned bool) {
	i := slices.IndexFunc(logged, func(l memory.LoggedMemory) bool { return l.ID == id })
	if i < 0 {
		return 0, false
	}
	return logged[i].Confidence, true
}

// ratedRecalls is the number of a user's latest recalls among which Rate looks for one that has returned a memory.
const ratedRecalls = 100

// Rate stores feedback on a memory that names no recall, or takes it back if the kind is empty. Where recalls are
// logged, its score is the confidence of the newest of the user's latest recalls that has returned the memory.
//
// KindConflict: the memory is forgotten.
func (s *Service) Rate(ctx context.Context, m memory.Memory, kind memory.FeedbackKind) error {
	if kind != "" && m.Status == memory.Forgotten {
		return memory.Errorf(memory.KindConflict, "memory %q is forgotten: restore it to give feedback on it", m.ID)
	}
	recalls, err := s.records.ListRecalls(ctx, db.RecallFilter{Owner: m.Owner, Limit: ratedRecalls})
	if err != nil {
		return err
	}
	f := memory.Feedback{Owner: m.Owner, SourceID: m.ID, MemoryID: m.ID, Kind: kind, At: memory.Instant(s.now())}
	for _, r := range recalls {
		if confidence, returned := confidenceOf(m.ID, r.Memories); returned {
			f.Score = confidence
			break
		}
	}
	return s.records.InUser(ctx, m.Owner, func(ctx context.Context, tx db.UserTx) error {
		if kind == "" {
			return tx.WithdrawFeedback(ctx, f.SourceID, []string{m.ID})
		}
		_, err := tx.AddFeedback(ctx, []memory.Feedback{f})
		return err
	})
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
