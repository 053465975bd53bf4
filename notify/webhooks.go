package notify

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// WebhookRecords keeps webhooks; db.Webhooks has it.
type WebhookRecords interface {
	CreateWebhook(ctx context.Context, w memory.Webhook, most int) error
	Webhook(ctx context.Context, appID, id string) (memory.Webhook, error)
	ListWebhooks(ctx context.Context, appID string, before *db.Position, limit int) ([]memory.Webhook, error)
	ChangeWebhook(ctx context.Context, appID, id string, change func(*memory.Webhook) error) (memory.Webhook, error)
	DeleteWebhook(ctx context.Context, appID, id string) error
}

// Webhooks manages the webhooks of apps.
type Webhooks struct {
	WebhookRecords
	courier
	now func() time.Time
}

// NewWebhooks makes the service.
func NewWebhooks(records WebhookRecords, s Settings, now func() time.Time) *Webhooks {
	return &Webhooks{WebhookRecords: records, courier: newCourier(s), now: now}
}

// secretPrefix begins the keys that Standard Webhooks defines; base64 follows it.
const secretPrefix = "whsec_"

// NewSecret returns a new signing key: "whsec_" and 32 random bytes in base64.
func NewSecret() string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: see crypto/rand
	return secretPrefix + base64.StdEncoding.EncodeToString(secret[:])
}

// Create stores a webhook of an app with its URL, Secret, Kinds and Active. If the
// secret is empty it makes one. KindConflict: the app has memory.MaxWebhooks already.
func (s *Webhooks) Create(ctx context.Context, w memory.Webhook) (memory.Webhook, error) {
	if w.Secret == "" {
		w.Secret = NewSecret()
	}
	w.ID, w.CreatedAt = memory.NewID(), memory.Instant(s.now())
	w.UpdatedAt = w.CreatedAt
	if w.Active {
		w.Activation = 1
	}
	return w, s.CreateWebhook(ctx, w, memory.MaxWebhooks)
}

// testKind is the kind of what Test sends. No announcement has it.
const testKind memory.AnnouncementKind = "webhook.test"

// Test sends a body of the kind testKind to a webhook of an app, whether the webhook is active or not, and records
// nothing. It returns how long that took and, as failure, why it was not delivered.
func (s *Webhooks) Test(ctx context.Context, appID, id string) (took time.Duration, failure, err error) {
	w, err := s.Webhook(ctx, appID, id)
	if err != nil {
		return 0, nil, err
	}
	defer s.client.CloseIdleConnections()
	begun := s.now()
	test := parcel{id: memory.NewID(), kind: testKind}
	test.payload, err = json.Marshal(struct {
		ID    string                  `json:"id"`
		Kind  memory.AnnouncementKind `json:"kind"`
		At    time.Time               `json:"at"`
		AppID string                  `json:"app_id"`
	}{ID: test.id, Kind: test.kind, At: memory.Instant(begun), AppID: appID})
	if err != nil {
		return 0, nil, err
	}
	failure = s.send(ctx, w, test, memory.Instant(begun))
	return s.now().Sub(begun), failure, nil
}

// Change holds the new values of a webhook; nil fields stay as they are.
type Change struct {
	URL, Secret *string
	Kinds       *[]memory.AnnouncementKind
	Active      *bool
}

// Change changes a webhook of an app. A webhook that is enabled again receives the
// announcements from then on, and its earlier failures are cleared.
func (s *Webhooks) Change(ctx context.Context, appID, id string, c Change) (memory.Webhook, error) {
	return s.ChangeWebhook(ctx, appID, id, func(w *memory.Webhook) error {
		assign(&w.URL, c.URL)
		assign(&w.Secret, c.Secret)
		assign(&w.Kinds, c.Kinds)
		if c.Active != nil && *c.Active && !w.Active {
			w.Activation++
			w.Failing, w.DisabledAt = memory.Failing{}, time.Time{}
		}
		assign(&w.Active, c.Active)
		w.UpdatedAt = memory.Instant(s.now())
		return nil
	})
}

// assign sets a field that a change names.
func assign[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
