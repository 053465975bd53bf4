package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/notify"
	"hippocampus/server/frame"
)

// WebhookKeeper stores webhooks; notify.Webhooks implements it.
type WebhookKeeper interface {
	Create(ctx context.Context, w memory.Webhook) (memory.Webhook, error)
	Webhook(ctx context.Context, appID, id string) (memory.Webhook, error)
	ListWebhooks(ctx context.Context, appID string, before *db.Position, limit int) ([]memory.Webhook, error)
	Change(ctx context.Context, appID, id string, c notify.Change) (memory.Webhook, error)
	DeleteWebhook(ctx context.Context, appID, id string) error
	// Test sends a test. failure is why it was not delivered; nil: it was.
	Test(ctx context.Context, appID, id string) (took time.Duration, failure, err error)
	CheckURL(text string) string
}

type webhookHandlers struct {
	webhooks WebhookKeeper
	quotas   *quotas
}

func (h webhookHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/webhooks", memory.RoleAdmin,
		h.quotas.bound(frame.WithBody(h.post), always(db.Usage{Webhooks: 1})))
	r.Add("GET /v1/webhooks", memory.RoleAdmin, frame.List[webhookPage, memory.Webhook, webhookBody]{
		Name:   "webhooks",
		Filter: func(r *frame.Request, p frame.Page) webhookPage { return webhookPage{r.Key.AppID, p} },
		Find: func(ctx context.Context, p webhookPage) ([]memory.Webhook, error) {
			return h.webhooks.ListWebhooks(ctx, p.appID, p.Before, p.Limit)
		},
		Body:     webhookOf,
		Position: func(w memory.Webhook) db.Position { return db.Position{At: w.CreatedAt, ID: w.ID} },
	}.Handle)
	r.Add("GET /v1/webhooks/:id", memory.RoleAdmin, h.get)
	r.Add("PATCH /v1/webhooks/:id", memory.RoleAdmin, frame.WithBody(h.patch))
	r.Add("DELETE /v1/webhooks/:id", memory.RoleAdmin, h.delete)
	r.Add("POST /v1/webhooks/:id/test", memory.RoleAdmin, h.test)
}

type webhookPage struct {
	appID string
	frame.Page
}

type webhookRequest struct {
	URL    *string                    `json:"url"`
	Secret *string                    `json:"secret"`
	Kinds  *[]memory.AnnouncementKind `json:"kinds"`
	Active *bool                      `json:"active"`
}

// check checks what openapi.yaml cannot state.
func (h webhookHandlers) check(r *frame.Request, body webhookRequest) error {
	if body.URL != nil {
		r.Note("url", h.webhooks.CheckURL(*body.URL))
	}
	if body.Secret != nil && strings.ContainsFunc(*body.Secret, func(r rune) bool { return r < '!' || r > '~' }) {
		r.Note("secret", "holds characters that are not visible ASCII")
	}
	return r.Err()
}

type webhookBody struct {
	ID           string                    `json:"id"`
	URL          string                    `json:"url"`
	Secret       string                    `json:"secret,omitempty"` // in the answer to its creation only
	Kinds        []memory.AnnouncementKind `json:"kinds"`
	Active       bool                      `json:"active"`
	FailingSince time.Time                 `json:"failing_since,omitzero"`
	RetryAt      time.Time                 `json:"retry_at,omitzero"`
	LastError    string                    `json:"last_error,omitempty"`
	DisabledAt   time.Time                 `json:"disabled_at,omitzero"`
	CreatedAt    time.Time                 `json:"created_at"`
	UpdatedAt    time.Time                 `json:"updated_at"`
}

func webhookOf(w memory.Webhook) webhookBody {
	return webhookBody{
		ID: w.ID, URL: w.URL, Kinds: frame.NotNil(w.Kinds), Active: w.Active,
		FailingSince: w.Failing.Since, RetryAt: w.Failing.RetryAt, LastError: w.Failing.LastError, DisabledAt: w.DisabledAt,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

func (h webhookHandlers) post(ctx context.Context, r *frame.Request, body webhookRequest) (any, error) {
	if err := h.check(r, body); err != nil {
		return nil, err
	}
	w, err := h.webhooks.Create(ctx, memory.Webhook{
		AppID: r.Key.AppID, URL: frame.OrDefault(body.URL, ""), Secret: frame.OrDefault(body.Secret, ""),
		Kinds: frame.OrDefault(body.Kinds, nil), Active: frame.OrDefault(body.Active, true),
	})
	created := webhookOf(w)
	created.Secret = w.Secret
	return frame.WithStatus(http.StatusCreated, created), err
}

func (h webhookHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	w, err := h.webhooks.Webhook(ctx, r.Key.AppID, id)
	return webhookOf(w), err
}

func (h webhookHandlers) patch(ctx context.Context, r *frame.Request, body webhookRequest) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	if err := h.check(r, body); err != nil {
		return nil, err
	}
	w, err := h.webhooks.Change(ctx, r.Key.AppID, id, notify.Change(body))
	return webhookOf(w), err
}

func (h webhookHandlers) delete(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	return frame.WithStatus(http.StatusNoContent, nil), h.webhooks.DeleteWebhook(ctx, r.Key.AppID, id)
}

type testedBody struct {
	Delivered  bool   `json:"delivered"`
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

func (h webhookHandlers) test(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	took, failure, err := h.webhooks.Test(ctx, r.Key.AppID, id)
	body := testedBody{Delivered: failure == nil, DurationMS: took.Milliseconds()}
	if failure != nil {
		body.Error = failure.Error()
	}
	return body, err
}
