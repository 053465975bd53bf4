// Package notify tells the world outside what happens to users' data:
//
//	announcements (db, in the transaction of each change)
//	  -> Feed        one look for all streams -> who waits for an app reads on from its own place
//	  -> Dispatcher  one job for each webhook that wants it -> Sender: signed, sent, retried
//	  -> Purge       those older than Settings.Keep
//
// A webhook gets each announcement at least once, in no order that it could rely
// on; a stream has them once, in order.
package notify

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/internal/memory"
)

// Settings of this package; server/config states their defaults and ranges.
type Settings struct {
	Poll         time.Duration // between two looks for announcements
	Keep         time.Duration // age at which an announcement is deleted
	Timeout      time.Duration // of one delivery
	DisableAfter time.Duration // of failing, after which a webhook is switched off and a delivery given up
	AllowPrivate bool          // webhooks may lead to loopback and private addresses
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

// Encode is an announcement as JSON on one line, as streams and webhooks carry it.
func Encode(a memory.Announcement) []byte {
	raw, _ := json.Marshal(body{a.Place.String(), a.Kind, a.At, a.AppID, a.UserID, a.Data}) // the data is checked JSON
	return raw
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

// Purge deletes the announcements that were made before an instant, some at a time.
func Purge(ctx context.Context, records Purger, before time.Time) (all Purged, err error) {
	for n := purgeBatch; n == purgeBatch; all.Purged += n {
		if n, err = records.PurgeAnnouncements(ctx, before, purgeBatch); err != nil {
			return all, err
		}
	}
	return all, nil
}
