package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// UserLister lists the users of an app; db.Counts implements it.
type UserLister interface {
	Users(ctx context.Context, f db.UserFilter) ([]db.UserCount, error)
	UserHoldings(ctx context.Context, owner memory.Owner) (db.UserHoldings, error)
}

type userHandlers struct{ lister UserLister }

type userBody struct {
	UserID   string    `json:"user_id"`
	Memories int       `json:"memories"`
	First    time.Time `json:"first_at"`
	Last     time.Time `json:"last_at"`
	LastTurn time.Time `json:"last_turn_at,omitzero"`
}

func (h userHandlers) register(r *routes) {
	r.add("GET /v1/users", memory.RoleRead, list[db.UserFilter, db.UserCount, userBody]{
		name:  "users",
		named: true,
		filter: func(r *request, p page) db.UserFilter {
			return db.UserFilter{AppID: r.key.AppID, Prefix: r.queryID("prefix"), After: p.after(), Limit: p.limit}
		},
		find:     h.lister.Users,
		body:     func(u db.UserCount) userBody { return userBody(u) },
		position: func(u db.UserCount) db.Position { return namePosition(u.UserID) },
	}.handle)
	r.add("GET /v1/users/:user_id", memory.RoleRead, h.get)
}

type holdingsBody struct {
	UserID   string                `json:"user_id"`
	Memories map[memory.Status]int `json:"memories"`
	Bytes    int                   `json:"bytes"`
	Turns    int                   `json:"turns"`
	LastTurn time.Time             `json:"last_turn_at,omitzero"`
}

func (h userHandlers) get(ctx context.Context, r *request) (any, error) {
	owner := r.owner("path.user_id", r.key, r.param("user_id"))
	if err := r.err(); err != nil {
		return nil, err
	}
	held, err := h.lister.UserHoldings(ctx, owner)
	return holdingsBody{
		UserID: owner.UserID, Memories: held.Memories, Bytes: held.Bytes, Turns: held.Turns, LastTurn: held.LastTurn,
	}, err
}
