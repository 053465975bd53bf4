package ingest

import (
	"cmp"
	"context"
	"strings"
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

// endMessages gives the end of a plan that is no fact to the message that states nothing else. A message whose plan is
// a fact ends with that.
func endMessages(messages []memory.Memory, candidates []memory.Candidate) {
	for i := range messages {
		m := &messages[i]
		for _, c := range candidates {
			if c.Verdict == memory.BelowThreshold && c.Content == strings.TrimSpace(m.Content) {
				m.ExpiresAt = cmp.Or(m.ExpiresAt, c.ExpiresAt)
			}
		}
	}
}
