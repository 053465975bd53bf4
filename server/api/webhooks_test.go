package api

import (
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

func TestWebhooks(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	made := parse[webhookBody](t, b.want(201, "POST", "/v1/webhooks", `{"url":"https://example.com/a"}`))
	if !strings.HasPrefix(made.Secret, "whsec_") || len(made.Secret) != 70 || !made.Active || len(made.Kinds) != 0 {
		t.Errorf("made %+v", made)
	}
	b.advance(time.Second)
	own := parse[webhookBody](t, b.want(201, "POST", "/v1/webhooks", `{"url":"https://example.com/b","secret":"0123456789abcdef","kinds":["turn.failed"],"active":false}`))
	if own.Secret != "0123456789abcdef" || own.Active || len(own.Kinds) != 1 {
		t.Errorf("made %+v", own)
	}
	made.Secret, own.Secret = "", ""
	if got := parse[webhookBody](t, b.want(200, "GET", "/v1/webhooks/"+made.ID, "")); mustJSON(t, got) != mustJSON(t, made) {
		t.Errorf("shown %+v, want %+v", got, made)
	}
	page := parse[struct {
		Webhooks []webhookBody
		Next     string `json:"next_cursor"`
	}](t, b.want(200, "GET", "/v1/webhooks?limit=1", ""))
	rest := b.want(200, "GET", "/v1/webhooks?limit=1&cursor="+page.Next, "")
	if len(page.Webhooks) != 1 || page.Webhooks[0].ID != own.ID || !strings.Contains(rest.Body.String(), made.ID) || strings.Contains(rest.Body.String(), "secret") {
		t.Errorf("listed %+v, then %s", page, rest.Body)
	}
	changed := parse[webhookBody](t, b.want(200, "PATCH", "/v1/webhooks/"+own.ID, `{"url":"http://example.org","kinds":[],"active":true,"secret":"fedcba9876543210"}`))
	if changed.URL != "http://example.org" || len(changed.Kinds) != 0 || !changed.Active || changed.Secret != "" {
		t.Errorf("changed %+v", changed)
	}
	if stored, err := b.store.Webhook(t.Context(), "app", own.ID); err != nil || stored.Secret != "fedcba9876543210" || stored.Activation != 1 {
		t.Errorf("stored %+v, %v", stored, err)
	}
	b.issue("foreign", "other", memory.RoleAdmin)
	for _, key := range []string{"foreign", "admin"} {
		id := made.ID
		if key == "admin" {
			id = someID
		}
		for method, body := range map[string]string{"GET": "", "PATCH": `{"active":true}`, "DELETE": ""} {
			b.want(404, method, "/v1/webhooks/"+id, body, "Authorization", "Bearer "+key)
		}
	}
	b.want(403, "POST", "/v1/webhooks", `{"url":"https://example.com"}`, "Authorization", "Bearer write")
	b.want(204, "DELETE", "/v1/webhooks/"+made.ID, "")
	b.want(404, "DELETE", "/v1/webhooks/"+made.ID, "")
	for range memory.MaxWebhooks - 1 {
		b.want(201, "POST", "/v1/webhooks", `{"url":"https://example.com"}`)
	}
	b.want(409, "POST", "/v1/webhooks", `{"url":"https://example.com"}`)

	b.wantPaths("POST", "/v1/webhooks", `{"secret":"short","kinds":["x"],"active":1,"more":2}`, "url", "secret", "kinds[0]", "active", "more")
	b.wantPaths("POST", "/v1/webhooks", `{"url":"http://127.0.0.1"}`, "url")
	b.wantPaths("POST", "/v1/webhooks", `{"url":"https://example.com","secret":"with spaces and more"}`, "secret")
	b.wantPaths("PATCH", "/v1/webhooks/"+own.ID, `{"url":"gopher://example.com"}`, "url")
	b.wantPaths("PATCH", "/v1/webhooks/"+own.ID, `{}`, "body")
}
