package mem0

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// entityShown is a user in mem0's form. Agents and runs belong to users here, and have no list of their own.
type entityShown struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Type      string         `json:"type"`
	Total     int            `json:"total_memories"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	Owner     string         `json:"owner"`
	Metadata  map[string]any `json:"metadata"`
}

func listEntities(c *call) (any, error) {
	f := c.withQuery()
	number, err := f.whole("page", 1, 1, mostPage)
	if err != nil {
		return nil, err
	}
	length, err := f.whole("page_size", defaultPageSize, 0, mostPageSize)
	if err != nil {
		return nil, err
	}
	users, err := c.users()
	if err != nil {
		return nil, err
	}
	if c.form == own {
		return users, nil
	}
	part, more := cut(users, number, length)
	return page{
		Count: len(users), Next: c.link(number+1, more), Previous: c.link(number-1, number > 1), Results: part,
	}, nil
}

// users returns the app's users that have active memories.
func (c *call) users() ([]entityShown, error) {
	users := []entityShown{}
	query := url.Values{"limit": {fmt.Sprint(readAtOnce)}}
	for {
		var answer struct {
			Users []struct {
				UserID   string    `json:"user_id"`
				Memories int       `json:"memories"`
				First    time.Time `json:"first_at"`
				Last     time.Time `json:"last_at"`
			} `json:"users"`
			Next string `json:"next_cursor"`
		}
		if err := c.ask(http.MethodGet, "/v1/users?"+query.Encode(), nil, &answer); err != nil {
			return nil, err
		}
		for _, u := range answer.Users {
			users = append(users, entityShown{
				ID: u.UserID, Name: u.UserID, Type: "user", Total: u.Memories, CreatedAt: u.First, UpdatedAt: u.Last,
				Owner: c.app, Metadata: map[string]any{},
			})
		}
		if answer.Next == "" {
			return users, nil
		}
		if len(users) > mostRead {
			return nil, invalid("page", "cannot be counted: there are more than %d users: use GET /v1/users with its cursor",
				mostRead)
		}
		query.Set("cursor", answer.Next)
	}
}

// deleteEntity erases a user. Agents, runs and apps span users here, and are not erased at once.
func deleteEntity(c *call) (any, error) {
	switch kind, name := c.ids[0], c.ids[1]; kind {
	case "user", "users":
		if err := c.erase(name); err != nil {
			return nil, err
		}
		return message("Entity deleted successfully!"), nil
	case "agent", "run", "app":
		return nil, refuse(http.StatusNotImplemented, fmt.Sprintf("only a user is deleted as an entity here. For a user's "+
			"memories of an agent or a run, use DELETE %s/v1/memories/?user_id=U&%s_id=%s", prefix, kind, url.QueryEscape(name)))
	}
	return nil, refuse(http.StatusNotFound, "there is no such type of entity: use user")
}

// erase removes a user for good.
func (c *call) erase(user string) error {
	return c.ask(http.MethodDelete, "/v1/users/"+url.PathEscape(user), nil, nil)
}

// reset erases every user of the app that has memories.
func reset(c *call) (any, error) {
	users, err := c.users()
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if err := c.erase(u.ID); err != nil {
			return nil, err
		}
	}
	return message("All memories reset"), nil
}
