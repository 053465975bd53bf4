package forgetting

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore/projection"
)

// Records is what forgetting needs of the database.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
	jobs.OwnerLister
	PurgeSourceDocuments(ctx context.Context, before time.Time, limit int) (int, error)
	Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error)
	Ages(ctx context.Context, appID string, f func(userID string, a db.Age) error) error
	db.Bounds
	db.Activity
}

// Settings of the runs; server/config holds their defaults and ranges.
type Settings struct {
	Rule
	PurgeAfter  time.Duration // time for which a forgotten memory can be restored
	MaxMemories int           // active memories of a user; 0: unlimited
}

// Service forgets.
type Service struct {
	records Records
	pusher  projection.Pusher
	set     Settings
	now     func() time.Time
	log     *zap.Logger
	rooms   *rooms

	// Release removes from the pool what was copied from memories that users have forgotten and that are about to be
	// purged, and returns those that must wait for that. Set it before the first purge.
	Release func(ctx context.Context, owner memory.Owner, ids []string) (waiting []string, err error)
}

// New makes a service.
func New(records Records, pusher projection.Pusher, set Settings, now func() time.Time, log *zap.Logger) *Service {
	return &Service{
		records: records, pusher: pusher, set: set, now: now, log: log, rooms: newRooms(),
		Release: func(context.Context, memory.Owner, []string) ([]string, error) { return nil, nil },
	}
}

// Rule is the configured rule.
func (s *Service) Rule() Rule { return s.set.Rule }

// RuleFor returns the configured rule with a user's active days, and as if the user were active every day from now on.
func (s *Service) RuleFor(ctx context.Context, owner memory.Owner) (Rule, error) {
	return s.during(ctx, owner, s.set.Rule, s.now())
}

// during returns a rule with a user's active days, if it counts them; see Rule.During.
func (s *Service) during(ctx context.Context, owner memory.Owner, rule Rule, activeFrom time.Time) (Rule, error) {
	if rule.Clock != ActiveClock {
		return rule, nil
	}
	days, err := s.records.ActiveDays(ctx, owner)
	return rule.During(days, activeFrom), err
}

// Due counts what a run at an instant forgets of a user.
type Due struct {
	Active  int                 // active memories
	Faded   int                 // active memories that have faded by then
	Forgets int                 // faded memories that the run forgets: at most the rule's share of the active memories
	ByType  map[memory.Type]int // how many of the faded ones have each type
}

// Due counts what a run at an instant forgets of a user, if nothing is written or recalled until then. It reads the
// ages of the memories that may have faded by then, and no contents.
func (s *Service) Due(ctx context.Context, owner memory.Owner, at time.Time) (due Due, err error) {
	if due.Active, err = s.records.CountActive(ctx, owner); err != nil {
		return Due{}, err
	}
	rule, err := s.during(ctx, owner, s.set.Rule, time.Time{})
	if err != nil {
		return Due{}, err
	}
	due.ByType = map[memory.Type]int{}
	err = s.records.OldAges(ctx, owner, rule.old(at), func(_ string, a db.Age) error {
		if rule.Faded(a, at) {
			due.Faded++
			due.ByType[a.Type]++
		}
		return nil
	})
	due.Forgets = min(due.Faded, s.set.Most(due.Active))
	return due, err
}

// batch is how many memories one transaction forgets or purges: few enough for
// the user's other writers to wait only briefly.
const batch = 100

// Run forgets what has faded: up to the rule's share of the user's memories,
// those of the lowest retention first, or all if whole is true. The cause is
// recorded with each event.
func (s *Service) Run(ctx context.Context, owner memory.Owner, cause string, whole bool, list Listing) (Report, error) {
	rule, err := s.RuleFor(ctx, owner)
	if err != nil {
		return Report{}, err
	}
	report, due, err := s.report(ctx, owner, s.now(), rule, list)
	if err != nil || report.Due == 0 {
		return report, err
	}
	most := s.set.Most(report.Active)
	if whole {
		most = report.Due
		report.Stopped = ""
		report.Warning = ""
	}
	if why := report.Stopped + report.Warning; why != "" {
		s.log.Warn("more has faded than one run forgets", zap.String("app", owner.AppID), zap.String("why", why))
	}
	report.Forgotten, err = s.forget(ctx, owner, lowest(due, most), cause, s.fadedBy(rule), func(m memory.Memory) bool {
		return !rule.tooOld(AgeOf(m), s.now()) // a message does not come back after the time for which it is kept
	})
	return report, err
}

// reason returns the detail of the event by which a memory is forgotten, and
// whether the reason to forget it still applies.
type reason func(memory.Memory, *history.Change) (detail any, applies bool)

// forget forgets active memories, some at a time, and returns the ids of those
// that it has forgotten. It leaves out memories that have changed in the
// meantime so that the reason does not apply. A memory can be recollected if the function faded, which may be nil,
// returns true for it.
func (s *Service) forget(ctx context.Context, owner memory.Owner, ids []string, cause string,
	why reason, faded func(memory.Memory) bool) (forgotten []string, err error) {
	for part := range slices.Chunk(ids, batch) {
		done, err := s.forgetBatch(ctx, owner, part, cause, why, faded)
		if err != nil {
			return forgotten, err
		}
		s.pusher.Push(ctx, done)
		forgotten = append(forgotten, done...)
	}
	return forgotten, nil
}

func (s *Service) forgetBatch(ctx context.Context, owner memory.Owner, ids []string, cause string,
	why reason, faded func(memory.Memory) bool) (forgotten []string, err error) {
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		forgotten = nil
		memories, err := tx.Memories(ctx, ids)
		if err != nil {
			return err
		}
		slices.SortFunc(memories, func(a, b memory.Memory) int { // the first to fade first
			return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
		})
		changes := history.NewRecorder(tx, cause, s.now())
		for _, m := range memories {
			before := m
			m.Status, m.Faded = memory.Forgotten, faded != nil && faded(m)
			detail, applies := why(before, history.Diff(before, m))
			if before.Status != memory.Active || !applies {
				continue
			}
			changes.Note(m.ID, memory.EventForgotten, detail)
			if err := changes.Update(ctx, before, &m); err != nil {
				return err
			}
			forgotten = append(forgotten, m.ID)
		}
		return changes.Flush(ctx)
	})
	return forgotten, err
}

// fadedDetail is the detail of a forgotten event.
type fadedDetail struct {
	*history.Change
	Retention float64 `json:"retention"`
	Threshold float64 `json:"threshold"`
}

// tooOldDetail is the detail of the forgotten event of a message that is older than messages are kept.
type tooOldDetail struct {
	*history.Change
	AgeDays  float64 `json:"age_days"`
	KeepDays float64 `json:"keep_days"`
}

// fadedBy returns the reason to forget a memory that has faded by a rule.
func (s *Service) fadedBy(rule Rule) reason {
	return func(m memory.Memory, change *history.Change) (detail any, applies bool) {
		age := AgeOf(m)
		if rule.tooOld(age, s.now()) {
			return tooOldDetail{change, s.now().Sub(m.CreatedAt).Hours() / 24, rule.MessageAge.Hours() / 24}, true
		}
		return fadedDetail{change, rule.Retention(age, s.now()), rule.Threshold}, rule.Faded(age, s.now())
	}
}

// Purge deletes for good the memories that were forgotten long enough ago and
// are gone from the vector store, and returns their number. Their histories
// stay, ended by a purged event. What a user has forgotten leaves the pool first; what has faded stays
// there. Documents that were forgotten then are deleted also.
func (s *Service) Purge(ctx context.Context, cause string) (purged int, err error) {
	before := s.now().Add(-s.set.PurgeAfter)
	for {
		n, err := s.records.PurgeSourceDocuments(ctx, before, batch)
		if err != nil {
			return 0, err
		}
		if n < batch {
			break
		}
	}
	for {
		memories, err := s.records.Purgeable(ctx, before, batch)
		if err != nil || len(memories) == 0 {
			return purged, err
		}
		byOwner, asked := map[memory.Owner][]string{}, map[memory.Owner][]string{}
		for _, m := range memories {
			byOwner[m.Owner] = append(byOwner[m.Owner], m.ID)
			if !m.Faded {
				asked[m.Owner] = append(asked[m.Owner], m.ID)
			}
		}
		round := 0
		for owner, ids := range byOwner {
			waiting, err := s.Release(ctx, owner, asked[owner])
			if err != nil && !errors.Is(err, db.ErrErasing) {
				return purged + round, err
			}
			ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(waiting, id) })
			n, err := s.purge(ctx, owner, ids, cause)
			round += n
			if err != nil && !errors.Is(err, db.ErrErasing) {
				return purged + round, err
			}
		}
		purged += round
		if round == 0 {
			return purged, nil // all were restored in the meantime
		}
	}
}

func (s *Service) purge(ctx context.Context, owner memory.Owner, ids []string, cause string) (n int, err error) {
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		purged, err := tx.Purge(ctx, ids)
		if err != nil {
			return err
		}
		n = len(purged)
		changes := history.NewRecorder(tx, cause, s.now())
		for _, id := range purged {
			changes.Note(id, memory.EventPurged, nil)
		}
		return changes.Flush(ctx)
	})
	return n, err
}
