package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Announcements keeps what is told to the world outside, in the order of the
// commits of what it tells of:
//
//	InUser: AddEvents, Announce | FailTurn | EndConversation
//	  -> announcement, in the transaction of the change -> readers, each from a place of its own
//
// A reader that has read up to a place misses nothing by going on from there:
// what is committed later stands after it. On Postgres this holds back what was
// committed while an older transaction that writes, of whatever database of the
// server, has not ended.
type Announcements interface {
	// Announced lists announcements after a place, in order.
	Announced(ctx context.Context, f AnnouncementFilter) ([]memory.Announcement, error)
	// AnnouncedApps tells which apps have announcements after a place, as far as
	// the first limit ones go, and where the last one of those stands: at after
	// where there are none.
	AnnouncedApps(ctx context.Context, after memory.Place, limit int) (apps []string, through memory.Place, err error)
	// AnnouncedBounds tells up to which place announcements may have been
	// purged, and a place up to which all that there is has been committed:
	// nobody has read beyond it in this database.
	AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error)
	// PurgeAnnouncements deletes announcements that were made before an instant,
	// the oldest limit ones at most, and returns how many.
	PurgeAnnouncements(ctx context.Context, before time.Time, limit int) (int, error)
}

// AnnouncementFilter chooses announcements. Empty fields do not restrict.
type AnnouncementFilter struct {
	AppID  string // required
	UserID string
	After  memory.Place
	Limit  int // required, 1..memory.MaxPage
}

// AnnouncementTx is what a user's transaction announces beside its events.
type AnnouncementTx interface {
	// Announce has announcements of the owner made at the commit; their Place
	// and Owner are set there.
	Announce(ctx context.Context, announcements []memory.Announcement) error
}

// Webhooks keeps where announcements are sent to, and how far that has come:
//
//	announcements after the webhook's place -> EnqueueDeliveries -> a job each, the place moves
//	job -> Delivery -> sent -> SettleDelivery
type Webhooks interface {
	// CreateWebhook stores w, which begins with what is announced from now on.
	// KindConflict: its app has most webhooks already.
	CreateWebhook(ctx context.Context, w memory.Webhook, most int) error
	// Webhook returns one of the app. KindNotFound: there is none.
	Webhook(ctx context.Context, appID, id string) (memory.Webhook, error)
	// ListWebhooks pages through the app's webhooks, newest first.
	ListWebhooks(ctx context.Context, appID string, before *Position, limit int) ([]memory.Webhook, error)
	// ChangeWebhook stores what change, which may run more than once, makes of a
	// webhook of the app. A grown Activation has it begin with what is announced
	// from now on. KindNotFound: there is none.
	ChangeWebhook(ctx context.Context, appID, id string, change func(*memory.Webhook) error) (memory.Webhook, error)
	// DeleteWebhook deletes one of the app. KindNotFound: there is none.
	DeleteWebhook(ctx context.Context, appID, id string) error

	// EnqueueDeliveries takes one webhook that is active, is not to be left alone
	// until after now, and lags behind its app's announcements; it enqueues job
	// for those of the next limit ones that it wants, and moves its place beyond
	// them. It returns how many it has passed: 0, no webhook lags. Several
	// processes may call it at once; each announcement is enqueued by one.
	EnqueueDeliveries(ctx context.Context, now time.Time, limit int, job func(memory.Webhook, memory.Place) Job) (int, error)
	// Delivery reads what a job is about, of any app. KindNotFound: the webhook
	// or the announcement is gone.
	Delivery(ctx context.Context, webhookID string, place memory.Place) (memory.Webhook, memory.Announcement, error)
	// SettleDelivery notes whether a webhook fails, and with disabled, if not
	// zero, switches it off; tried is the webhook as Delivery read it. Where it
	// was switched on or off since, or has begun or ceased to fail, a delivery
	// that was sent before tells nothing new: nothing changes, and noted is false.
	SettleDelivery(ctx context.Context, tried memory.Webhook, failing memory.Failing, disabled time.Time) (noted bool, err error)
}
