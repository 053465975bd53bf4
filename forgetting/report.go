package forgetting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// Report is what a run did, or would do.
type Report struct {
	At        time.Time
	Active    int // active memories of the user before the run
	Due       int // active memories that have faded
	DueByType map[memory.Type]int
	Stopped   string   // why the run forgets nothing although some have faded; empty if it does not stop
	Warning   string   // why the run forgets a part only of what has faded; empty if it forgets all
	Listed    []Listed // the requested ones of the active memories before the run, the first to fade first
	Forgotten []string // ids; empty for a preview
}

// Listing chooses the memories that a report lists.
type Listing struct {
	Limit int            // the first to fade; 0: no memory
	Tags  []string       // only memories with all of them
	Where *filter.Filter // only memories that it chooses; nil: all

	whole bool // all memories are put in order, since some of the first have vanished
}

func (l Listing) chooses(m *memory.Memory) bool {
	lacks := func(tag string) bool { return !slices.Contains(m.Tags, tag) }
	return !slices.ContainsFunc(l.Tags, lacks) && l.Where.Matches(m)
}

// bound is how many memories that fade first contain all that are listed; 0: unknown.
func (l Listing) bound() int {
	if l.whole || len(l.Tags) > 0 || l.Where != nil {
		return 0
	}
	return l.Limit
}

// Listed is a memory of a report.
type Listed struct {
	Memory memory.Memory
	Fading
}

// Fading is when a memory fades.
type Fading struct {
	Retention float64
	FadesAt   time.Time // when the retention falls below the threshold; zero: never
	Faded     bool      // the retention is below the threshold, and the memory is not exempt
}

// aged is the fading of a memory whose contents have not been read.
type aged struct {
	Fading
	id string
}

// Preview reports what a run at an instant would do to a user's memories by a rule, and when they will fade,
// if the user is active every day from now on. It changes nothing.
func (s *Service) Preview(
	ctx context.Context, owner memory.Owner, at time.Time, rule Rule, list Listing,
) (Report, error) {
	rule, err := s.during(ctx, owner, rule, s.now())
	if err != nil {
		return Report{}, err
	}
	report, _, err := s.report(ctx, owner, at, rule, list)
	return report, err
}

// report also returns the memories that have faded. It reads the ages of all active memories if memories are listed,
// otherwise only the ages of those that may have faded. It reads the contents only of memories that are listed or
// compared with the listing.
func (s *Service) report(
	ctx context.Context, owner memory.Owner, at time.Time, rule Rule, list Listing,
) (report Report, due []candidate, err error) {
	report.At, report.DueByType = at, map[memory.Type]int{}
	fading := soonest{most: list.bound()}
	add := func(id string, a db.Age) error {
		f := aged{Fading{Retention: rule.Retention(a, at)}, id}
		if f.Faded = rule.fadedWith(f.Retention, a, at); f.Faded {
			report.DueByType[a.Type]++
			due = append(due, candidate{id: id, retention: f.Retention, created: a.CreatedAt})
		}
		if list.Limit > 0 {
			report.Active++
			f.FadesAt, _ = rule.FadesAt(a)
			fading.add(f)
		}
		return nil
	}
	if list.Limit > 0 {
		err = s.records.OwnerAges(ctx, owner, add)
	} else if report.Active, err = s.records.CountActive(ctx, owner); err == nil {
		err = s.records.OldAges(ctx, owner, rule.old(at), add)
	}
	if err != nil {
		return Report{}, nil, err
	}
	report.Due = len(due)
	switch most := rule.Most(report.Active); {
	case report.Due <= most:
	case most == 0:
		report.Stopped = fmt.Sprintf(
			"%d of %d active memories have faded, and forgetting.max_share of 0 forgets none of them", report.Due, report.Active)
	default:
		report.Warning = fmt.Sprintf("%d of %d active memories have faded: a run forgets the %d of the lowest retention, "+
			"since forgetting.max_share is %.0f %%; the next runs continue", report.Due, report.Active, most, 100*rule.MaxShare)
	}
	report.Listed, err = s.listed(ctx, owner, fading.sorted(), list)
	if err == nil && fading.dropped && len(report.Listed) < list.Limit {
		list.whole = true
		return s.report(ctx, owner, at, rule, list)
	}
	return report, due, err
}

// listed reads the memories that a report lists, of those that are given in the order of fading.
func (s *Service) listed(
	ctx context.Context, owner memory.Owner, fading []aged, list Listing,
) (l []Listed, err error) {
	if list.Limit == 0 {
		return nil, nil
	}
	for part := range slices.Chunk(fading, memory.MaxPage) {
		ids := make([]string, len(part))
		for i, f := range part {
			ids[i] = f.id
		}
		found, err := s.records.Hydrate(ctx, owner, ids, nil)
		if err != nil {
			return nil, err
		}
		byID := make(map[string]memory.Memory, len(found))
		for _, m := range found {
			byID[m.ID] = m
		}
		for _, f := range part {
			if m, active := byID[f.id]; active && list.chooses(&m) {
				if l = append(l, Listed{m, f.Fading}); len(l) == list.Limit {
					return l, nil
				}
			}
		}
	}
	return l, nil
}
