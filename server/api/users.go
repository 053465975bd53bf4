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

// ZoneKeeper keeps the time zones of users; package zones implements it.
type ZoneKeeper interface {
	// Show returns what is known of the zone of a user, and the zone that is used.
	Show(ctx context.Context, owner memory.Owner) (z memory.UserZone, used *time.Location, err error)
	// Choose sets the zone of a user by its name; with "" the user has no chosen zone.
	Choose(ctx context.Context, owner memory.Owner, name string) (z memory.UserZone, used *time.Location, err error)
}

type userHandlers struct {
	lister UserLister
	zones  ZoneKeeper
}

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
	r.add("PUT /v1/users/:user_id", memory.RoleWrite, withBody(h.put))
}

type holdingsBody struct {
	zoneBody
	Memories map[memory.Status]int `json:"memories"`
	Bytes    int                   `json:"bytes"`
	Turns    int                   `json:"turns"`
	LastTurn time.Time             `json:"last_turn_at,omitzero"`
}

// zoneBody is what is known of the time zone of a user.
type zoneBody struct {
	UserID   string `json:"user_id"`
	TimeZone string `json:"time_zone,omitempty"`   // as it was chosen
	Offset   string `json:"last_offset,omitempty"` // of the last turn whose time had one
	Zone     string `json:"zone"`                  // that is used
}

func zoneOf(z memory.UserZone, used *time.Location) zoneBody {
	return zoneBody{UserID: z.UserID, TimeZone: z.Chosen, Offset: z.Offset, Zone: used.String()}
}

func (h userHandlers) get(ctx context.Context, r *request) (any, error) {
	owner, err := r.pathUser()
	if err != nil {
		return nil, err
	}
	held, err := h.lister.UserHoldings(ctx, owner)
	if err != nil {
		return nil, err
	}
	z, used, err := h.zones.Show(ctx, owner)
	if err != nil {
		return nil, err
	}
	return holdingsBody{
		zoneBody: zoneOf(z, used),
		Memories: held.Memories, Bytes: held.Bytes, Turns: held.Turns, LastTurn: held.LastTurn,
	}, nil
}

type userRequest struct {
	TimeZone string `json:"time_zone"`
}

func (h userHandlers) put(ctx context.Context, r *request, body userRequest) (any, error) {
	owner, _ := r.pathUser() // its fault is among those of the request
	if body.TimeZone != "" {
		r.note("time_zone", memory.CheckZone(body.TimeZone))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	z, used, err := h.zones.Choose(ctx, owner, body.TimeZone)
	if err != nil {
		return nil, err
	}
	return zoneOf(z, used), nil
}
