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
)

// JobReader reads durable jobs; db.Jobs has it.
type JobReader interface {
	Job(ctx context.Context, id int64) (db.JobInfo, error)
	ListJobs(ctx context.Context, f db.JobFilter) ([]db.JobInfo, error)
}

// jobBody is a job as clients see it: not its payload.
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

func (s *Server) getJob(ctx context.Context, r *request) error {
	ref := r.param("id")
	if err := checkPathID(ref); err != nil {
		return err
	}
	unknown := memory.Errorf(memory.KindNotFound, "there is no job with this id: it never was, is another app's, or ended long ago")
	id, err := strconv.ParseInt(ref, 10, 64)
	if err != nil || id < 1 {
		return unknown
	}
	job, err := s.Jobs.Job(ctx, id)
	if memory.IsKind(err, memory.KindNotFound) {
		return unknown
	}
	if err != nil {
		return err
	}
	if !slices.Contains(s.JobKinds, job.Kind) || !concerns(job, r.key.AppID) {
		return unknown
	}
	return r.JSON(http.StatusOK, jobOf(job, r.key.AppID))
}

func (s *Server) listJobs(ctx context.Context, r *request) error {
	var c checks
	filter := db.JobFilter{Kinds: s.JobKinds, Limit: c.limit(r), Before: c.jobCursor(r)}
	if kind := r.query.Get("kind"); kind != "" {
		if !slices.Contains(s.JobKinds, kind) {
			c.note("query.kind", fmt.Sprintf("is not one of %s", strings.Join(s.JobKinds, ", ")))
		}
		filter.Kinds = []string{kind}
	}
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Jobs.ListJobs(ctx, filter)
	if err != nil {
		return err
	}
	answer := struct {
		Jobs []jobBody `json:"jobs"`
		Next string    `json:"next_cursor,omitempty"`
	}{Jobs: []jobBody{}}
	for _, job := range found {
		if concerns(job, r.key.AppID) {
			answer.Jobs = append(answer.Jobs, jobOf(job, r.key.AppID))
		}
	}
	if len(found) == filter.Limit {
		answer.Next = strconv.FormatInt(found[len(found)-1].ID, 10)
	}
	return r.JSON(http.StatusOK, answer)
}

// jobCursor is the id below which a page of jobs begins; 0 is the newest.
func (c *checks) jobCursor(r *request) int64 {
	text := r.query.Get("cursor")
	if text == "" {
		return 0
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		c.note("query.cursor", notACursor)
	}
	return id
}

// concerns reports whether an app may see a job: its own, and those of the
// whole server.
func concerns(job db.JobInfo, appID string) bool {
	var of struct {
		AppID string `json:"app_id"`
	}
	return json.Unmarshal(job.Payload, &of) == nil && (of.AppID == "" || of.AppID == appID)
}

func jobOf(job db.JobInfo, appID string) jobBody {
	body := jobBody{
		ID: strconv.FormatInt(job.ID, 10), Kind: job.Kind, State: job.State, Attempt: job.Attempt,
		EnqueuedAt: job.EnqueuedAt, StartedAt: job.StartedAt, EndedAt: job.EndedAt,
		Error: job.Error, Result: ownPart(job.Result, appID),
	}
	if !job.EndedAt.IsZero() && !job.StartedAt.IsZero() {
		body.DurationMS = job.EndedAt.Sub(job.StartedAt).Milliseconds()
	}
	return body
}

// ownPart is a job's result without what its lists tell of other apps' users.
func ownPart(result json.RawMessage, appID string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil {
		return result
	}
	for name, raw := range fields {
		var items []struct {
			AppID string `json:"app_id"`
		}
		var whole []json.RawMessage
		if json.Unmarshal(raw, &items) != nil || json.Unmarshal(raw, &whole) != nil {
			continue
		}
		own := []json.RawMessage{}
		for i, item := range items {
			if item.AppID == "" || item.AppID == appID {
				own = append(own, whole[i])
			}
		}
		fields[name], _ = json.Marshal(own) // JSON that was just read
	}
	result, _ = json.Marshal(fields)
	return result
}
