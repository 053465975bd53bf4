package compression

import (
	"context"

	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// Totals is what a run over all users did.
type Totals struct {
	Users      int `json:"users"`
	Considered int `json:"considered"` // old memories
	Groups     int `json:"groups"`     // of related memories
	Refused    int `json:"refused"`    // groups that stay as they are; the next run tries them again
	Summaries  int `json:"summaries"`  // stored
	Retired    int `json:"retired"`    // memories that the summaries replace
	Failed     int `json:"failed"`     // users whose run failed
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

// CompressAll compresses for every user; see jobs.EachOwner. Without a chat
// model it does nothing.
func (s *Service) CompressAll(ctx context.Context) (totals Totals, err error) {
	if s.Chat == nil {
		return totals, nil
	}
	totals.Failed, err = jobs.EachOwner(ctx, s.Records, func(owner memory.Owner) error {
		result, err := s.Compress(ctx, owner, false)
		totals.add(result)
		return err
	})
	return totals, err
}
