package db

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// Episode is some memories of a user that belong together by time and meaning; see reflection/episodes.
type Episode struct {
	ID           string
	Owner        memory.Owner
	AgentID      string // of all its memories; empty: all agents share them
	Theme        string // an id that the episodes of one theme have in common; empty: it has no theme
	Began, Ended time.Time
	Basis        string          // changes with what it was made of
	Label        json.RawMessage // an object; its content is of reflection/episodes
	Members      []string        // ids of memories, written by ChangeEpisodes alone
}

// EpisodeFilter chooses episodes. Empty fields do not restrict.
type EpisodeFilter struct {
	Owner        memory.Owner // required
	SeenBy       string       // this agent's and those that all agents share
	Since, Until time.Time    // some of [Began, Ended] is in [Since, Until)
	Theme        string
	IDs          []string
	Before       *Position // strictly older than this, in (Ended, ID) order
	Limit        int       // required, 1..memory.MaxPage
}

// EpisodeMember is a current memory of an episode.
type EpisodeMember struct {
	EpisodeID string
	memory.Memory
}

// EpisodeState says what the episodes of an owner were made of.
type EpisodeState struct {
	Made    int64 // the revision of the owner's memories then; 0: they were never made
	Current int64 // the revision now
}

// Episodes reads episodes. A memory is a current member of an episode as long as it is active and is not a message from
// which a superseded memory was derived. What has expired stays: it was so then. An episode without a current member is
// not found.
type Episodes interface {
	// ListEpisodes pages through episodes, the latest first.
	ListEpisodes(ctx context.Context, f EpisodeFilter) ([]Episode, error)
	// EpisodeMembers returns the current members of episodes of the owner, oldest first, without embeddings.
	EpisodeMembers(ctx context.Context, owner memory.Owner, ids []string) ([]EpisodeMember, error)
	// EpisodesOf returns the ids of the episodes that memories of the owner are in, by the ids of the memories.
	EpisodesOf(ctx context.Context, owner memory.Owner, memories []string) (map[string]string, error)
	// AllEpisodes lists all episodes that are stored of an owner, by id, also those without current members.
	AllEpisodes(ctx context.Context, owner memory.Owner) ([]Episode, error)
	EpisodeState(ctx context.Context, owner memory.Owner) (EpisodeState, error)
}

// EpisodeTx changes the episodes of a user. A deletion of memories deletes their episodes, and those of the same
// themes, since their labels have words of the memories.
type EpisodeTx interface {
	// ChangeEpisodes deletes the episodes with the ids gone, then replaces or adds some, and notes that all episodes are
	// made of a revision. Members that do not exist any more are left out.
	ChangeEpisodes(ctx context.Context, gone []string, changed []Episode, revision int64) error
	// LabelEpisode replaces the label of an episode with the ID and the Basis of e. Without such an episode, it does
	// nothing.
	LabelEpisode(ctx context.Context, e Episode) error
}
