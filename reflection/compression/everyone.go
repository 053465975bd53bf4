package compression

import (
	"context"
	"errors"
	"fmt"

	"hippocampus/internal/memory"
)

// Totals is what a run over all users did.
type Totals struct {
	Users      int `json:"users"`      // whose memories were looked at
	Considered int `json:"considered"` // old memories
	Groups     int `json:"groups"`     // of related ones
	Refused    int `json:"refused"`    // groups that stay as they are; the next run tries them again
	Summaries  int `json:"summaries"`  // stored
	Retired    int `json:"retired"`    // memories that these stand for
	Failed     int `json:"failed"`     // users for whom it failed
}

func (t *Totals) add(r Result) {
	t.Users++
	t.Considered += r.Considered
	t.Groups += len(r.Groups)
	for _, g := range r.Groups {
		t.Summaries += len(g.Summaries)
		if g.Refused != "" {
			t.Refused++
		} else {
			t.Retired += len(g.Memories)
		}
	}
}

const (
	ownersPage  = 100
	maxFailures = 10 // errors that a run tells of
)

// CompressAll compresses for every user, one after the other. A user whose run
// fails does not keep the others from theirs; the error then comes at the end,
// with what was done. Where a part is away, or ctx ends, it comes at once.
// Without a chat model nothing is done.
func (s *Service) CompressAll(ctx context.Context) (totals Totals, err error) {
	if s.Chat == nil {
		return totals, nil
	}
	var failures []error
	for last := (memory.Owner{}); ; {
		owners, err := s.Records.Owners(ctx, last, ownersPage)
		if err != nil {
			return totals, err
		}
		for _, owner := range owners {
			result, err := s.Compress(ctx, owner, false)
			totals.add(result)
			if ctx.Err() != nil {
				return totals, ctx.Err()
			}
			if memory.IsKind(err, memory.KindUnavailable) {
				return totals, err
			}
			if err != nil && !memory.IsKind(err, memory.KindConflict) {
				totals.Failed++
				failures = append(failures[:min(len(failures), maxFailures-1)], err)
			}
			last = owner
		}
		if len(owners) < ownersPage {
			break
		}
	}
	if len(failures) > 0 {
		return totals, fmt.Errorf("compression failed for %d of %d users: %w", totals.Failed, totals.Users, errors.Join(failures...))
	}
	return totals, nil
}
