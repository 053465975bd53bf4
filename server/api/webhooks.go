package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/notify"
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

func (h webhookHandlers) register(r *routes) {
	r.add("POST /v1/webhooks", memory.RoleAdmin,
		h.quotas.bound(withBody(h.post), always(db.Usage{Webhooks: 1})))
	r.add("GET /v1/webhooks", memory.RoleAdmin, list[webhookPage, memory.Webhook, webhookBody]{
		name:   "webhooks",
		filter: func(r *request, p page) webhookPage { return webhookPage{r.key.AppID, p} },
		find: func(ctx context.Context, p webhookPage) ([]memory.Webhook, error) {
			return h.webhooks.ListWebhooks(ctx, p.appID, p.before, p.limit)
		},
		body:     webhookOf,
		position: func(w memory.Webhook) db.Position { return db.Position{At: w.CreatedAt, ID: w.ID} },
	}.handle)
	r.add("GET /v1/webhooks/:id", memory.RoleAdmin, h.get)
	r.add("PATCH /v1/webhooks/:id", memory.RoleAdmin, withBody(h.patch))
	r.add("DELETE /v1/webhooks/:id", memory.RoleAdmin, h.delete)
	r.add("POST /v1/webhooks/:id/test", memory.RoleAdmin, h.test)
}

type webhookPage struct {
	appID string
	page
}

type webhookRequest struct {
	URL    *string                    `json:"url"`
	Secret *string                    `json:"secret"`
	Kinds  *[]memory.AnnouncementKind `json:"kinds"`
	Active *bool                      `json:"active"`
}

// check checks what openapi.yaml cannot state.
func (h webhookHandlers) check(r *request, body webhookRequest) error {
	if body.URL != nil {
		r.note("url", h.webhooks.CheckURL(*body.URL))
	}
	if body.Secret != nil && strings.ContainsFunc(*body.Secret, func(r rune) bool { return r < '!' || r > '~' }) {
		r.note("secret", "holds characters that are not visible ASCII")
	}
	return r.err()
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
		ID: w.ID, URL: w.URL, Kinds: notNil(w.Kinds), Active: w.Active,
		FailingSince: w.Failing.Since, RetryAt: w.Failing.RetryAt, LastError: w.Failing.LastError, DisabledAt: w.DisabledAt,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

func (h webhookHandlers) post(ctx context.Context, r *request, body webhookRequest) (any, error) {
	if err := h.check(r, body); err != nil {
		return nil, err
	}
	w, err := h.webhooks.Create(ctx, memory.Webhook{
		AppID: r.key.AppID, URL: orDefault(body.URL, ""), Secret: orDefault(body.Secret, ""),
		Kinds: orDefault(body.Kinds, nil), Active: orDefault(body.Active, true),
	})
	created := webhookOf(w)
	created.Secret = w.Secret
	return withStatus(http.StatusCreated, created), err
}

func (h webhookHandlers) get(ctx context.Context, r *request) (any, error) {
	id, err := r.pathID()
	if err != nil {
		return nil, err
	}
	w, err := h.webhooks.Webhook(ctx, r.key.AppID, id)
	return webhookOf(w), err
}

func (h webhookHandlers) patch(ctx context.Context, r *request, body webhookRequest) (any, error) {
	id, err := r.pathID()
	if err != nil {
		return nil, err
	}
	if err := h.check(r, body); err != nil {
		return nil, err
	}
	w, err := h.webhooks.Change(ctx, r.key.AppID, id, notify.Change(body))
	return webhookOf(w), err
}

func (h webhookHandlers) delete(ctx context.Context, r *request) (any, error) {
	id, err := r.pathID()
	if err != nil {
		return nil, err
	}
	return withStatus(http.StatusNoContent, nil), h.webhooks.DeleteWebhook(ctx, r.key.AppID, id)
}

type testedBody struct {
	Delivered  bool   `json:"delivered"`
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

func (h webhookHandlers) test(ctx context.Context, r *request) (any, error) {
	id, err := r.pathID()
	if err != nil {
		return nil, err
	}
	took, failure, err := h.webhooks.Test(ctx, r.key.AppID, id)
	body := testedBody{Delivered: failure == nil, DurationMS: took.Milliseconds()}
	if failure != nil {
		body.Error = failure.Error()
	}
	return body, err
}
