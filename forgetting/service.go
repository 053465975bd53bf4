package forgetting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	db.MemoryLister
	jobs.OwnerLister
	Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error)
	Ages(ctx context.Context, appID string, f func(userID string, a db.Age) error) error
	db.Bounds
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
}

// New makes a service.
func New(records Records, pusher projection.Pusher, set Settings, now func() time.Time, log *zap.Logger) *Service {
	return &Service{records: records, pusher: pusher, set: set, now: now, log: log, rooms: newRooms()}
}

// Fading is when a memory fades.
type Fading struct {
	Memory    memory.Memory
	Retention float64
	FadesAt   time.Time // when the retention falls below the threshold; zero: never
	Faded     bool      // the retention is below the threshold, and the memory is not exempt
}

// Report is what a run did, or would do.
type Report struct {
	At        time.Time
	Active    int      // active memories of the user before the run
	Due       int      // active memories that have faded
	Stopped   string   // why the run forgets nothing although some have faded; empty if it does not stop
	Warning   string   // why the run forgets a part only of what has faded; empty if it forgets all
	Fading    []Fading // every active memory, the first to fade first
	Forgotten []string // ids; empty for a preview
}

// Rule is the configured rule.
func (s *Service) Rule() Rule { return s.set.Rule }

// Preview reports for each active memory of a user its retention at an instant
// by a rule, and when it will fade. It changes nothing.
func (s *Service) Preview(ctx context.Context, owner memory.Owner, at time.Time, rule Rule) (Report, error) {
	report := Report{At: at}
	for m, err := range db.ActiveMemories(ctx, s.records, owner) {
		if err != nil {
			return Report{}, err
		}
		age := AgeOf(m)
		f := Fading{Memory: m, Retention: rule.Retention(age, at), Faded: rule.Faded(age, at)}
		f.FadesAt, _ = rule.FadesAt(age)
		if f.Faded {
			report.Due++
		}
		report.Fading = append(report.Fading, f)
	}
	report.Active = len(report.Fading)
	slices.SortFunc(report.Fading, byFading)
	switch most := rule.Most(report.Active); {
	case report.Due <= most:
	case most == 0:
		report.Stopped = fmt.Sprintf(
			"%d of %d active memories have faded, and forgetting.max_share of 0 forgets none of them", report.Due, report.Active)
	default:
		report.Warning = fmt.Sprintf("%d of %d active memories have faded: a run forgets the %d of the lowest retention, "+
			"since forgetting.max_share is %.0f %%; the next runs continue", report.Due, report.Active, most, 100*rule.MaxShare)
	}
	return report, nil
}

// byFading orders by the date of fading, then by id. Memories that never fade come last.
func byFading(a, b Fading) int {
	if a.FadesAt.IsZero() != b.FadesAt.IsZero() {
		if a.FadesAt.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(a.FadesAt.Compare(b.FadesAt), cmp.Compare(a.Memory.ID, b.Memory.ID))
}

// batch is how many memories one transaction forgets or purges: few enough for
// the user's other writers to wait only briefly.
const batch = 100

// Run forgets what has faded: up to the rule's share of the user's memories,
// those of the lowest retention first, or all if whole is true. The cause is
// recorded with each event.
func (s *Service) Run(ctx context.Context, owner memory.Owner, cause string, whole bool) (Report, error) {
	report, err := s.Preview(ctx, owner, s.now(), s.set.Rule)
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
	var due []candidate
	for _, f := range report.Fading {
		if f.Faded {
			due = append(due, candidate{id: f.Memory.ID, retention: f.Retention, created: f.Memory.CreatedAt})
		}
	}
	report.Forgotten, err = s.forget(ctx, owner, lowest(due, most), cause, s.fadedBy)
	return report, err
}

// reason returns the detail of the event by which a memory is forgotten, and
// whether the reason to forget it still applies.
type reason func(memory.Memory, *history.Change) (detail any, applies bool)

// forget forgets active memories, some at a time, and returns the ids of those
// that it has forgotten. It leaves out memories that have changed in the
// meantime so that the reason does not apply.
func (s *Service) forget(ctx context.Context, owner memory.Owner, ids []string, cause string,
	why reason) (forgotten []string, err error) {
	for part := range slices.Chunk(ids, batch) {
		done, err := s.forgetBatch(ctx, owner, part, cause, why)
		if err != nil {
			return forgotten, err
		}
		s.pusher.Push(ctx, done)
		forgotten = append(forgotten, done...)
	}
	return forgotten, nil
}

func (s *Service) forgetBatch(ctx context.Context, owner memory.Owner, ids []string, cause string,
	why reason) (forgotten []string, err error) {
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
			m.Status = memory.Forgotten
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

// fadedBy is the reason to forget a memory that has faded.
func (s *Service) fadedBy(m memory.Memory, change *history.Change) (detail any, applies bool) {
	age := AgeOf(m)
	return fadedDetail{change, s.set.Retention(age, s.now()), s.set.Threshold}, s.set.Faded(age, s.now())
}

// Purge deletes for good the memories that were forgotten long enough ago and
// are gone from the vector store, and returns their number. Their histories
// stay, ended by a purged event.
func (s *Service) Purge(ctx context.Context, cause string) (purged int, err error) {
	before := s.now().Add(-s.set.PurgeAfter)
	for {
		memories, err := s.records.Purgeable(ctx, before, batch)
		if err != nil || len(memories) == 0 {
			return purged, err
		}
		byOwner := map[memory.Owner][]string{}
		for _, m := range memories {
			byOwner[m.Owner] = append(byOwner[m.Owner], m.ID)
		}
		round := 0
		for owner, ids := range byOwner {
			n, err := s.purge(ctx, owner, ids, cause)
			round += n
			if err != nil && !errors.Is(err, db.ErrErasing) {
				return purged + round, err
			}
		}
		if purged += round; round == 0 {
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
