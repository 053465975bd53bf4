package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
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
	modes  ModeKeeper
}

type userBody struct {
	UserID   string    `json:"user_id"`
	Memories int       `json:"memories"`
	First    time.Time `json:"first_at"`
	Last     time.Time `json:"last_at"`
	LastTurn time.Time `json:"last_turn_at,omitzero"`
}

func (h userHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/users", memory.RoleRead, frame.List[db.UserFilter, db.UserCount, userBody]{
		Name:  "users",
		Named: true,
		Filter: func(r *frame.Request, p frame.Page) db.UserFilter {
			return db.UserFilter{AppID: r.Key.AppID, Prefix: r.QueryID("prefix"), After: p.After(), Limit: p.Limit}
		},
		Find:     h.lister.Users,
		Body:     func(u db.UserCount) userBody { return userBody(u) },
		Position: func(u db.UserCount) db.Position { return frame.NamePosition(u.UserID) },
	}.Handle)
	r.Add("GET /v1/users/:user_id", memory.RoleRead, h.get)
	r.Add("GET /v1/users/:user_id/settings", memory.RoleRead, h.getSettings)
	r.Add("PUT /v1/users/:user_id", memory.RoleWrite, frame.WithBody(h.put))
}

type holdingsBody struct {
	settingsBody
	Memories map[memory.Status]int `json:"memories"`
	Bytes    int                   `json:"bytes"`
	Turns    int                   `json:"turns"`
	LastTurn time.Time             `json:"last_turn_at,omitzero"`
}

// settingsBody is what is set and known of a user.
type settingsBody struct {
	UserID   string `json:"user_id"`
	TimeZone string `json:"time_zone,omitempty"`   // the chosen zone
	Offset   string `json:"last_offset,omitempty"` // of the last turn whose time had one
	Zone     string `json:"zone"`                  // that is used
	Memory   string `json:"memory"`                // the name of a mode
}

func settingsOf(z memory.UserZone, used *time.Location, mode memory.Mode) settingsBody {
	return settingsBody{
		UserID: z.UserID, TimeZone: z.Chosen, Offset: z.Offset, Zone: used.String(), Memory: mode.String(),
	}
}

// settings reads what is set of a user.
func (h userHandlers) settings(ctx context.Context, owner memory.Owner) (settingsBody, error) {
	z, used, err := h.zones.Show(ctx, owner)
	if err != nil {
		return settingsBody{}, err
	}
	set, err := h.modes.Of(ctx, owner, "")
	return settingsOf(z, used, set.Mode), err
}

func (h userHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	owner, err := r.PathUser()
	if err != nil {
		return nil, err
	}
	held, err := h.lister.UserHoldings(ctx, owner)
	if err != nil {
		return nil, err
	}
	settings, err := h.settings(ctx, owner)
	if err != nil {
		return nil, err
	}
	return holdingsBody{
		settingsBody: settings,
		Memories:     held.Memories, Bytes: held.Bytes, Turns: held.Turns, LastTurn: held.LastTurn,
	}, nil
}

func (h userHandlers) getSettings(ctx context.Context, r *frame.Request) (any, error) {
	owner, err := r.PathUser()
	if err != nil {
		return nil, err
	}
	return h.settings(ctx, owner)
}

type userRequest struct {
	TimeZone *string `json:"time_zone"`
	Memory   string  `json:"memory"` // empty: it stays as it is
}

func (h userHandlers) put(ctx context.Context, r *frame.Request, body userRequest) (any, error) {
	owner, _ := r.PathUser() // its fault is noted among the request's faults
	if body.TimeZone != nil && *body.TimeZone != "" {
		r.Note("time_zone", memory.CheckZone(*body.TimeZone))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if body.Memory != "" {
		if err := h.modes.Set(ctx, owner, "", memory.ModeNamed(body.Memory)); err != nil {
			return nil, err
		}
	}
	if body.TimeZone != nil {
		if _, _, err := h.zones.Choose(ctx, owner, *body.TimeZone); err != nil {
			return nil, err
		}
	}
	return h.settings(ctx, owner)
}
