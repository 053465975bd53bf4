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

// Announcement reports a change of a user's data to clients of the event stream and to webhooks.
type Announcement struct {
	Place Place
	Owner
	Kind AnnouncementKind
	At   time.Time
	Data json.RawMessage // a JSON object that identifies and describes what changed; its fields depend on Kind
}

// AnnouncementKind names what happened.
type AnnouncementKind string

// The kinds of announcement.
const (
	// MemoryWritten: the memory was created, updated, merged, superseded, consolidated or restored.
	MemoryWritten     AnnouncementKind = "memory.written"
	MemoryForgotten   AnnouncementKind = "memory.forgotten"   // forgotten, and once more when it is purged
	ReflectionCreated AnnouncementKind = "reflection.created" // in addition to its memory.written
	ConversationEnded AnnouncementKind = "conversation.ended"
	TurnGivenUp       AnnouncementKind = "turn.failed"
)

// AnnouncementKinds lists every kind.
var AnnouncementKinds = []AnnouncementKind{
	MemoryWritten, MemoryForgotten, ReflectionCreated, ConversationEnded, TurnGivenUp,
}

// Place is an announcement's position in the order of its database's commits:
// by commit, then by sequence. The zero place is before all others.
type Place struct {
	Commit int64 // number of its transaction; 0 if the database commits one at a time
	Seq    int64
}

// Compare is negative if p comes before q, and positive if it comes after.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Commit, q.Commit), cmp.Compare(p.Seq, q.Seq))
}

// String is the place as clients see it: "812.67", or "67" if Commit is 0.
func (p Place) String() string {
	if p.Commit == 0 {
		return strconv.FormatInt(p.Seq, 10)
	}
	return fmt.Sprintf("%d.%d", p.Commit, p.Seq)
}

// ParsePlace is the inverse of String; ok is false if text is not a place.
func ParsePlace(text string) (p Place, ok bool) {
	commit, seq, found := strings.Cut(text, ".")
	if !found {
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
	Kinds  []AnnouncementKind // the kinds that are sent; empty: all

	Active     bool
	Activation int       // how often it was switched on; deliveries of earlier activations are dropped
	Failing    Failing   // zero: the latest delivery succeeded
	DisabledAt time.Time // when it was switched off because it failed for too long; zero: it was not
	CreatedAt  time.Time
	UpdatedAt  time.Time // the latest change by a client
}

// Failing describes a webhook whose deliveries fail.
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
