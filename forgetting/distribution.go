package forgetting

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Bands are the upper bounds of the bands that a Distribution counts.
var Bands = []float64{0.1, 0.2, 0.4, 0.6, 0.8, 1}

// The bounds of the tiers: low below LowTier, high from HighTier on, medium between them.
const (
	LowTier  = 0.3
	HighTier = 0.7
)

// Distribution counts active memories by their retention.
type Distribution struct {
	Bands             []int // memories in each of Bands, above the bound before it
	Low, Medium, High Tier
	Exempt            int // memories that never fade
	OverShare         int // users with more faded memories than one run forgets
}

// Tier counts the memories of a tier.
type Tier struct {
	Memories  int
	Retention float64 // their mean; 0 without memories
}

// AppDistribution reads and counts the active memories of an app.
func (s *Service) AppDistribution(ctx context.Context, appID string) (Distribution, error) {
	c := s.newCounter()
	if s.set.Clock == ActiveClock {
		if err := c.readDays(ctx, s.records, appID); err != nil {
			return Distribution{}, err
		}
	}
	err := s.records.Ages(ctx, appID, c.add)
	return c.result(), err
}

// UserDistribution reads and counts the active memories of a user.
func (s *Service) UserDistribution(ctx context.Context, owner memory.Owner) (Distribution, error) {
	c := s.newCounter()
	rule, err := s.RuleFor(ctx, owner)
	if err != nil {
		return Distribution{}, err
	}
	c.rules[owner.UserID] = rule
	err = s.records.OwnerAges(ctx, owner, func(_ string, a db.Age) error { return c.add(owner.UserID, a) })
	return c.result(), err
}

// counter counts memories into a Distribution. Until result, a tier's Retention is a sum.
type counter struct {
	Distribution
	rule  Rule
	at    time.Time
	rules map[string]Rule // of users whose active days count
	users map[string]*fadedOf
}

// fadedOf counts the active memories of a user, and of them those that have faded.
type fadedOf struct{ active, faded int }

func (s *Service) newCounter() *counter {
	return &counter{
		Distribution: Distribution{Bands: make([]int, len(Bands))},
		rule:         s.set.Rule, at: s.now(), rules: map[string]Rule{}, users: map[string]*fadedOf{},
	}
}

// readDays makes the rules of all users of an app.
func (c *counter) readDays(ctx context.Context, records db.Activity, appID string) error {
	days := map[string]db.ActiveDays{}
	err := records.AppActiveDays(ctx, appID, func(userID, agentID string, day int) error {
		if days[userID] == nil {
			days[userID] = db.ActiveDays{}
		}
		days[userID][agentID] = append(days[userID][agentID], day)
		return nil
	})
	for userID, ofUser := range days {
		c.rules[userID] = c.rule.During(ofUser, c.at)
	}
	return err
}

func (c *counter) add(userID string, a db.Age) error {
	rule, ok := c.rules[userID]
	if !ok {
		rule = c.rule
	}
	user := c.users[userID]
	if user == nil {
		user = &fadedOf{}
		c.users[userID] = user
	}
	user.active++
	if rule.Keeps(a) {
		c.Exempt++
		return nil
	}
	retention := rule.Retention(a, c.at)
	if rule.fadedWith(retention, a, c.at) {
		user.faded++
	}
	band := 0
	for band < len(Bands)-1 && retention >= Bands[band] {
		band++
	}
	c.Bands[band]++
	tier := &c.Medium
	switch {
	case retention < LowTier:
		tier = &c.Low
	case retention >= HighTier:
		tier = &c.High
	}
	tier.Memories++
	tier.Retention += retention
	return nil
}

func (c *counter) result() Distribution {
	for _, user := range c.users {
		if user.faded > c.rule.Most(user.active) {
			c.OverShare++
		}
	}
	for _, tier := range []*Tier{&c.Low, &c.Medium, &c.High} {
		tier.Retention /= float64(max(1, tier.Memories))
	}
	return c.Distribution
}
