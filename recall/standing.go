package recall

import (
	"context"
	"math"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// Section is what a standing memory is about.
type Section string

// The sections of a profile.
const (
	Identity    Section = "identity" // who the user is, and whatever has no other section
	Preferences Section = "preferences"
	People      Section = "people"
	Plans       Section = "plans" // projects, tasks, decisions and appointments
)

// Standing is a memory that holds whatever is asked.
type Standing struct {
	Section Section
	Memory  memory.Memory
	Score   float64 // the order, 0..1, with five digits; see standingScore
}

// notStanding are the types of memories that are no part of a profile.
var notStanding = []memory.Type{memory.TypeMessage, "summary", "skill", "observation", "tool_use", "error"}

// The days after which the part of a score that depends on age has halved, and the size of this part.
const (
	planHalfLife     = 30.0
	standingHalfLife = 365.0
	standingFades    = 0.3
)

// Standing returns the memories that make up a user's profile, best first, at most q.Limit: what is current and was
// said by q.At, by importance and age. The query needs no text, its filters apply, and no access is counted. It fails
// only if the database is unavailable (KindUnavailable).
func (s *Service) Standing(ctx context.Context, q Query) ([]Standing, error) {
	ctx, cancel := Within(ctx, s.set.Timeout)
	defer cancel()
	q.Text, q.IncludeFormer = "", false
	q, home, err := s.complete(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.Until.IsZero() {
		q.Until = q.At.Add(time.Microsecond)
	}
	loaded := s.startLoading(ctx, []subquery{{Query: q}}, home, s.stages(false))
	if err := loaded.wait(); err != nil {
		return nil, err
	}
	x := loaded.index
	in := q.scope(x)
	if q.Where != nil {
		in.keepOnly(x, loaded.matching)
	}
	anything := func(int, *kind) bool { return true }
	return s.readStanding(ctx, q, x, q.standing(x, in, anything))
}

// preferences returns up to q.Preferences memories of the section Preferences that were not recalled, and that no model
// has inferred. They are current, even if the query asks for the past. A query with AsOf gets no preferences.
func (s *Service) preferences(ctx context.Context, q Query, found searchResult, recalled []Recalled) (
	list []memory.Memory, err error,
) {
	if q.Preferences == 0 || !q.AsOf.IsZero() {
		return nil, nil
	}
	q.Limit = q.Preferences
	x, known := found.index, idsOf(recalled)
	isWanted := func(doc int, k *kind) bool {
		return sectionOf(k) == Preferences && !k.Type.IsInferred() && x.superseded[doc] == nil && !x.lapsed[doc] &&
			!slices.Contains(known, x.id(doc))
	}
	standing, err := s.readStanding(ctx, q, x, q.standing(x, found.scope, isWanted))
	for _, f := range standing {
		list = append(list, f.Memory)
	}
	return list, err
}

// readStanding reads chosen documents.
func (s *Service) readStanding(ctx context.Context, q Query, x *index, best []scored) ([]Standing, error) {
	rows := map[string]row{}
	if err := s.readRows(ctx, q, x, rows, best, nil); err != nil {
		return nil, err
	}
	list := make([]Standing, 0, len(best))
	for _, b := range best {
		if m := rows[b.id].whole; m != nil { // the index may have memories that are not active any more
			list = append(list, Standing{Section: sectionOf(x.kind(b.doc)), Memory: *m, Score: b.score})
		}
	}
	return list, nil
}

// standing chooses the documents of a scope that are part of a profile and wanted, best first.
func (q *Query) standing(x *index, in scope, isWanted func(doc int, k *kind) bool) []scored {
	former := map[int]bool{}
	for _, o := range x.outdated {
		former[int(o.message)] = true
	}
	var list []scored
	for _, doc := range in.matching {
		k := x.kind(doc)
		if slices.Contains(notStanding, k.Type) || former[doc] || !isWanted(doc, k) {
			continue
		}
		score := standingScore(sectionOf(k), x.docs[doc].importance, q.At.Sub(x.docs[doc].createdAt()))
		list = append(list, scored{
			relevant: &relevant{candidate: candidate{id: x.id(doc), doc: doc}}, score: round(score),
		})
	}
	sortByScore(list)
	return list[:min(q.Limit, len(list))]
}

// sectionOf returns the section of memories of a kind.
func sectionOf(k *kind) Section {
	switch {
	case k.Type == "preference" || k.Domain == memory.Preferences:
		return Preferences
	case slices.Contains([]memory.Type{"project", "task", "decision"}, k.Type) || k.Domain == memory.Tasks:
		return Plans
	case k.Domain == memory.Social:
		return People
	}
	return Identity
}

// standingScore is the importance of a memory, less for its age:
//
//	plans   importance * 2^(-days/30)
//	others  importance * (0.7 + 0.3 * 2^(-days/365))
func standingScore(section Section, importance float64, age time.Duration) float64 {
	days := max(0, age.Hours()/24)
	if section == Plans {
		return importance * math.Exp2(-days/planHalfLife)
	}
	return importance * (1 - standingFades + standingFades*math.Exp2(-days/standingHalfLife))
}
