package episodes

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Episode is an episode as its memories are now.
type Episode struct {
	ID       string
	AgentID  string // of all its memories; empty: all agents share them
	Title    string
	From, To time.Time       // of its first and last statement
	Domains  []memory.Domain // of its memories, the most frequent first
	Theme    Theme
	Count    int             // of its memories
	Memories []memory.Memory // oldest first, without embeddings
	Ended    time.Time       // by which episodes are ordered; To, unless a memory has left since the episode was made

	Condensed Condensed
}

// Condensed is how many memories of an episode stand for statements that compression has condensed.
type Condensed struct {
	Cores    int `json:"cores"`    // core statements
	Patterns int `json:"patterns"` // what was left of the episode, as one memory
}

func condensedOf(memories []memory.Memory) (of Condensed) {
	for _, m := range memories {
		switch c := CoreOf(m); {
		case c == nil:
		case c.Pattern:
			of.Patterns++
		default:
			of.Cores++
		}
	}
	return of
}

// Theme is what similar episodes have in common. Its ID is empty if an episode has no theme.
type Theme struct{ ID, Title string }

// List returns a page of episodes, the latest first.
func (s *Service) List(ctx context.Context, f db.EpisodeFilter) ([]Episode, error) {
	rows, err := s.Records.ListEpisodes(ctx, f)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ids := make([]string, len(rows))
	for i, e := range rows {
		ids[i] = e.ID
	}
	members, err := s.Records.EpisodeMembers(ctx, f.Owner, ids)
	if err != nil {
		return nil, err
	}
	of, current := map[string][]memory.Memory{}, map[string]memory.Memory{}
	for _, m := range members {
		of[m.EpisodeID] = append(of[m.EpisodeID], m.Memory)
		current[m.ID] = m.Memory
	}
	labels := make([]label, len(rows))
	for i, e := range rows {
		if err := json.Unmarshal(e.Label, &labels[i]); err != nil {
			return nil, memory.Errorf(memory.KindInternal, "read the label of episode %s: %w", e.ID, err)
		}
	}
	if err := s.addWitnesses(ctx, f, labels, current); err != nil {
		return nil, err
	}
	var found []Episode
	for i, row := range rows {
		if len(of[row.ID]) == 0 {
			continue // its last memory has left since it was listed
		}
		e := Episode{ID: row.ID, AgentID: row.AgentID, Memories: of[row.ID], Count: len(of[row.ID]), Ended: row.Ended}
		first := slices.MinFunc(e.Memories, func(a, b memory.Memory) int { return BeganAt(a).Compare(BeganAt(b)) })
		e.From, e.To = BeganAt(first), e.Memories[len(e.Memories)-1].CreatedAt
		e.Domains, e.Condensed = domainsOf(e.Memories), condensedOf(e.Memories)
		e.Title = cmp.Or(labels[i].Name.title(current), titleOf(labels[i].hold(labels[i].Terms, current)))
		if e.Title == "" {
			e.Title = titleOfMemories(e.Memories)
		}
		if theme := titleOf(labels[i].hold(labels[i].Theme, current)); theme != "" {
			e.Theme = Theme{row.Theme, theme}
		}
		found = append(found, e)
	}
	return found, nil
}

// addWitnesses adds the memories of other episodes that the terms of themes are of.
func (s *Service) addWitnesses(
	ctx context.Context, f db.EpisodeFilter, labels []label, current map[string]memory.Memory,
) error {
	others := map[string]bool{}
	for _, l := range labels {
		for _, t := range l.Theme {
			for _, id := range t.Of {
				if _, known := current[id]; !known {
					others[id] = true
				}
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	of, err := s.Records.EpisodesOf(ctx, f.Owner, slices.Sorted(maps.Keys(others)))
	if err != nil {
		return err
	}
	episodes := slices.Compact(slices.Sorted(maps.Values(of)))
	members, err := s.Records.EpisodeMembers(ctx, f.Owner, episodes)
	for _, m := range members {
		if others[m.ID] {
			current[m.ID] = m.Memory
		}
	}
	return err
}

// hold returns the terms that a current memory still has.
func (l label) hold(terms []Term, current map[string]memory.Memory) (held []Term) {
	for _, t := range terms {
		if slices.ContainsFunc(t.Of, func(id string) bool {
			m, found := current[id]
			return found && t.isIn(m.Content)
		}) {
			held = append(held, t)
		}
	}
	return held
}

// isIn reports whether a statement has the term.
func (t Term) isIn(content string) bool {
	if strings.ContainsFunc(t.Text, text.IsUnspaced) {
		return strings.Contains(content, t.Text)
	}
	_, found := usesOf(content)[text.Join(text.Lexemes(t.Text))]
	return found
}

// titleOfMemories is the title of an episode whose terms have all left with their memories.
func titleOfMemories(memories []memory.Memory) string {
	items := make([]item, len(memories))
	for i, m := range memories {
		items[i] = item{id: m.ID, content: m.Content}
	}
	if title := titleOf(corpusOf(items).termsOf(items)); title != "" {
		return title
	}
	return memory.Clip(memories[0].Content, maxTitle)
}

const maxTitle = 60 // characters of a statement that is a title

func domainsOf(memories []memory.Memory) []memory.Domain {
	counts := map[memory.Domain]int{}
	for _, m := range memories {
		counts[m.Domain]++
	}
	return slices.SortedFunc(maps.Keys(counts), func(a, b memory.Domain) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
}

// One returns an episode. KindNotFound: the user has no such episode, or the agent does not see it.
func (s *Service) One(ctx context.Context, owner memory.Owner, id, seenBy string) (Episode, error) {
	var found []Episode
	var err error
	if memory.IsID(id) {
		found, err = s.List(ctx, db.EpisodeFilter{Owner: owner, SeenBy: seenBy, IDs: []string{id}, Limit: 1})
	}
	if err == nil && len(found) == 0 {
		err = memory.Errorf(memory.KindNotFound, "the user has no such episode: its memories may be gone, or in another "+
			"episode since; see GET /v1/users/{user_id}/episodes")
	}
	if err != nil {
		return Episode{}, err
	}
	return found[0], nil
}

// neighbours is how many memories of its episode before a memory, and how many after it, are near it.
const neighbours = 2

// Of returns the episodes of memories by their ids. Each has only those of its memories that are nearest to the memory
// in time, at most two before and two after it, without the given memories, without what has expired, and without those
// from after an instant, unless that is zero.
func (s *Service) Of(
	ctx context.Context, owner memory.Owner, memories []string, until time.Time,
) (map[string]Episode, error) {
	of, err := s.Records.EpisodesOf(ctx, owner, memories)
	if err != nil || len(of) == 0 {
		return nil, err
	}
	ids := slices.Compact(slices.Sorted(maps.Values(of)))
	list, err := s.List(ctx, db.EpisodeFilter{Owner: owner, IDs: ids, Limit: len(ids)})
	found, now := map[string]Episode{}, s.Now()
	for _, e := range list {
		for place, m := range e.Memories {
			if of[m.ID] != "" {
				near := e
				near.Memories = nearest(e.Memories, place, func(m memory.Memory) bool {
					return of[m.ID] == "" && !m.HasExpired(now) && (until.IsZero() || !m.CreatedAt.After(until))
				})
				found[m.ID] = near
			}
		}
	}
	return found, err
}

// nearest returns the neighbours of a place that are wanted.
func nearest(all []memory.Memory, place int, wanted func(memory.Memory) bool) (near []memory.Memory) {
	for i := place - 1; i >= 0 && len(near) < neighbours; i-- {
		if wanted(all[i]) {
			near = append(near, all[i])
		}
	}
	slices.Reverse(near)
	before := len(near)
	for i := place + 1; i < len(all) && len(near) < before+neighbours; i++ {
		if wanted(all[i]) {
			near = append(near, all[i])
		}
	}
	return near
}
