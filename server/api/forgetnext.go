package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/forgetting"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// DueCounter counts what a run of forgetting at an instant forgets; package forgetting implements it.
type DueCounter interface {
	Due(ctx context.Context, owner memory.Owner, at time.Time) (forgetting.Due, error)
}

// scheduledForgetting is the kind of the job that forgets the faded memories of all users.
const scheduledForgetting = "forgetting"

type forgetNextHandlers struct {
	counter  DueCounter
	users    UserLister
	schedule func() map[string]time.Time
	now      func() time.Time
}

func (h forgetNextHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/forget/next", memory.RoleRead, h.next)
}

type nextForgettingBody struct {
	At        time.Time `json:"at"`
	Scheduled bool      `json:"scheduled"`
	Users     []dueBody `json:"users"`
	Next      string    `json:"next_cursor,omitempty"`
}

type dueBody struct {
	UserID  string `json:"user_id"`
	Active  int    `json:"active"`
	Due     int    `json:"due"`
	Forgets int    `json:"forgets"`

	DueByType map[memory.Type]int `json:"due_by_type"`
}

// next counts for a page of users what the next run of forgetting forgets. Users without faded memories by then
// are left out.
func (h forgetNextHandlers) next(ctx context.Context, r *frame.Request) (any, error) {
	p := frame.Page{Limit: r.Limit(), Before: r.Cursor(true)}
	if err := r.Err(); err != nil {
		return nil, err
	}
	body := nextForgettingBody{Users: []dueBody{}}
	if body.At, body.Scheduled = h.schedule()[scheduledForgetting]; !body.Scheduled {
		body.At = memory.Instant(h.now())
	}
	users, err := h.users.Users(ctx, db.UserFilter{AppID: r.Key.AppID, After: p.After(), Limit: p.Limit})
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		due, err := h.counter.Due(ctx, memory.Owner{AppID: r.Key.AppID, UserID: u.UserID}, body.At)
		if err != nil {
			return nil, err
		}
		if due.Faded > 0 {
			body.Users = append(body.Users, dueBody{
				UserID: u.UserID, Active: due.Active, Due: due.Faded, Forgets: due.Forgets, DueByType: due.ByType,
			})
		}
	}
	if n := len(users); n == p.Limit {
		body.Next = r.NextCursor(frame.NamePosition(users[n-1].UserID), true)
	}
	return body, nil
}
