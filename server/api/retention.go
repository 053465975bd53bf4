package api

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"hippocampus/forgetting"
)

// Counting retention reads every memory of an app: it is kept for a while.
const (
	retentionTTL  = time.Minute
	retentionKept = 1000 // apps
)

// retentionBody is how well an app's active memories are retained.
type retentionBody struct {
	Bands  []bandBody `json:"bands"`
	Exempt int        `json:"exempt"`
	At     time.Time  `json:"at"`
}

type bandBody struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Memories int     `json:"memories"`
}

// retention counts, and remembers the counts of each app.
type retention struct {
	forgetter Forgetter
	now       func() time.Time
	kept      *lru.Cache[string, retentionBody] // by app
}

func newRetention(forgetter Forgetter, now func() time.Time) *retention {
	kept, _ := lru.New[string, retentionBody](retentionKept) // fails only for a size below 1
	return &retention{forgetter, now, kept}
}

func (r *retention) of(ctx context.Context, appID string) (retentionBody, error) {
	now := r.now()
	if body, ok := r.kept.Get(appID); ok && now.Sub(body.At) < retentionTTL {
		return body, nil
	}
	counts, exempt, err := r.forgetter.Distribution(ctx, appID)
	if err != nil {
		return retentionBody{}, err
	}
	body := retentionBody{Exempt: exempt, At: now.UTC()}
	from := 0.0
	for i, to := range forgetting.Bands {
		body.Bands = append(body.Bands, bandBody{from, to, counts[i]})
		from = to
	}
	r.kept.Add(appID, body)
	return body, nil
}
