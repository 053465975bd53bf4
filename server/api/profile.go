package api

import (
	"context"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// profileHandlers answers with what is known of a user, without a query.
type profileHandlers struct {
	RecallParts
	slots *frame.Slots
	now   func() time.Time
}

func (h profileHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/users/:user_id/profile", memory.RoleRead, h.slots.Bound(h.get))
}

const defaultProfile = 30 // memories

type profileBody struct {
	UserID   string            `json:"user_id"`
	At       time.Time         `json:"at"`
	Memories []profileItemBody `json:"memories"`
}

type profileItemBody struct {
	Section     recall.Section `json:"section"`
	Score       float64        `json:"score"`
	Memory      wire.Memory    `json:"memory"`
	DerivedFrom []wire.Memory  `json:"derived_from"`
}

func (h profileHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	q := recall.Query{
		Owner: r.Owner("path.user_id", r.Key, r.PathValue("user_id")), AgentID: r.QueryID("agent_id"),
		At: r.QueryTime("at"), AsOf: r.QueryTime("as_of"), Limit: r.QueryInteger("limit", defaultProfile),
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if q.At.IsZero() {
		q.At = memory.Instant(h.now())
	}
	chosen, err := modeFor(ctx, r, h.Modes, q.Owner, "")
	if err != nil {
		return nil, err
	}
	if !chosen.Recalls() {
		return profileBody{UserID: q.Owner.UserID, At: q.At, Memories: []profileItemBody{}}, nil
	}
	standing, err := h.Recaller.Standing(ctx, q)
	if err != nil {
		return nil, err
	}
	ids := frame.BodiesOf(standing, func(s recall.Standing) string { return s.Memory.ID })
	sources, err := h.Sources.Sources(ctx, q.Owner, ids)
	if err != nil {
		return nil, err
	}
	return profileBody{
		UserID: q.Owner.UserID, At: q.At,
		Memories: frame.BodiesOf(standing, func(s recall.Standing) profileItemBody {
			return profileItemBody{
				Section: s.Section, Score: s.Score, Memory: wire.MemoryOf(s.Memory),
				DerivedFrom: frame.NotNil(frame.BodiesOf(sources[s.Memory.ID], wire.MemoryOf)),
			}
		}),
	}, nil
}
