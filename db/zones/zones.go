// Package zones finds the time zone in which the days of a user are:
//
//	chosen for the user -> offset of the user's last turn whose time had one -> zone of the settings -> UTC
//
// It keeps what it has read for ten minutes, so that most recalls of a conversation read no zone.
package zones

import (
	"cmp"
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/cache"
	"hippocampus/internal/memory"
)

// Finder finds the zone of a user. A nil Finder finds UTC for every user.
type Finder func(ctx context.Context, owner memory.Owner) (*time.Location, error)

// Of returns the zone of a user, never nil without an error.
func (f Finder) Of(ctx context.Context, owner memory.Owner) (*time.Location, error) {
	if f == nil {
		return time.UTC, nil
	}
	return f(ctx, owner)
}

// Records is the part of the database that zones are kept in.
type Records interface {
	UserZone(ctx context.Context, owner memory.Owner) (memory.UserZone, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Service finds and sets zones. It is safe for concurrent use.
type Service struct {
	records   Records
	otherwise *time.Location
	now       func() time.Time
	known     *cache.Cache[known]
}

// known is a zone as it was read.
type known struct {
	zone   *time.Location
	offset string    // of the user's last turn
	until  time.Time // when it must be read again
}

const (
	keptFor    = 10 * time.Minute // a change that another process makes is seen after at most this time
	cacheBytes = 1 << 20
	knownBytes = 64
)

// New returns a service. otherwise is the zone of users without one; nil: UTC.
func New(records Records, otherwise *time.Location, now func() time.Time) *Service {
	return &Service{
		records: records, otherwise: cmp.Or(otherwise, time.UTC), now: now, known: cache.New[known](cacheBytes),
	}
}

func keyOf(owner memory.Owner) string { return owner.AppID + "\x00" + owner.UserID }

// Of returns the zone of a user: it is a Finder. A zone that is changed by another process is found within ten minutes.
func (s *Service) Of(ctx context.Context, owner memory.Owner) (*time.Location, error) {
	now := s.now()
	if k, ok := s.known.Get(keyOf(owner)); ok && now.Before(k.until) {
		return k.zone, nil
	}
	z, err := s.records.UserZone(ctx, owner)
	if err != nil {
		return nil, err
	}
	zone := s.zoneOf(z)
	s.known.Add(keyOf(owner), known{zone, z.Offset, now.Add(keptFor)}, knownBytes)
	return zone, nil
}

func (s *Service) zoneOf(z memory.UserZone) *time.Location { return cmp.Or(z.Location(), s.otherwise) }

// Show returns what is known of the zone of a user, and the zone that is used.
func (s *Service) Show(ctx context.Context, owner memory.Owner) (z memory.UserZone, used *time.Location, err error) {
	z, err = s.records.UserZone(ctx, owner)
	return z, s.zoneOf(z), err
}

// Choose sets the zone of a user by its name, which the caller has checked; with "" the user has no chosen zone.
// KindConflict: the user is being erased.
func (s *Service) Choose(ctx context.Context, owner memory.Owner, name string) (
	z memory.UserZone, used *time.Location, err error,
) {
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) (err error) {
		if z, err = tx.RecordedUserZone(ctx); err != nil || z.Chosen == name {
			return err
		}
		z.Chosen = name
		return tx.SetUserZone(ctx, z)
	})
	s.known.Remove(keyOf(owner))
	return z, s.zoneOf(z), err
}

// OnTurnAccepted makes the next Of read the zone of a user if a turn that has just been stored changes it.
func (s *Service) OnTurnAccepted(turn memory.Turn) {
	if k, ok := s.known.Get(keyOf(turn.Owner)); ok && turn.Offset != "" && turn.Offset != k.offset {
		s.known.Remove(keyOf(turn.Owner))
	}
}

// Purge drops all zones that are kept in memory. It is called when a user is erased.
func (s *Service) Purge() { s.known.Purge() }
