package mem0

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"hippocampus/internal/wire"
)

const (
	defaultPageSize = 100
	mostPageSize    = 1000
	// mostPage bounds the page's number; no list is as long.
	mostPage = 1_000_000
	// readAtOnce is the largest page of /v1.
	readAtOnce = 500
	// mostRead bounds how many memories are counted for the numbers of pages, which /v1 does not have.
	mostRead = 100_000
)

// page is a list in pages.
type page struct {
	Count    int     `json:"count"`
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	Results  any     `json:"results"`
}

func list(c *call) (any, error) {
	f := c.withQuery()
	names, expired, err := view(f)
	if err != nil {
		return nil, err
	}
	further, err := c.conditions(f)
	if err != nil {
		return nil, err
	}
	s, err := c.scopeOf(f, further...)
	if err != nil {
		return nil, err
	}
	number, err := f.whole("page", 1, 1, mostPage)
	if err != nil {
		return nil, err
	}
	size := "page_size"
	if c.form == own {
		size = "top_k"
	}
	length, err := f.whole(size, defaultPageSize, 0, mostPageSize)
	if err != nil {
		return nil, err
	}
	memories, err := c.all(s, expired)
	if err != nil {
		return nil, err
	}
	part, more := cut(memories, number, length)
	found := make([]shown, len(part))
	for i, m := range part {
		found[i] = c.show(m)
	}
	results, err := projected(found, names)
	if err != nil {
		return nil, err
	}
	if c.form == own || c.form == bare && f["page"] == nil {
		return c.results(results), nil
	}
	return page{
		Count: len(memories), Next: c.link(number+1, more), Previous: c.link(number-1, number > 1), Results: results,
	}, nil
}

// all returns the active memories of a scope, newest first, with or without those that have expired.
func (c *call) all(s scope, expired bool) ([]wire.Memory, error) {
	var memories []wire.Memory
	for _, p := range s.users {
		query, err := p.query()
		if err != nil {
			return nil, err
		}
		if !expired {
			query.Set("expired", "exclude")
		}
		for {
			var answer struct {
				Memories []wire.Memory `json:"memories"`
				Next     string        `json:"next_cursor"`
			}
			if err := c.ask(http.MethodGet, "/v1/memories?"+query.Encode(), nil, &answer); err != nil {
				return nil, err
			}
			memories = append(memories, answer.Memories...)
			if answer.Next == "" {
				break
			}
			if len(memories) > mostRead {
				return nil, invalid("filters", "choose more than %d memories, which cannot be counted for pages: "+
					"choose fewer, or use GET /v1/memories with its cursor", mostRead)
			}
			query.Set("cursor", answer.Next)
		}
	}
	if len(s.users) > 1 {
		slices.SortStableFunc(memories, func(a, b wire.Memory) int { return b.CreatedAt.Compare(a.CreatedAt) })
	}
	return memories, nil
}

// query returns the query parameters of a list in /v1.
func (p part) query() (url.Values, error) {
	query := url.Values{"user_id": {p.user}, "limit": {strconv.Itoa(readAtOnce)}}
	if p.filter == nil {
		return query, nil
	}
	filter, err := text(p.filter)
	query.Set("filter", filter)
	return query, err
}

// cut returns a page of a list, and whether more follows.
func cut[T any](list []T, number, length int) (part []T, more bool) {
	from := min((number-1)*length, len(list))
	to := min(from+length, len(list))
	return list[from:to], to < len(list)
}

// link is the path of another page of the same list; nil if there is no such page.
func (c *call) link(number int, exists bool) *string {
	if !exists {
		return nil
	}
	query := maps.Clone(c.query)
	query.Set("page", strconv.Itoa(number))
	link := c.path + "/?" + query.Encode()
	return &link
}
