package learning

import (
	"context"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Preview is what the next run of a threshold would have changed, had it been made before some days.
type Preview struct {
	State
	Kept    []db.Proposal     // candidates that the gate refused, and that would have been kept
	Refused []db.Proposal     // candidates that were kept, and would have been refused
	Gone    []memory.Feedback // results with feedback that contexts would have left out
	More    bool              // there are more than MostPreviewed of one of these
}

// MostPreviewed bounds each list of a preview.
const MostPreviewed = 100

// Preview previews the next run by what was proposed and returned since a time. It changes nothing.
func (s *Service) Preview(ctx context.Context, appID string, since time.Time) (previews []Preview, err error) {
	states, err := s.States(ctx, appID)
	if err != nil {
		return nil, err
	}
	for _, state := range states {
		p := Preview{State: state}
		if state.Name == memory.GateThreshold {
			err = s.previewGate(ctx, appID, since, &p)
		} else {
			err = s.previewConfidence(ctx, appID, since, &p)
		}
		if err != nil {
			return nil, err
		}
		previews = append(previews, p)
	}
	return previews, nil
}

func (s *Service) previewGate(ctx context.Context, appID string, since time.Time, p *Preview) error {
	f := db.CandidateFilter{
		AppID: appID, Verdict: memory.BelowThreshold, MinImportance: p.Next, MaxImportance: p.Value,
		Limit: MostPreviewed + 1,
	}
	list := &p.Kept
	switch {
	case p.Next == p.Value:
		return nil
	case p.Next > p.Value:
		list = &p.Refused
		f.Verdict = memory.Kept
		f.MinImportance, f.MaxImportance = p.Value, p.Next
	}
	for {
		found, err := s.records.ListCandidates(ctx, f)
		if err != nil {
			return err
		}
		for _, c := range found {
			switch {
			case c.CreatedAt.Before(since):
				return nil
			case c.Verdict == memory.BelowThreshold && !strings.HasPrefix(c.Reason, memory.ForImportance):
			case len(*list) == MostPreviewed:
				p.More = true
				return nil
			default:
				*list = append(*list, c)
			}
		}
		if len(found) < f.Limit {
			return nil
		}
		last := found[len(found)-1]
		f.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
}

func (s *Service) previewConfidence(ctx context.Context, appID string, since time.Time, p *Preview) error {
	for _, kind := range memory.FeedbackKinds {
		found, err := s.records.Evidence(ctx, db.EvidenceFilter{
			AppID: appID, Kind: kind, After: since, Limit: mostEvidence,
		})
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.Score < p.Value || f.Score >= p.Next {
				continue
			}
			if len(p.Gone) == MostPreviewed {
				p.More = true
				break
			}
			p.Gone = append(p.Gone, f)
		}
	}
	return nil
}
