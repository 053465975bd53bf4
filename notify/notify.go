// Package notify announces changes of users' data to streams and webhooks:
//
//	announcements (db, in the transaction of each change)
//	  -> Feed        one poll for all streams -> wakes those of an app, which read from their own places
//	  -> Dispatcher  one job for each webhook of its kind -> Sender: signed, sent, retried
//	  -> Purge       deletes those older than Settings.Keep
//
// A webhook receives each announcement at least once, in no reliable order; a
// stream receives each once, in order.
package notify

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// Settings of this package; server/config holds their defaults and ranges.
type Settings struct {
	Poll         time.Duration // between two checks for announcements
	Keep         time.Duration // age at which an announcement is deleted
	Timeout      time.Duration // of one delivery
	DisableAfter time.Duration // of failing, after which a webhook is disabled and a delivery given up
	AllowPrivate bool          // webhooks may use loopback and private addresses
}

// body is an announcement as clients see it.
type body struct {
	ID     string                  `json:"id"`
	Kind   memory.AnnouncementKind `json:"kind"`
	At     time.Time               `json:"at"`
	AppID  string                  `json:"app_id"`
	UserID string                  `json:"user_id"`
	Data   json.RawMessage         `json:"data"`
}

// Encode returns an announcement as one line of JSON, for streams and webhooks.
func Encode(a memory.Announcement) []byte {
	raw, _ := json.Marshal(body{
		ID: a.Place.String(), Kind: a.Kind, At: a.At, AppID: a.AppID, UserID: a.UserID, Data: a.Data,
	}) // cannot fail: the data is checked JSON
	return raw
}

// every calls f at each interval until the context ends.
func every(ctx context.Context, interval time.Duration, f func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f(ctx)
		}
	}
}

// Purger deletes old announcements; db.Announcements has it.
type Purger interface {
	PurgeAnnouncements(ctx context.Context, before time.Time, limit int) (int, error)
}

// Purged is the result of a purge.
type Purged struct {
	Purged int `json:"purged"`
}

const purgeBatch = 1000

// Purge deletes the announcements that were made before an instant, in batches.
func Purge(ctx context.Context, records Purger, before time.Time) (all Purged, err error) {
	for n := purgeBatch; n == purgeBatch; all.Purged += n {
		if n, err = records.PurgeAnnouncements(ctx, before, purgeBatch); err != nil {
			return all, err
		}
	}
	return all, nil
}
