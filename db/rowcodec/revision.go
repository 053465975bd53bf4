package rowcodec

import "math/rand/v2"

// NewRevision is a number that none of a user's revisions has been, but for a
// chance of 1 in 2^63; never 0, which is the one of a user who has none.
func NewRevision() int64 { return 1 + rand.Int64N(1<<63-1) }
