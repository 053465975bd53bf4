package api

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/forgetting"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// StatsParts are the parts behind the route of statistics.
type StatsParts struct {
	Counter   StatsCounter
	Retention RetentionCounter
	Embedding func() Embedding                                             // nil: the answer omits it
	Prompts   func() map[string]PromptCounts                               // by prompt; nil: the answer omits them
	Tokens    func(ctx context.Context, appID string) (TokenCounts, error) // nil: the answer omits them
}

// StatsCounter counts the rows of an app; db.Counts implements it.
type StatsCounter interface {
	Stats(ctx context.Context, appID string) (db.Stats, error)
	ShelfLives(ctx context.Context, of memory.Owner, at time.Time) (db.ShelfLives, error)
}

// RetentionCounter counts active memories by their retention; package forgetting implements it.
type RetentionCounter interface {
	AppDistribution(ctx context.Context, appID string) (forgetting.Distribution, error)
	UserDistribution(ctx context.Context, owner memory.Owner) (forgetting.Distribution, error)
}

type statsHandlers struct {
	StatsParts
	feedback  FeedbackKeeper
	retention *retention
}

func (h statsHandlers) register(r *frame.Routes) { r.Add("GET /v1/stats", memory.RoleRead, h.stats) }

// statsBody counts the rows of an app; kinds without rows are omitted.
type statsBody struct {
	AppID      string                     `json:"app_id"`
	Users      int                        `json:"users"`
	Memories   map[memory.Status]int      `json:"memories"`
	Domains    map[memory.Domain]int      `json:"domains"`
	Types      map[memory.Type]int        `json:"types"`
	Turns      map[memory.TurnStatus]int  `json:"turns"`
	Candidates map[memory.Verdict]int     `json:"candidates"`
	Vectors    map[memory.VectorState]int `json:"vectors"`
	ShelfLives shelfLivesBody             `json:"shelf_lives"`
	Retention  retentionBody              `json:"retention"`
	Feedback   feedbackStats              `json:"feedback"`
	User       *userStatsBody             `json:"user,omitempty"`
	Embedding  *Embedding                 `json:"embedding,omitempty"`
	Prompts    map[string]PromptCounts    `json:"prompts,omitempty"`
	Tokens     *TokenCounts               `json:"tokens,omitempty"`
}

// userStatsBody is the part of the answer about the user whom the request names.
type userStatsBody struct {
	UserID     string         `json:"user_id"`
	ShelfLives shelfLivesBody `json:"shelf_lives"`
	Retention  retentionBody  `json:"retention"`
}

// shelfLivesBody counts active memories that have an end.
type shelfLivesBody struct {
	Limited int `json:"limited"`
	Ended   int `json:"ended"`
}

// Embedding names the models that memories are embedded by.
type Embedding struct {
	Serving   string `json:"serving"`
	Target    string `json:"target"`    // the model that is to serve
	Remaining int    `json:"remaining"` // active memories of all apps that the target has not embedded
}

// PromptCounts is the use of one prompt by this process since its start.
type PromptCounts struct {
	Calls        int     `json:"calls"`
	Failed       int     `json:"failed"`
	TokensIn     int     `json:"tokens_in"`
	TokensCached int     `json:"tokens_cached"` // of TokensIn
	TokensOut    int     `json:"tokens_out"`
	Salvaged     int     `json:"salvaged"`
	Refused      int     `json:"refused"`
	Seconds      float64 `json:"seconds"`
}

// TokenCounts is what models have used for the app today.
type TokenCounts struct {
	Day       string `json:"day"` // in UTC
	Chat      int    `json:"chat"`
	Embedding int    `json:"embedding"`
	ChatQuota int    `json:"chat_quota,omitempty"`
}

func (h statsHandlers) stats(ctx context.Context, r *frame.Request) (any, error) {
	userID := r.QueryID("user_id")
	if err := r.Err(); err != nil {
		return nil, err
	}
	var n db.Stats
	var all retentionBody
	var limited db.ShelfLives
	var user *userStatsBody
	var tokens *TokenCounts
	var given map[memory.FeedbackKind]int
	now := h.retention.now()
	group, ctx := errgroup.WithContext(ctx) // each of them reads many rows
	group.Go(func() (err error) {
		n, err = h.Counter.Stats(ctx, r.Key.AppID)
		return err
	})
	group.Go(func() (err error) {
		limited, err = h.Counter.ShelfLives(ctx, memory.Owner{AppID: r.Key.AppID}, now)
		return err
	})
	group.Go(func() (err error) {
		all, err = h.retention.of(ctx, r.Key.AppID)
		return err
	})
	group.Go(func() (err error) {
		given, err = h.feedback.Count(ctx, memory.Owner{AppID: r.Key.AppID}, "")
		return err
	})
	if h.Tokens != nil {
		group.Go(func() error {
			used, err := h.Tokens(ctx, r.Key.AppID)
			tokens = &used
			return err
		})
	}
	if userID != "" {
		group.Go(func() error {
			owner := memory.Owner{AppID: r.Key.AppID, UserID: userID}
			d, err := h.Retention.UserDistribution(ctx, owner)
			if err != nil {
				return err
			}
			limited, err := h.Counter.ShelfLives(ctx, owner, now)
			user = &userStatsBody{userID, shelfLivesBody(limited), retentionOf(d, h.retention.now())}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	body := statsBody{
		AppID: r.Key.AppID, Users: n.Users,
		Memories: mapNotNil(n.Memories), Domains: mapNotNil(n.Domains), Types: mapNotNil(n.Types),
		Turns: mapNotNil(n.Turns), Candidates: mapNotNil(n.Candidates), Vectors: mapNotNil(n.Vectors),
		ShelfLives: shelfLivesBody(limited), Retention: all, User: user, Tokens: tokens,
		Feedback: feedbackStatsOf(given),
	}
	if h.Embedding != nil {
		embedding := h.Embedding()
		body.Embedding = &embedding
	}
	if h.Prompts != nil {
		body.Prompts = h.Prompts()
	}
	return body, nil
}

// mapNotNil makes a nil map an empty one, whose JSON is {}.
func mapNotNil[K comparable](counts map[K]int) map[K]int {
	if counts == nil {
		return map[K]int{}
	}
	return counts
}

// Counting retention reads every memory of an app, so the counts are cached.
const (
	retentionTTL  = time.Minute
	retentionApps = 1000 // cached
)

// retentionBody counts active memories by their retention.
type retentionBody struct {
	Bands     []bandBody          `json:"bands"`
	Tiers     map[string]tierBody `json:"tiers"`
	Exempt    int                 `json:"exempt"`
	OverShare int                 `json:"over_share"`
	At        time.Time           `json:"at"`
}

type bandBody struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Memories int     `json:"memories"`
}

type tierBody struct {
	Memories  int     `json:"memories"`
	Retention float64 `json:"retention"`
}

func retentionOf(d forgetting.Distribution, at time.Time) retentionBody {
	body := retentionBody{
		Tiers: map[string]tierBody{
			"low": tierBody(d.Low), "medium": tierBody(d.Medium), "high": tierBody(d.High),
		},
		Exempt: d.Exempt, OverShare: d.OverShare, At: at.UTC(),
	}
	from := 0.0
	for i, to := range forgetting.Bands {
		body.Bands = append(body.Bands, bandBody{from, to, d.Bands[i]})
		from = to
	}
	return body
}

// retention caches the retention counts of each app.
type retention struct {
	counter RetentionCounter
	now     func() time.Time
	cache   *lru.Cache[string, retentionBody] // by app
}

func newRetention(counter RetentionCounter, now func() time.Time) *retention {
	cache, _ := lru.New[string, retentionBody](retentionApps) // fails only for a size below 1
	return &retention{counter, now, cache}
}

func (r *retention) of(ctx context.Context, appID string) (retentionBody, error) {
	now := r.now()
	if body, ok := r.cache.Get(appID); ok && now.Sub(body.At) < retentionTTL {
		return body, nil
	}
	d, err := r.counter.AppDistribution(ctx, appID)
	if err != nil {
		return retentionBody{}, err
	}
	body := retentionOf(d, now)
	r.cache.Add(appID, body)
	return body, nil
}
