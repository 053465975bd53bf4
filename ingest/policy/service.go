package policy

import (
	"context"
	"sync"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Finder returns the rules of an app; nil without a policy.
type Finder func(ctx context.Context, appID string) (*Rules, error)

// Age is the greatest age of a policy that decides: a policy that another server stores is served within this time.
const Age = 5 * time.Second

// most apps whose policies are kept in memory.
const most = 10_000

// Service keeps and serves the policies of apps. It is safe for concurrent use.
type Service struct {
	records db.Policies
	now     func() time.Time

	mu    sync.Mutex
	known map[string]read
}

// read is a policy as it was read.
type read struct {
	number int    // of the version; 0 without a policy
	rules  *Rules // nil: the policy says nothing
	until  time.Time
}

// New returns a service.
func New(records db.Policies, now func() time.Time) *Service {
	return &Service{records: records, now: now, known: map[string]read{}}
}

// Of returns the rules of an app; nil without a policy, or if it says nothing.
func (s *Service) Of(ctx context.Context, appID string) (*Rules, error) {
	now := s.now()
	s.mu.Lock()
	k, ok := s.known[appID]
	s.mu.Unlock()
	if ok && now.Before(k.until) && k.until.Sub(now) <= Age { // a clock may be set back
		return k.rules, nil
	}
	v, err := s.records.NewestPolicy(ctx, appID)
	if err != nil {
		return nil, err
	}
	if !ok || k.number != v.Number {
		if k, err = compiled(v); err != nil {
			return nil, err
		}
	}
	s.keep(appID, k, now)
	return k.rules, nil
}

// compiled returns a version as it is kept in memory.
func compiled(v memory.PolicyVersion) (read, error) {
	if v.IsZero() {
		return read{number: v.Number}, nil
	}
	rules, err := Compile(v)
	return read{number: v.Number, rules: rules}, err
}

// keep keeps a policy in memory, unless a newer one is known.
func (s *Service) keep(appID string, k read, now time.Time) {
	k.until = now.Add(Age)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= most {
		clear(s.known)
	}
	if s.known[appID].number <= k.number {
		s.known[appID] = k
	}
}

// Publish stores the next version of an app's policy, which serves at once here, and elsewhere within Age. KindInvalid:
// a field is wrong.
func (s *Service) Publish(ctx context.Context, v memory.PolicyVersion) (memory.PolicyVersion, error) {
	k, err := compiled(v)
	if err == nil && v.Note != "" {
		var wrong memory.Fields
		wrong.Add("note", memory.CheckContent(v.Note, memory.MaxNote))
		err = wrong.Err()
	}
	if err != nil {
		return v, err
	}
	v.PublishedAt = memory.Instant(s.now())
	if v, err = s.records.AddPolicy(ctx, v); err != nil {
		return v, err
	}
	k.number = v.Number
	if k.rules != nil {
		k.rules.PolicyVersion = v
	}
	s.keep(v.AppID, k, s.now())
	return v, nil
}

// Show returns a version of an app's policy; 0: the one that serves, the zero value without one. KindNotFound: there is
// no such version.
func (s *Service) Show(ctx context.Context, appID string, number int) (memory.PolicyVersion, error) {
	if number == 0 {
		return s.records.NewestPolicy(ctx, appID)
	}
	found, err := s.records.PolicyVersions(ctx, appID, number+1, 1)
	if err == nil && (len(found) == 0 || found[0].Number != number) {
		err = memory.Errorf(memory.KindNotFound, "the app's policy has no version %d: list its versions", number)
	}
	if err != nil {
		return memory.PolicyVersion{}, err
	}
	return found[0], nil
}

// Versions lists versions with a number below one, or all for 0, newest first.
func (s *Service) Versions(ctx context.Context, appID string, below, limit int) ([]memory.PolicyVersion, error) {
	return s.records.PolicyVersions(ctx, appID, below, limit)
}
