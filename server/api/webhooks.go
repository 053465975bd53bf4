package api

import (
	"context"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/notify"
)

// WebhookKeeper keeps webhooks; notify.Webhooks does.
type WebhookKeeper interface {
	Create(ctx context.Context, w memory.Webhook) (memory.Webhook, error)
	Webhook(ctx context.Context, appID, id string) (memory.Webhook, error)
	ListWebhooks(ctx context.Context, appID string, before *db.Position, limit int) ([]memory.Webhook, error)
	Change(ctx context.Context, appID, id string, c notify.Change) (memory.Webhook, error)
	DeleteWebhook(ctx context.Context, appID, id string) error
	CheckURL(text string) string
}

type webhookRequest struct {
	URL    *string                    `json:"url"`
	Secret *string                    `json:"secret"`
	Kinds  *[]memory.AnnouncementKind `json:"kinds"`
	Active *bool                      `json:"active"`
}

// webhookBody is a webhook as clients see it: its secret once, when it is made.
type webhookBody struct {
	ID           string                    `json:"id"`
	URL          string                    `json:"url"`
	Secret       string                    `json:"secret,omitempty"`
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
		ID: w.ID, URL: w.URL, Kinds: atLeastEmpty(w.Kinds), Active: w.Active,
		FailingSince: w.Failing.Since, RetryAt: w.Failing.RetryAt, LastError: w.Failing.LastError, DisabledAt: w.DisabledAt,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

func (s *Server) postWebhook(ctx context.Context, r *request) error {
	body, err := s.webhookAsked(r)
	if err != nil {
		return err
	}
	w, err := s.Webhooks.Create(ctx, memory.Webhook{
		AppID: r.key.AppID, URL: orDefault(body.URL, ""), Secret: orDefault(body.Secret, ""),
		Kinds: orDefault(body.Kinds, nil), Active: orDefault(body.Active, true),
	})
	if err != nil {
		return err
	}
	shown := webhookOf(w)
	shown.Secret = w.Secret
	return r.JSON(http.StatusCreated, shown)
}

// webhookAsked reads a body and checks what openapi.yaml cannot say.
func (s *Server) webhookAsked(r *request) (webhookRequest, error) {
	body, err := decode[webhookRequest](r)
	if err != nil {
		return body, err
	}
	var c checks
	if body.URL != nil {
		c.note("url", s.Webhooks.CheckURL(*body.URL))
	}
	return body, c.err()
}

func (s *Server) listWebhooks(ctx context.Context, r *request) error {
	var c checks
	page := c.page(r)
	if err := c.err(); err != nil {
		return err
	}
	found, err := s.Webhooks.ListWebhooks(ctx, r.key.AppID, page.before, page.limit)
	if err != nil {
		return err
	}
	answer := struct {
		Webhooks []webhookBody `json:"webhooks"`
		Next     string        `json:"next_cursor,omitempty"`
	}{Webhooks: []webhookBody{}}
	for _, w := range found {
		answer.Webhooks = append(answer.Webhooks, webhookOf(w))
	}
	answer.Next = page.next(len(found), func() db.Position {
		last := found[len(found)-1]
		return db.Position{At: last.CreatedAt, ID: last.ID}
	})
	return r.JSON(http.StatusOK, answer)
}

func (s *Server) getWebhook(ctx context.Context, r *request) error {
	id, err := webhookID(r)
	if err != nil {
		return err
	}
	w, err := s.Webhooks.Webhook(ctx, r.key.AppID, id)
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, webhookOf(w))
}

func (s *Server) patchWebhook(ctx context.Context, r *request) error {
	id, err := webhookID(r)
	if err != nil {
		return err
	}
	body, err := s.webhookAsked(r)
	if err != nil {
		return err
	}
	w, err := s.Webhooks.Change(ctx, r.key.AppID, id, notify.Change(body))
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, webhookOf(w))
}

func (s *Server) deleteWebhook(ctx context.Context, r *request) error {
	id, err := webhookID(r)
	if err != nil {
		return err
	}
	if err := s.Webhooks.DeleteWebhook(ctx, r.key.AppID, id); err != nil {
		return err
	}
	return r.NoContent(http.StatusNoContent)
}

// webhookID reads the id of a webhook from the path.
func webhookID(r *request) (string, error) {
	id := r.param("id")
	return id, checkPathID(id)
}
