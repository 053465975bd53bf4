package memory

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// FeedbackKind says what became of a memory that a recall returned, or of a candidate.
type FeedbackKind string

// The kinds. Clients give the first three about the results of a recall. The server notes the others.
const (
	FeedbackUsed       FeedbackKind = "used"       // the answer rests on it, or a person liked it
	FeedbackIrrelevant FeedbackKind = "irrelevant" // it may be true, but did not belong to the question
	FeedbackWrong      FeedbackKind = "wrong"      // it is not true, or not any more
	FeedbackPromoted   FeedbackKind = "promoted"   // a candidate below the gate's threshold was promoted by hand
	FeedbackForgotten  FeedbackKind = "forgotten"  // a fact that the gate kept was forgotten by hand soon after
)

// FeedbackKinds are the kinds that clients give.
var FeedbackKinds = []FeedbackKind{FeedbackUsed, FeedbackIrrelevant, FeedbackWrong}

// AllFeedbackKinds are all kinds.
var AllFeedbackKinds = append(FeedbackKinds[:3:3], FeedbackPromoted, FeedbackForgotten)

// Feedback is about one memory. There is one of a source and a memory: the latest.
type Feedback struct {
	Owner
	SourceID string // of the recall, of the promoted candidate, or of the forgotten memory itself
	MemoryID string
	Kind     FeedbackKind
	Score    float64 // 0..1: the confidence of the result, or the importance of the fact; 0: not known
	At       time.Time
}

// NewRecallID returns a fresh UUIDv7 for a recall of an owner. It shows whose recall it is, see IsRecallOf, so that
// nothing has to be stored for an answer that gets no feedback.
func NewRecallID(of Owner) string {
	id := uuid.Must(uuid.NewV7())
	copy(id[recallRandom:], recallCheck(id, of))
	return id.String()
}

// recallRandom is the number of leading bytes of a recall's id that are those of any UUIDv7. The others follow from
// them and from the owner.
const recallRandom = 12

func recallCheck(id [16]byte, of Owner) []byte {
	hash := sha256.Sum256(fmt.Appendf(nil, "recall %x %q %q", id[:recallRandom], of.AppID, of.UserID))
	return hash[:len(id)-recallRandom]
}

// IsRecallOf reports whether an id is one that NewRecallID returned for the owner. Of other ids, one in 2^32 passes.
func IsRecallOf(id string, of Owner) bool {
	parsed, ok := ParseID(id)
	return ok && bytes.Equal(parsed[recallRandom:], recallCheck(parsed, of))
}

// MadeAt is when NewID made an id, to the millisecond; zero if it is no such id.
func MadeAt(id string) time.Time {
	parsed, ok := ParseID(id)
	if !ok || parsed[6]>>4 != 7 {
		return time.Time{}
	}
	ms := int64(0)
	for _, b := range parsed[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC()
}
