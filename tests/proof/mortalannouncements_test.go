package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *mortalRecords) Announced(ctx context.Context, f db.AnnouncementFilter) ([]memory.Announcement, error) {
	return get(s.fuse, "Announced", func() ([]memory.Announcement, error) { return s.real.Announced(ctx, f) })
}

func (s *mortalRecords) AnnouncedApps(ctx context.Context, after memory.Place, limit int) ([]string, memory.Place, error) {
	return find(s.fuse, "AnnouncedApps", func() ([]string, memory.Place, error) { return s.real.AnnouncedApps(ctx, after, limit) })
}

func (s *mortalRecords) AnnouncedBounds(ctx context.Context) (memory.Place, memory.Place, error) {
	return find(s.fuse, "AnnouncedBounds", func() (memory.Place, memory.Place, error) { return s.real.AnnouncedBounds(ctx) })
}

func (s *mortalRecords) PurgeAnnouncements(ctx context.Context, before time.Time, limit int) (int, error) {
	return get(s.fuse, "PurgeAnnouncements", func() (int, error) { return s.real.PurgeAnnouncements(ctx, before, limit) })
}

func (s *mortalRecords) CreateWebhook(ctx context.Context, w memory.Webhook, most int) error {
	return act(s.fuse, "CreateWebhook", func() error { return s.real.CreateWebhook(ctx, w, most) })
}

func (s *mortalRecords) Webhook(ctx context.Context, appID, id string) (memory.Webhook, error) {
	return get(s.fuse, "Webhook", func() (memory.Webhook, error) { return s.real.Webhook(ctx, appID, id) })
}

func (s *mortalRecords) ListWebhooks(ctx context.Context, appID string, before *db.Position, limit int) ([]memory.Webhook, error) {
	return get(s.fuse, "ListWebhooks", func() ([]memory.Webhook, error) { return s.real.ListWebhooks(ctx, appID, before, limit) })
}

func (s *mortalRecords) ChangeWebhook(ctx context.Context, appID, id string, change func(*memory.Webhook) error) (memory.Webhook, error) {
	return get(s.fuse, "ChangeWebhook", func() (memory.Webhook, error) { return s.real.ChangeWebhook(ctx, appID, id, change) })
}

func (s *mortalRecords) DeleteWebhook(ctx context.Context, appID, id string) error {
	return act(s.fuse, "DeleteWebhook", func() error { return s.real.DeleteWebhook(ctx, appID, id) })
}

// EnqueueDeliveries finds no webhook that lags while the process is at rest.
func (s *mortalRecords) EnqueueDeliveries(ctx context.Context, now time.Time, limit int, job func(memory.Webhook, memory.Place) db.Job) (int, error) {
	if s.resting() {
		return 0, nil
	}
	return get(s.fuse, "EnqueueDeliveries", func() (int, error) { return s.real.EnqueueDeliveries(ctx, now, limit, job) })
}

func (s *mortalRecords) Delivery(ctx context.Context, webhookID string, place memory.Place) (memory.Webhook, memory.Announcement, error) {
	return find(s.fuse, "Delivery", func() (memory.Webhook, memory.Announcement, error) {
		return s.real.Delivery(ctx, webhookID, place)
	})
}

func (s *mortalRecords) SettleDelivery(ctx context.Context, tried memory.Webhook, f memory.Failing, disabled time.Time) (bool, error) {
	return get(s.fuse, "SettleDelivery", func() (bool, error) { return s.real.SettleDelivery(ctx, tried, f, disabled) })
}

func (s *mortalTx) Announce(ctx context.Context, announcements []memory.Announcement) error {
	return act(s.fuse, "tx.Announce", func() error { return s.real.Announce(ctx, announcements) })
}

func (s *mortalTx) RestoreEvents(ctx context.Context, events []memory.Event) error {
	return act(s.fuse, "tx.RestoreEvents", func() error { return s.real.RestoreEvents(ctx, events) })
}
