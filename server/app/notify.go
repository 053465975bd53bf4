package app

import (
	"context"

	"hippocampus/notify"
)

// notifications are the event stream and the webhooks.
type notifications struct {
	feed     *notify.Feed
	webhooks *notify.Webhooks
	sender   *notify.Sender
}

// startNotifications reads new announcements until shutdown, for streams and webhooks.
func startNotifications(b base, record *database) notifications {
	set, log := notifySettings(b.cfg), b.log.Named("announce")
	n := notifications{
		feed:     notify.NewFeed(record, set, log),
		webhooks: notify.NewWebhooks(record, set, b.now),
		sender:   notify.NewSender(record, set, b.now, log),
	}
	b.life.onStop("deliveries", func(context.Context) error { n.sender.Close(); return nil })
	b.life.run("events", n.feed.Run)
	b.life.run("webhooks", notify.NewDispatcher(record, set, b.now, log).Run)
	return n
}
