package forgetting

import (
	"context"
	"errors"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// Totals is what a run over all users did.
type Totals struct {
	Users      int        `json:"users"`
	Considered int        `json:"considered"` // active memories
	Forgotten  int        `json:"forgotten"`
	Limited    int        `json:"limited"` // users with more faded memories than one run forgets
	Stopped    int        `json:"stopped"` // users with faded memories, if forgetting.max_share is 0
	Failed     int        `json:"failed"`  // users whose run failed
	Notes      []UserNote `json:"notes"`   // on the first users of the last three counts
}

// UserNote is why faded memories of a user were not all forgotten.
type UserNote struct {
	AppID  string `json:"app_id"`
	UserID string `json:"user_id"`
	Reason string `json:"reason"`
}

const maxNotes = 100

// RunAll runs for every user and enforces the bound; see jobs.EachOwner. Users
// who are being erased are left out.
func (s *Service) RunAll(ctx context.Context, cause string) (Totals, error) {
	totals := Totals{Notes: []UserNote{}}
	_, err := jobs.EachOwner(ctx, s.records, func(owner memory.Owner) error {
		report, err := s.Run(ctx, owner, cause, false, Listing{})
		trimmed := 0
		if err == nil {
			trimmed, err = s.Trim(ctx, owner)
		}
		if !errors.Is(err, db.ErrErasing) {
			totals.add(owner, report, trimmed, err)
		}
		return err
	})
	return totals, err
}

func (t *Totals) add(owner memory.Owner, report Report, trimmed int, err error) {
	t.Users++
	t.Considered += report.Active
	t.Forgotten += len(report.Forgotten) + trimmed
	why := report.Stopped
	switch {
	case err != nil:
		t.Failed++
		why = err.Error()
	case why != "":
		t.Stopped++
	case report.Warning != "":
		t.Limited++
		why = report.Warning
	default:
		return
	}
	if len(t.Notes) < maxNotes {
		t.Notes = append(t.Notes, UserNote{AppID: owner.AppID, UserID: owner.UserID, Reason: why})
	}
}
