package memory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Announcement tells the world outside that something has happened to a user's data.
type Announcement struct {
	Place Place
	Owner
	Kind AnnouncementKind
	At   time.Time
	Data json.RawMessage // a JSON object that names the thing and tells of it; its fields are the kind's
}

// AnnouncementKind names what has happened.
type AnnouncementKind string

// The kinds of announcement.
const (
	MemoryWritten     AnnouncementKind = "memory.written"     // created, updated, merged, superseded, consolidated or restored
	MemoryForgotten   AnnouncementKind = "memory.forgotten"   // forgotten, and once more when it is purged
	ReflectionCreated AnnouncementKind = "reflection.created" // beside its memory.written
	ConversationOver  AnnouncementKind = "conversation.ended"
	TurnGivenUp       AnnouncementKind = "turn.failed"
)

// AnnouncementKinds lists every kind.
var AnnouncementKinds = []AnnouncementKind{MemoryWritten, MemoryForgotten, ReflectionCreated, ConversationOver, TurnGivenUp}

// Place is where an announcement stands in the order of its database's commits:
// by commit, then by sequence. The zero place is before all.
type Place struct {
	Commit int64 // number of its transaction; 0 where the database commits one at a time
	Seq    int64
}

// Compare is negative where p comes before q, and positive where it comes after.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Commit, q.Commit), cmp.Compare(p.Seq, q.Seq))
}

// String is the place as clients see it: "812.67", or "67" where Commit is 0.
func (p Place) String() string {
	if p.Commit == 0 {
		return strconv.FormatInt(p.Seq, 10)
	}
	return fmt.Sprintf("%d.%d", p.Commit, p.Seq)
}

// ParsePlace is the inverse of String; ok is false for what is no place.
func ParsePlace(text string) (p Place, ok bool) {
	commit, seq, two := strings.Cut(text, ".")
	if !two {
		commit, seq = "0", text
	}
	var err error
	if p.Commit, err = strconv.ParseInt(commit, 10, 64); err != nil {
		return Place{}, false
	}
	if p.Seq, err = strconv.ParseInt(seq, 10, 64); err != nil {
		return Place{}, false
	}
	if p.Commit < 0 || p.Seq < 0 || p.String() != text {
		return Place{}, false
	}
	return p, true
}

// Webhook is an address that an app's announcements are sent to.
type Webhook struct {
	ID     string // UUIDv7
	AppID  string
	URL    string             // http or https, at most MaxURLBytes
	Secret string             // key of the signatures, MinSecretBytes..MaxSecretBytes visible ASCII characters
	Kinds  []AnnouncementKind // that are sent; empty: all

	Active     bool
	Activation int       // how often it was switched on; deliveries of before are dropped
	Failing    Failing   // zero: the latest delivery arrived
	DisabledAt time.Time // when it was switched off for having failed too long; zero: it was not
	CreatedAt  time.Time
	UpdatedAt  time.Time // by a client
}

// Failing is since when a webhook's deliveries fail, and what is done about it.
type Failing struct {
	Since     time.Time
	LastError string
	RetryAt   time.Time // nothing is sent before this
}

// Wants reports whether a kind is sent to the webhook.
func (w *Webhook) Wants(kind AnnouncementKind) bool {
	return len(w.Kinds) == 0 || slices.Contains(w.Kinds, kind)
}

// The limits of webhooks.
const (
	MaxWebhooks    = 20 // of an app
	MaxURLBytes    = 2048
	MinSecretBytes = 16
	MaxSecretBytes = 256
)
