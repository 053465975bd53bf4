package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// The kinds of job that the admin routes enqueue.
const (
	Verification = "verification" // compares the stores
	Repair       = "repair"       // compares the stores and ends their differences
	Rebuild      = "rebuild"      // fills a fresh vector store
)

// Reembedding is the kind of job that embeds memories by another model.
const Reembedding = "reembedding"

// JobParts are the parts behind the routes of jobs.
type JobParts struct {
	Reader JobReader
	Kinds  []string // that keys may see
	// Enqueue enqueues a job of the whole server: Verification, Repair or Rebuild.
	Enqueue func(ctx context.Context, kind string) (db.JobInfo, error)
}

// JobReader reads durable jobs; db.Jobs implements it.
type JobReader interface {
	Job(ctx context.Context, id int64) (db.JobInfo, error)
	ListJobs(ctx context.Context, f db.JobFilter) ([]db.JobInfo, error)
}

type jobHandlers struct{ JobParts }

func (h jobHandlers) register(r *frame.Routes) {
	r.AddServerWide("GET /v1/jobs", memory.RoleAdmin, h.list)
	r.AddServerWide("GET /v1/jobs/:id", memory.RoleAdmin, h.get)
	r.AddServerWide("POST /v1/admin/verify", memory.RoleOperator, h.enqueue(Verification))
	r.AddServerWide("POST /v1/admin/repair", memory.RoleOperator, h.enqueue(Repair))
	r.AddServerWide("POST /v1/admin/rebuild", memory.RoleOperator, h.enqueue(Rebuild))
}

// jobBody is the JSON of a job, without its payload.
type jobBody struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	State      string          `json:"state"`
	Attempt    int             `json:"attempt"`
	EnqueuedAt time.Time       `json:"enqueued_at"`
	StartedAt  time.Time       `json:"started_at,omitzero"`
	EndedAt    time.Time       `json:"ended_at,omitzero"`
	DurationMS int64           `json:"duration_ms,omitempty"` // of the last attempt
	Error      string          `json:"error,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
}

// enqueue makes a handler that answers with the job that it enqueued.
func (h jobHandlers) enqueue(kind string) frame.Handler {
	return func(ctx context.Context, _ *frame.Request) (any, error) {
		job, err := h.Enqueue(ctx, kind)
		return frame.WithStatus(http.StatusAccepted, jobOf(job)), err
	}
}

func (h jobHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	ref, err := r.PathID()
	if err != nil {
		return nil, err
	}
	unknown := memory.Errorf(memory.KindNotFound,
		"there is no job with this id: it never existed, belongs to another app, or ended long ago")
	id, err := strconv.ParseInt(ref, 10, 64)
	if err != nil || id < 1 {
		return nil, unknown
	}
	job, err := h.Reader.Job(ctx, id)
	switch {
	case memory.IsKind(err, memory.KindNotFound):
		return nil, unknown
	case err != nil:
		return nil, err
	case !slices.Contains(h.Kinds, job.Kind):
		return nil, unknown
	case maySee(r.Key, job):
		return jobOf(job), nil
	case appOf(job) == "":
		return nil, frame.NeedsRole(memory.RoleOperator, r.Key)
	}
	return nil, unknown
}

func (h jobHandlers) list(ctx context.Context, r *frame.Request) (any, error) {
	filter := db.JobFilter{Kinds: h.Kinds, Limit: r.Limit(), Before: r.QueryNumber("cursor", frame.InvalidCursor)}
	if kind := r.Query.Get("kind"); kind != "" {
		if !slices.Contains(h.Kinds, kind) {
			r.Note("query.kind", fmt.Sprintf("is not one of %s", strings.Join(h.Kinds, ", ")))
		}
		filter.Kinds = []string{kind}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	found, err := h.Reader.ListJobs(ctx, filter)
	if err != nil {
		return nil, err
	}
	body := struct {
		Jobs []jobBody `json:"jobs"`
		Next string    `json:"next_cursor,omitempty"`
	}{Jobs: []jobBody{}}
	for _, job := range found {
		if maySee(r.Key, job) {
			body.Jobs = append(body.Jobs, jobOf(job))
		}
	}
	if len(found) == filter.Limit {
		body.Next = strconv.FormatInt(found[len(found)-1].ID, 10)
	}
	return body, nil
}

// maySee reports whether a key may see a job: an operator sees all jobs, an admin the jobs of the own app.
func maySee(key memory.Key, job db.JobInfo) bool {
	return key.Role.Includes(memory.RoleOperator) || appOf(job) == key.AppID
}

// appOf returns the app that a job works for; empty: it works for the whole server.
func appOf(job db.JobInfo) string {
	var payload struct {
		AppID string `json:"app_id"`
	}
	_ = json.Unmarshal(job.Payload, &payload) // an unreadable payload names no app
	return payload.AppID
}

func jobOf(job db.JobInfo) jobBody {
	body := jobBody{
		ID: strconv.FormatInt(job.ID, 10), Kind: job.Kind, State: job.State, Attempt: job.Attempt,
		EnqueuedAt: job.EnqueuedAt, StartedAt: job.StartedAt, EndedAt: job.EndedAt,
		Error: job.Error, Result: job.Result,
	}
	if !job.EndedAt.IsZero() && !job.StartedAt.IsZero() {
		body.DurationMS = job.EndedAt.Sub(job.StartedAt).Milliseconds()
	}
	return body
}
