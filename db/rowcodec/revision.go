package rowcodec

import "math/rand/v2"

// NewRevision returns a number that differs from all earlier revisions of a user,
// except with a chance of 1 in 2^63. It is never 0, the revision of a user without
// memories.
func NewRevision() int64 { return 1 + rand.Int64N(1<<63-1) }
