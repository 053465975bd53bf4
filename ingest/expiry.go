package ingest

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// endOf returns when a shelf life of a user's memory ends.
func (s *Service) endOf(ctx context.Context, owner memory.Owner, e memory.Expiry) (time.Time, error) {
	if e.Day == "" {
		return e.At, nil
	}
	zone, err := s.Zone.Of(ctx, owner)
	if err != nil {
		return time.Time{}, err
	}
	return e.In(zone), nil
}

// endOfChange returns the end of the shelf life that a change gives a memory.
func (s *Service) endOfChange(ctx context.Context, appID, id string, c Change) (time.Time, error) {
	if c.Expires == nil || c.Expires.Day == "" {
		return c.instant(), nil
	}
	m, err := s.Records.Memory(ctx, appID, id)
	if err != nil {
		return time.Time{}, err
	}
	return s.endOf(ctx, m.Owner, *c.Expires)
}

func (c Change) instant() time.Time {
	if c.Expires == nil {
		return time.Time{}
	}
	return c.Expires.At
}

// outlive gives a memory the shelf life that a request states. Another content of a memory that has expired is current
// unless the request says otherwise.
func (c Change) outlive(m *memory.Memory, before string, end, now time.Time) {
	switch {
	case c.Expires != nil:
		m.ExpiresAt = end
	case m.Content != before && m.HasExpired(now):
		m.ExpiresAt = time.Time{}
	}
}
