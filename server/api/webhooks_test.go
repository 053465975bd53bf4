package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/notify"
)

func TestWebhooks_CreateReadChangeDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	made := fetch[webhookBody](f, 201, "POST", "/v1/webhooks", `{"url":"https://example.com/a"}`)
	if !strings.HasPrefix(made.Secret, "whsec_") || len(made.Secret) != 50 || !made.Active || len(made.Kinds) != 0 {
		t.Errorf("created %+v", made)
	}
	f.advance(time.Second)
	own := fetch[webhookBody](f, 201, "POST", "/v1/webhooks", `{"url":"https://example.com/b",`+
		`"secret":"0123456789abcdef","kinds":["turn.failed"],"active":false}`)
	if own.Secret != "0123456789abcdef" || own.Active || len(own.Kinds) != 1 {
		t.Errorf("created %+v", own)
	}
	made.Secret, own.Secret = "", ""
	if got := fetch[webhookBody](f, 200, "GET", "/v1/webhooks/"+made.ID, ""); mustJSON(t, got) != mustJSON(t, made) {
		t.Errorf("got %+v, want %+v", got, made)
	}
	page := fetch[struct {
		Webhooks []webhookBody
		Next     string `json:"next_cursor"`
	}](f, 200, "GET", "/v1/webhooks?limit=1", "")
	rest := f.want(200, "GET", "/v1/webhooks?limit=1&cursor="+page.Next, "")
	if len(page.Webhooks) != 1 || page.Webhooks[0].ID != own.ID || !strings.Contains(rest.Body.String(), made.ID) ||
		strings.Contains(rest.Body.String(), "secret") {
		t.Errorf("listed %+v, then %s", page, rest.Body)
	}
	changed := fetch[webhookBody](f, 200, "PATCH", "/v1/webhooks/"+own.ID,
		`{"url":"https://example.org","kinds":[],"active":true,"secret":"fedcba9876543210"}`)
	if changed.URL != "https://example.org" || len(changed.Kinds) != 0 || !changed.Active || changed.Secret != "" {
		t.Errorf("changed %+v", changed)
	}
	if stored, err := f.store.Webhook(t.Context(), "app", own.ID); err != nil || stored.Secret != "fedcba9876543210" ||
		stored.Activation != 1 {
		t.Errorf("stored %+v, %v", stored, err)
	}
	f.issue("foreign", "other", memory.RoleAdmin)
	for _, key := range []string{"foreign", "admin"} {
		id := made.ID
		if key == "admin" {
			id = someID
		}
		for method, body := range map[string]string{"GET": "", "PATCH": `{"active":true}`, "DELETE": ""} {
			f.want(404, method, "/v1/webhooks/"+id, body, "Authorization", "Bearer "+key)
		}
	}
	f.want(403, "POST", "/v1/webhooks", `{"url":"https://example.com"}`, "Authorization", "Bearer write")
	f.want(403, "POST", "/v1/webhooks/"+made.ID+"/test", "", as("write")...)
	f.want(404, "POST", "/v1/webhooks/"+made.ID+"/test", "", as("foreign")...)
	f.want(204, "DELETE", "/v1/webhooks/"+made.ID, "")
	f.want(404, "DELETE", "/v1/webhooks/"+made.ID, "")
	for range memory.MaxWebhooks - 1 {
		f.want(201, "POST", "/v1/webhooks", `{"url":"https://example.com"}`)
	}
	f.want(409, "POST", "/v1/webhooks", `{"url":"https://example.com"}`)

	f.wantPaths("POST", "/v1/webhooks", `{"secret":"short","kinds":["x"],"active":1,"more":2}`, "url", "secret",
		"kinds[0]", "active", "more")
	f.wantPaths("POST", "/v1/webhooks", `{"url":"http://127.0.0.1"}`, "url")
	f.wantPaths("POST", "/v1/webhooks", `{"url":"https://example.com","secret":"with spaces and more"}`, "secret")
	f.wantPaths("PATCH", "/v1/webhooks/"+own.ID, `{"url":"gopher://example.com"}`, "url")
	f.wantPaths("PATCH", "/v1/webhooks/"+own.ID, `{}`, "body")
}

func TestWebhooks_TestReportsTheAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	refusing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refusing.Close)
	set := notify.Settings{AllowPrivate: true, Timeout: time.Minute}
	f.restart(func(o *Options) { o.Webhooks = notify.NewWebhooks(f.store, set, f.now) })
	w, err := notify.NewWebhooks(f.store, set, f.now).Create(t.Context(), memory.Webhook{AppID: "app", URL: refusing.URL})
	f.must(err)
	got := fetch[testedBody](f, 200, "POST", "/v1/webhooks/"+w.ID+"/test", "")
	if got.Delivered || got.Error != "answered with status 404" {
		t.Errorf("%+v", got)
	}
}
