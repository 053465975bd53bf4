package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Announcements keeps the outgoing events, in the order in which the announced
// changes were committed:
//
//	InUser: AddEvents, Announce | FailTurn | EndConversation
//	  -> announcement, in the transaction of the change -> readers, each at its own place
//
// A reader that continues from the last place it has read misses nothing: an
// announcement that is committed later has a later place. On Postgres this holds
// back announcements while an older writing transaction of any database of the
// server is still running.
type Announcements interface {
	// Announced lists announcements after a place, in order.
	Announced(ctx context.Context, f AnnouncementFilter) ([]memory.Announcement, error)
	// AnnouncedApps returns the apps of the first limit announcements after a
	// place, and the place of the last of these; after if there are no
	// announcements.
	AnnouncedApps(ctx context.Context, after memory.Place, limit int) (apps []string, through memory.Place, err error)
	// AnnouncedBounds returns the place up to which announcements may have been
	// purged, and a place up to which every announcement has been committed. No
	// reader of this database has read beyond the latter.
	AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error)
	// PurgeAnnouncements deletes at most limit announcements that were made before an instant, oldest first, and returns
	// their number.
	PurgeAnnouncements(ctx context.Context, before time.Time, limit int) (int, error)
}

// AnnouncementFilter chooses announcements. Empty fields do not restrict.
type AnnouncementFilter struct {
	AppID  string // required
	UserID string
	After  memory.Place
	Limit  int // required, 1..memory.MaxPage
}

// AnnouncementTx is what a user's transaction announces in addition to its events.
type AnnouncementTx interface {
	// Announce makes announcements of the owner at the commit, which sets their
	// Place and Owner.
	Announce(ctx context.Context, announcements []memory.Announcement) error
}

// Webhooks keeps the addresses that announcements are sent to, and the progress of their deliveries:
//
//	announcements after the webhook's place -> EnqueueDeliveries -> a job each, the place moves
//	job -> Delivery -> sent -> SettleDelivery
type Webhooks interface {
	// CreateWebhook stores w, whose first announcement is the next one.
	// KindConflict: its app already has as many webhooks as most.
	CreateWebhook(ctx context.Context, w memory.Webhook, most int) error
	// Webhook returns a webhook of the app. KindNotFound: it does not exist.
	Webhook(ctx context.Context, appID, id string) (memory.Webhook, error)
	// ListWebhooks pages through the app's webhooks, newest first.
	ListWebhooks(ctx context.Context, appID string, before *Position, limit int) ([]memory.Webhook, error)
	// ChangeWebhook applies change, which may run more than once, to a webhook of
	// the app. If change increases Activation, the webhook continues with the next
	// announcement. KindNotFound: it does not exist.
	ChangeWebhook(ctx context.Context, appID, id string, change func(*memory.Webhook) error) (memory.Webhook, error)
	// DeleteWebhook deletes a webhook of the app. KindNotFound: it does not exist.
	DeleteWebhook(ctx context.Context, appID, id string) error

	// EnqueueDeliveries takes one active webhook that may be tried at now and that
	// lags behind its app's announcements. It reads the next limit announcements, enqueues job for each that the webhook
	// wants, and moves the webhook's place beyond them. It returns the number of announcements passed; 0 if no webhook
	// lags. Several processes may call it at once; one of them enqueues each announcement.
	EnqueueDeliveries(ctx context.Context, now time.Time, limit int, job func(memory.Webhook, memory.Place) Job) (
		int, error)
	// Delivery reads the webhook and the announcement of a job, of any app.
	// KindNotFound: one of them was deleted.
	Delivery(ctx context.Context, webhookID string, place memory.Place) (memory.Webhook, memory.Announcement, error)
	// SettleDelivery records whether a webhook fails, and switches it off if
	// disabled is not zero; tried is the webhook as Delivery read it. If the
	// webhook has been switched on or off since, or has begun or ceased to fail,
	// the delivery is outdated: nothing changes, and noted is false.
	SettleDelivery(ctx context.Context, tried memory.Webhook, failing memory.Failing, disabled time.Time) (
		noted bool, err error)
}
