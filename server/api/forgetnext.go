package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/forgetting"
	"hippocampus/internal/memory"
)

// DueCounter counts what a run of forgetting at an instant forgets; package forgetting implements it.
type DueCounter interface {
	Due(ctx context.Context, owner memory.Owner, at time.Time) (forgetting.Due, error)
}

// scheduledForgetting is the kind of the job that forgets what has faded of all users.
const scheduledForgetting = "forgetting"

type forgetNextHandlers struct {
	counter  DueCounter
	users    UserLister
	schedule func() map[string]time.Time
	now      func() time.Time
}

func (h forgetNextHandlers) register(r *routes) {
	r.add("GET /v1/forget/next", memory.RoleRead, h.next)
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
func (h forgetNextHandlers) next(ctx context.Context, r *request) (any, error) {
	p := page{limit: r.limit(), before: r.cursor(true)}
	if err := r.err(); err != nil {
		return nil, err
	}
	body := nextForgettingBody{Users: []dueBody{}}
	if body.At, body.Scheduled = h.schedule()[scheduledForgetting]; !body.Scheduled {
		body.At = memory.Instant(h.now())
	}
	users, err := h.users.Users(ctx, db.UserFilter{AppID: r.key.AppID, After: p.after(), Limit: p.limit})
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		due, err := h.counter.Due(ctx, memory.Owner{AppID: r.key.AppID, UserID: u.UserID}, body.At)
		if err != nil {
			return nil, err
		}
		if due.Faded > 0 {
			body.Users = append(body.Users, dueBody{
				UserID: u.UserID, Active: due.Active, Due: due.Faded, Forgets: due.Forgets, DueByType: due.ByType,
			})
		}
	}
	if n := len(users); n == p.limit {
		body.Next = formatCursor(namePosition(users[n-1].UserID), true)
	}
	return body, nil
}
