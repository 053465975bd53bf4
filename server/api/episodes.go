package api

import (
	"context"
	"time"

	"hippocampus/assembly"
	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/recall"
	"hippocampus/reflection/episodes"
	"hippocampus/server/frame"
)

// EpisodeKeeper makes and reads the episodes of users; reflection/episodes implements it.
type EpisodeKeeper interface {
	List(ctx context.Context, f db.EpisodeFilter) ([]episodes.Episode, error)
	One(ctx context.Context, owner memory.Owner, id, seenBy string) (episodes.Episode, error)
	// Of returns the episodes of memories, each with the memories next to it until an instant.
	Of(ctx context.Context, owner memory.Owner, memories []string, until time.Time) (map[string]episodes.Episode, error)
	// Answering returns the episode that clearly answers words best, if there is one; answers says how well memories do.
	Answering(ctx context.Context, owner memory.Owner, seenBy string, answers map[string]float64) (
		*episodes.Episode, error)
	Make(ctx context.Context, owner memory.Owner) (episodes.Made, error)
}

type episodeHandlers struct {
	keeper EpisodeKeeper
	slots  *frame.Slots
}

func (h episodeHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/users/:user_id/episodes", memory.RoleRead, h.slots.Bound(frame.List[
		db.EpisodeFilter, episodes.Episode, episodeBody]{
		Name: "episodes",
		Filter: func(r *frame.Request, p frame.Page) db.EpisodeFilter {
			f := db.EpisodeFilter{
				Owner:  r.Owner("path.user_id", r.Key, r.PathValue("user_id")),
				SeenBy: r.QueryID("agent_id"), Theme: themeIn(r), Before: p.Before, Limit: p.Limit,
			}
			f.Since, f.Until = r.Window("query.", r.Query.Get("since"), r.Query.Get("until"))
			return f
		},
		Find:     h.keeper.List,
		Body:     episodeOf,
		Position: func(e episodes.Episode) db.Position { return db.Position{At: e.Ended, ID: e.ID} },
	}.Handle))
	r.Add("GET /v1/users/:user_id/episodes/:episode_id", memory.RoleRead, h.slots.Bound(h.one))
	r.Add("POST /v1/users/:user_id/episodes", memory.RoleWrite, h.slots.Bound(h.remake))
}

// themeIn reads the id of a theme from the query.
func themeIn(r *frame.Request) string {
	id := r.Query.Get("theme")
	if id != "" && !memory.IsID(id) {
		r.Note("query.theme", "is not the id of a theme")
	}
	return id
}

type episodeBody struct {
	ID      string          `json:"id"`
	AgentID string          `json:"agent_id,omitempty"`
	Title   string          `json:"title"`
	From    time.Time       `json:"from"`
	To      time.Time       `json:"to"`
	Count   int             `json:"count"`
	Domains []memory.Domain `json:"domains"`
	Theme   *themeBody      `json:"theme,omitempty"`

	Condensed *episodes.Condensed `json:"condensed,omitempty"`
}

type themeBody struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func episodeOf(e episodes.Episode) episodeBody {
	body := episodeBody{
		ID: e.ID, AgentID: e.AgentID, Title: e.Title, From: e.From, To: e.To, Count: e.Count, Domains: e.Domains,
	}
	if e.Condensed != (episodes.Condensed{}) {
		body.Condensed = &e.Condensed
	}
	if e.Theme.ID != "" {
		theme := themeBody(e.Theme)
		body.Theme = &theme
	}
	return body
}

type openedBody struct {
	episodeBody
	Memories []wire.Memory `json:"memories"`
}

func openedOf(e episodes.Episode) openedBody {
	return openedBody{episodeOf(e), frame.BodiesOf(e.Memories, wire.MemoryOf)}
}

func (h episodeHandlers) one(ctx context.Context, r *frame.Request) (any, error) {
	owner, err := r.PathUser()
	if err != nil {
		return nil, err
	}
	agent := r.QueryID("agent_id")
	if err := r.Err(); err != nil {
		return nil, err
	}
	e, err := h.keeper.One(ctx, owner, r.PathValue("episode_id"), agent)
	if err != nil {
		return nil, err
	}
	return openedOf(e), nil
}

func (h episodeHandlers) remake(ctx context.Context, r *frame.Request) (any, error) {
	owner, err := r.PathUser()
	if err != nil {
		return nil, err
	}
	return h.keeper.Make(ctx, owner)
}

// titledEpisode names an episode that a context opened.
type titledEpisode struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// searched is how many memories are recalled to find an episode.
const searched = 20

// open has a context open the episode with an id, or the one that clearly answers words best. nil: there is no such
// one, or nothing is to be recalled. KindNotFound: the user has no episode with the id.
func (h contextHandlers) open(ctx context.Context, ask *assembly.Request, idOrWords string) (*titledEpisode, error) {
	q := ask.Query
	chosen, err := h.Modes.Of(ctx, q.Owner, ask.ConversationID)
	if err != nil {
		return nil, err
	}
	if q.Memory = memory.Strictest(q.Memory, chosen); !q.Memory.Recalls() {
		return nil, nil
	}
	var opened *episodes.Episode
	if memory.IsID(idOrWords) {
		e, err := h.Episodes.One(ctx, q.Owner, idOrWords, q.AgentID)
		if err != nil {
			return nil, err
		}
		opened = &e
	} else {
		answer, err := h.Recaller.Recall(ctx, recall.Query{
			Owner: q.Owner, AgentID: q.AgentID, Text: idOrWords, At: q.At, Zone: q.Zone, Memory: q.Memory, Limit: searched,
			NoTouch: true, NoRoute: true, NoRecollection: true, IncludeExpired: true,
			Weights: &recall.Weights{Relevance: 1}, // how long ago an episode was must not matter
		})
		if err != nil {
			return nil, err
		}
		answers := map[string]float64{}
		for _, m := range answer.Memories {
			answers[m.Memory.ID] = m.Relevance * m.Confidence
		}
		if opened, err = h.Episodes.Answering(ctx, q.Owner, q.AgentID, answers); err != nil {
			return nil, err
		}
	}
	if opened == nil {
		return nil, nil
	}
	ask.Episode, ask.Query.IncludeExpired = opened.Memories, true
	return &titledEpisode{opened.ID, opened.Title}, nil
}
