package episodes

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Core is kept in the metadata of a summary that stands for statements of an episode. Such an episode is condensed: it
// keeps its id, and what is left of it is not grouped again.
type Core struct {
	Episode string    `json:"episode"`
	From    time.Time `json:"from"`              // of the first statement that it stands for
	Pattern bool      `json:"pattern,omitempty"` // it stands for what was left of the episode
}

// CoreOf reads the metadata of a memory; nil: it is not a core statement of an episode.
func CoreOf(m memory.Memory) *Core {
	var c Core
	if m.Type != memory.TypeSummary || json.Unmarshal(m.Metadata, &c) != nil || !memory.IsID(c.Episode) {
		return nil
	}
	return &c
}

// BeganAt is the time of a memory, or of the first statement that it stands for.
func BeganAt(m memory.Memory) time.Time {
	if c := CoreOf(m); c != nil && c.From.Before(m.CreatedAt) {
		return c.From
	}
	return m.CreatedAt
}

// condensed returns the core statements of episodes by their ids, and which condensed episodes memories are in.
func (s *Service) condensed(ctx context.Context, owner memory.Owner, docs []db.Document) (
	cores map[string]*Core, in map[string]string, err error,
) {
	var all, summaries []string
	for _, d := range docs {
		all = append(all, d.ID)
		if d.Type == memory.TypeSummary && len(d.DerivedFrom) > 0 && d.ConversationID == "" {
			summaries = append(summaries, d.ID)
		}
	}
	if len(summaries) == 0 {
		return nil, nil, nil
	}
	memories, err := s.Records.Hydrate(ctx, owner, summaries, nil)
	if err != nil {
		return nil, nil, err
	}
	cores, in = map[string]*Core{}, map[string]string{}
	closed := map[string]bool{}
	for _, m := range memories {
		if c := CoreOf(m); c != nil {
			cores[m.ID], closed[c.Episode] = c, true
		}
	}
	of, err := s.Records.EpisodesOf(ctx, owner, all)
	for id, episode := range of {
		if closed[episode] {
			in[id] = episode
		}
	}
	for id, c := range cores {
		in[id] = c.Episode
	}
	return cores, in, err
}
