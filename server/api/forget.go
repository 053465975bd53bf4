package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"hippocampus/forgetting"
	"hippocampus/internal/memory"
)

// Forgetter lets memories fade; package forgetting implements it.
type Forgetter interface {
	Preview(ctx context.Context, owner memory.Owner, at time.Time) (forgetting.Report, error)
	Run(ctx context.Context, owner memory.Owner, cause string, whole bool) (forgetting.Report, error)
	// Distribution counts an app's active memories in each of forgetting.Bands.
	Distribution(ctx context.Context, appID string) (counts []int, exempt int, err error)
}

const defaultFading = 100 // memories listed

type forgetRequest struct {
	UserID string   `json:"user_id"`
	DryRun *bool    `json:"dry_run"`
	At     string   `json:"at"`
	Limit  *int     `json:"limit"`
	Tags   []string `json:"tags"`
	Whole  bool     `json:"whole"`
}

type forgetBody struct {
	DryRun    bool         `json:"dry_run"`
	At        time.Time    `json:"at"`
	Active    int          `json:"active"`
	Due       int          `json:"due"`
	Stopped   string       `json:"stopped,omitempty"`
	Memories  []fadingBody `json:"memories"`
	Forgotten []string     `json:"forgotten"`
}

type fadingBody struct {
	ID        string    `json:"id"`
	Content   string    `json:"content"`
	Retention float64   `json:"retention"`
	FadesAt   time.Time `json:"fades_at,omitzero"`
	Faded     bool      `json:"faded"`
}

// forget tells which of a user's memories have faded, and takes them out of
// use where the request says so.
func (s *Server) forget(ctx context.Context, r *request) error {
	body, err := decode[forgetRequest](r)
	if err != nil {
		return err
	}
	var c checks
	owner, at := c.owner("user_id", r.key, body.UserID), c.time("at", body.At)
	dry := orDefault(body.DryRun, true)
	if body.At != "" && !dry {
		c.note("at", "is given without dry_run: only a preview can be of another time")
	}
	c.note("tags", memory.CheckTags(body.Tags))
	if len(body.Tags) > 0 && !dry {
		c.note("tags", "are given without dry_run: only what is listed can be chosen by tags")
	}
	if err := c.err(); err != nil {
		return err
	}
	if at.IsZero() {
		at = memory.Instant(s.Now())
	}
	var report forgetting.Report
	if dry {
		report, err = s.Forgetter.Preview(ctx, owner, at)
	} else {
		report, err = s.Forgetter.Run(ctx, owner, "api", body.Whole)
	}
	if err != nil {
		return err
	}
	if body.Whole {
		report.Stopped = ""
	}
	answer := forgetBody{
		DryRun: dry, At: memory.Instant(report.At), Active: report.Active, Due: report.Due, Stopped: report.Stopped,
		Memories: []fadingBody{}, Forgotten: atLeastEmpty(report.Forgotten),
	}
	report.Fading = slices.DeleteFunc(report.Fading, func(f forgetting.Fading) bool {
		return slices.ContainsFunc(body.Tags, func(tag string) bool { return !slices.Contains(f.Memory.Tags, tag) })
	})
	for _, f := range report.Fading[:min(len(report.Fading), orDefault(body.Limit, defaultFading))] {
		answer.Memories = append(answer.Memories, fadingBody{f.Memory.ID, f.Memory.Content, f.Retention, memory.Instant(f.FadesAt), f.Faded})
	}
	return r.JSON(http.StatusOK, answer)
}
