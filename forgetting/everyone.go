package forgetting

import (
	"context"
	"errors"
	"fmt"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Totals is what a run over all users did.
type Totals struct {
	Users      int        `json:"users"`      // whose memories were looked at
	Considered int        `json:"considered"` // active memories
	Forgotten  int        `json:"forgotten"`
	Stopped    int        `json:"stopped"` // users for whom the run stopped
	Failed     int        `json:"failed"`  // users for whom it failed
	Notes      []UserNote `json:"notes"`   // on those, the first of them
}

// UserNote says why memories of a user were not forgotten.
type UserNote struct {
	AppID  string `json:"app_id"`
	UserID string `json:"user_id"`
	Reason string `json:"reason"`
}

const (
	maxNotes   = 100
	ownersPage = 100
)

// RunAll runs for every user, one after the other. A user whose run fails does
// not keep the others from theirs; the error then comes at the end, with what
// was done. Where the database is away, or ctx ends, it comes at once.
func (s *Service) RunAll(ctx context.Context, cause string) (totals Totals, err error) {
	totals.Notes = []UserNote{}
	var first error
	for last := (memory.Owner{}); ; {
		owners, err := s.records.Owners(ctx, last, ownersPage)
		if err != nil {
			return totals, err
		}
		for _, owner := range owners {
			last = owner
			report, err := s.Run(ctx, owner, cause, false)
			trimmed := 0
			if err == nil {
				trimmed, err = s.Trim(ctx, owner)
			}
			if errors.Is(err, db.ErrErasing) {
				continue
			}
			totals.add(owner, report, err)
			totals.Forgotten += trimmed
			if ctx.Err() != nil || memory.IsKind(err, memory.KindUnavailable) {
				return totals, err
			}
			if err != nil && first == nil {
				first = err
			}
			last = owner
		}
		if len(owners) < ownersPage {
			break
		}
	}
	if first != nil {
		return totals, fmt.Errorf("forgetting failed for %d of %d users, first with: %w", totals.Failed, totals.Users, first)
	}
	return totals, nil
}

func (t *Totals) add(owner memory.Owner, report Report, err error) {
	t.Users++
	t.Considered += report.Active
	t.Forgotten += len(report.Forgotten)
	why := report.Stopped
	switch {
	case err != nil:
		t.Failed++
		why = err.Error()
	case why != "":
		t.Stopped++
	default:
		return
	}
	if len(t.Notes) < maxNotes {
		t.Notes = append(t.Notes, UserNote{owner.AppID, owner.UserID, why})
	}
}
