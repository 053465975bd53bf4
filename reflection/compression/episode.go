package compression

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
	"hippocampus/reflection/episodes"
)

// Rule says how old an episode is and what of it stays; forgetting.Rule has it.
type Rule interface {
	// Passed is the time that counts between two instants for memories of an agent: by default, the user's active days.
	Passed(agentID string, from, until time.Time) time.Duration
	// Keeps reports whether a memory never fades.
	Keeps(a db.Age) bool
}

// ofEpisodes returns what is left of the user's episodes that are old enough, the earliest first:
//
//	30 days after its latest statement -> three core statements for ten
//	90 days after its latest statement -> one pattern
//
// An episode that has core statements waits for its pattern, and one that has its pattern stays as it is.
func (s *Service) ofEpisodes(ctx context.Context, owner memory.Owner, statements []memory.Memory, at time.Time) (
	found []group, err error,
) {
	if len(statements) < minGroup {
		return nil, nil
	}
	rule, err := s.Rule(ctx, owner)
	if err != nil {
		return nil, err
	}
	of, err := s.Records.EpisodesOf(ctx, owner, memory.IDs(statements))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(statements, func(a, b memory.Memory) int { return a.CreatedAt.Compare(b.CreatedAt) })
	left := map[string][]memory.Memory{}
	for _, m := range statements {
		age := db.Age{Type: m.Type, Domain: m.Domain, Importance: m.Importance, Pinned: m.Pinned}
		if e := of[m.ID]; e != "" && !rule.Keeps(age) {
			left[e] = append(left[e], m)
		}
	}
	all, err := s.Records.AllEpisodes(ctx, owner)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b db.Episode) int { return a.Began.Compare(b.Began) })
	for _, e := range all {
		passed := rule.Passed(e.AgentID, e.Ended, at)
		if len(left[e.ID]) < minGroup || passed < coreAge {
			continue
		}
		members, err := s.Records.EpisodeMembers(ctx, owner, []string{e.ID})
		if err != nil {
			return nil, err
		}
		found = append(found, stage(e.ID, left[e.ID], members, passed)...)
	}
	return found, nil
}

// stage returns the groups of an episode's memories that are left, if its age asks for a stage that it has not had yet.
// An episode that is too long for one prompt has core statements first.
func stage(id string, left []memory.Memory, members []db.EpisodeMember, passed time.Duration) (found []group) {
	isCondensed := false
	for _, m := range members {
		c := episodes.CoreOf(m.Memory)
		if c != nil && c.Pattern {
			return nil
		}
		isCondensed = isCondensed || c != nil
	}
	split := parts(left)
	switch isWhole := len(split) == 1 && len(split[0]) == len(left); {
	case len(split) == 0, !isCondensed && len(left) < minEpisode:
	case passed >= patternAge && (isCondensed || isWhole):
		found = []group{{split[0], 1, &episodes.Core{Episode: id, Pattern: true}}}
	case !isCondensed:
		for _, part := range split {
			found = append(found, group{part, coresOf(len(part)), &episodes.Core{Episode: id}})
		}
	}
	return found
}

// coresOf is how many core statements some statements have at most: three for ten.
func coresOf(statements int) int { return (3*statements + 9) / 10 }

// standFor dates a summary as the latest of its sources, and notes what it stands for.
func standFor(c *derivation.Conclusion, core episodes.Core) {
	latest := slices.MaxFunc(c.Sources, func(a, b memory.Memory) int { return a.CreatedAt.Compare(b.CreatedAt) })
	first := slices.MinFunc(c.Sources, func(a, b memory.Memory) int {
		return episodes.BeganAt(a).Compare(episodes.BeganAt(b))
	})
	c.At, core.From = latest.CreatedAt, episodes.BeganAt(first)
	c.Metadata, _ = json.Marshal(core) // an id, a time and a flag: cannot fail
}
