package hippocampus

import (
	"iter"
	"net/http"
)

// Pages iterates over the items of all pages of any listing, from the page of the
// cursor first on (nil: the first page). fetch asks for the page of a cursor; read
// returns a page's items and the cursor of the next page, nil after the last one. An
// error is the last element.
//
//	jobs := hippocampus.Pages(nil, func(cursor *string) (*http.Response, error) {
//		return client.API().ListJobs(ctx, &api.ListJobsParams{Cursor: cursor})
//	}, func(page *api.JobPage) ([]api.Job, *string) { return page.Jobs, page.NextCursor })
func Pages[P, T any](
	first *string, fetch func(cursor *string) (*http.Response, error), read func(*P) ([]T, *string),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := first; ; {
			page, err := Decode[P](fetch(cursor))
			if err != nil {
				yield(*new(T), err)
				return
			}
			var items []T
			items, cursor = read(page)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if cursor == nil {
				return
			}
		}
	}
}
