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
	"hippocampus/internal/memory"
)

// Records is what forgetting needs of the database.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error)
	Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error)
	Ages(ctx context.Context, appID string, f func(db.Age) error) error
	db.Bounds
}

// Pusher brings committed changes to the vector store; see vectorstore/projection.
type Pusher interface {
	Push(ctx context.Context, ids []string)
}

// Settings of the runs; server/config states their defaults and ranges.
type Settings struct {
	Rule
	MaxShare    float64       // of a user's active memories that one run may forget, 0..1
	PurgeAfter  time.Duration // how long a forgotten memory can be restored
	MaxMemories int           // active ones of a user; 0: any number
}

// Service forgets.
type Service struct {
	records Records
	pusher  Pusher
	set     Settings
	now     func() time.Time
	log     *zap.Logger
	rooms   *rooms
}

// New makes a service.
func New(records Records, pusher Pusher, set Settings, now func() time.Time, log *zap.Logger) *Service {
	return &Service{records, pusher, set, now, log, newRooms()}
}

// Fading is a memory on its way out.
type Fading struct {
	Memory    memory.Memory
	Retention float64
	FadesAt   time.Time // when its retention falls under the threshold; zero: never
	Faded     bool      // it is under the threshold, and not exempt
}

// Report is what a run did, or would do.
type Report struct {
	At        time.Time
	Active    int      // active memories of the user before the run
	Due       int      // of them, those that have faded
	Stopped   string   // why the run stopped; empty: it did not
	Fading    []Fading // every active memory, the first to fade first
	Forgotten []string // ids that were forgotten; a preview forgets none
}

// Preview tells of each active memory of a user its retention at an instant
// and when it will fade, and changes nothing.
func (s *Service) Preview(ctx context.Context, owner memory.Owner, at time.Time) (Report, error) {
	report := Report{At: at}
	filter := db.MemoryFilter{Owner: owner, Statuses: []memory.Status{memory.Active}, Limit: memory.MaxPage}
	for {
		page, err := s.records.ListMemories(ctx, filter)
		if err != nil {
			return Report{}, err
		}
		for _, m := range page {
			age := AgeOf(m)
			f := Fading{Memory: m, Retention: s.set.Retention(age, at), Faded: s.set.Faded(age, at)}
			f.FadesAt, _ = s.set.FadesAt(age)
			if f.Faded {
				report.Due++
			}
			report.Fading = append(report.Fading, f)
		}
		if len(page) < filter.Limit {
			break
		}
		last := page[len(page)-1]
		filter.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
	report.Active = len(report.Fading)
	slices.SortFunc(report.Fading, sooner)
	if share := s.set.MaxShare; float64(report.Due) > share*float64(report.Active) {
		report.Stopped = fmt.Sprintf("%d of %d active memories have faded, which is over the share of %.0f %% that one run may forget",
			report.Due, report.Active, 100*share)
	}
	return report, nil
}

// sooner orders by the date of fading, what never fades last, ties by id.
func sooner(a, b Fading) int {
	if a.FadesAt.IsZero() != b.FadesAt.IsZero() {
		if a.FadesAt.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(a.FadesAt.Compare(b.FadesAt), cmp.Compare(a.Memory.ID, b.Memory.ID))
}

// batch is how many memories one transaction forgets or purges: few enough
// that the user's writers hardly wait.
const batch = 100

// Run forgets what has faded. The cause is recorded with each event. A run
// that would take too much stops, unless whole is true.
func (s *Service) Run(ctx context.Context, owner memory.Owner, cause string, whole bool) (Report, error) {
	report, err := s.Preview(ctx, owner, s.now())
	if err != nil || report.Due == 0 {
		return report, err
	}
	if whole {
		report.Stopped = ""
	}
	if report.Stopped != "" {
		s.log.Warn("forgetting stopped", zap.String("app", owner.AppID), zap.String("why", report.Stopped))
		return report, nil
	}
	var due []string
	for _, f := range report.Fading {
		if f.Faded {
			due = append(due, f.Memory.ID)
		}
	}
	for part := range slices.Chunk(due, batch) {
		gone, err := s.forget(ctx, owner, part, cause, s.due)
		report.Forgotten = append(report.Forgotten, gone...)
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// forget takes active memories out of use for which there still is a reason,
// which is the detail of their event: each may have changed meanwhile.
func (s *Service) forget(ctx context.Context, owner memory.Owner, ids []string, cause string,
	reason func(memory.Memory, *history.Change) (detail any, still bool)) (gone []string, err error) {
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		gone = nil
		memories, err := tx.Memories(ctx, ids)
		if err != nil {
			return err
		}
		slices.SortFunc(memories, func(a, b memory.Memory) int { // the first to fade first
			return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
		})
		changes := history.Record(tx, cause, s.now())
		for _, m := range memories {
			before := m
			m.Status = memory.Forgotten
			detail, still := reason(before, history.Diff(before, m))
			if before.Status != memory.Active || !still {
				continue
			}
			changes.Note(m.ID, memory.EventForgotten, detail)
			if err := changes.Update(ctx, before, &m); err != nil {
				return err
			}
			gone = append(gone, m.ID)
		}
		return changes.Flush(ctx)
	})
	if err != nil {
		return nil, err
	}
	s.pusher.Push(ctx, gone)
	return gone, nil
}

// faded is the detail of a forgotten event.
type faded struct {
	*history.Change
	Retention float64 `json:"retention"`
	Threshold float64 `json:"threshold"`
}

// due is the reason to forget a memory that has faded.
func (s *Service) due(m memory.Memory, change *history.Change) (detail any, still bool) {
	age := AgeOf(m)
	return faded{change, s.set.Retention(age, s.now()), s.set.Threshold}, s.set.Faded(age, s.now())
}

// Purge deletes for good what was forgotten long enough ago and is gone from
// the vector store, and returns how many memories that were. Their histories
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
			return purged, nil // all were restored meanwhile
		}
	}
}

func (s *Service) purge(ctx context.Context, owner memory.Owner, ids []string, cause string) (n int, err error) {
	err = s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		gone, err := tx.Purge(ctx, ids)
		if err != nil {
			return err
		}
		n = len(gone)
		changes := history.Record(tx, cause, s.now())
		for _, id := range gone {
			changes.Note(id, memory.EventPurged, nil)
		}
		return changes.Flush(ctx)
	})
	return n, err
}

// Bands are the upper bounds of the distribution that Distribution counts.
var Bands = []float64{0.1, 0.2, 0.4, 0.6, 0.8, 1}

// Distribution counts an app's active memories by retention: how many lie in
// each of Bands, from the bound before it, and how many are exempt.
func (s *Service) Distribution(ctx context.Context, appID string) (counts []int, exempt int, err error) {
	counts, at := make([]int, len(Bands)), s.now()
	err = s.records.Ages(ctx, appID, func(a db.Age) error {
		if Exempt(a) {
			exempt++
			return nil
		}
		r := s.set.Retention(a, at)
		i, _ := slices.BinarySearchFunc(Bands, r, func(bound, r float64) int {
			if bound <= r && bound < 1 {
				return -1
			}
			return 1
		})
		counts[min(i, len(Bands)-1)]++
		return nil
	})
	return counts, exempt, err
}
