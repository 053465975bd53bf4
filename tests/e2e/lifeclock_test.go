package e2e

import (
	"os"
	"regexp"
	"strings"
	"time"
)

// move sets the clock when every push has ended. A push holds its memories by a
// claim that ends by this clock, so that a clock which moves by hours during a push
// would let the other server push the same memories at the same time.
func (l *life) move(at time.Time) {
	l.t.Helper()
	polls := 0
	eventually(l.t, "the end of the pushes", func() string {
		pending := l.pending()
		polls++
		if pending != "" && polls > 100 && l.now.Add(time.Second).Before(at) {
			l.set(l.now.Add(time.Second)) // a failed push is repeated when it is due
		}
		return pending
	})
	l.set(at)
}

// pending returns the metrics of the memories that the vector store has not confirmed, or "" without such memories.
func (l *life) pending() string {
	l.t.Helper()
	return strings.Join(unconfirmed.FindAllString(l.call("GET", "/metrics", nil, 200).raw, -1), ", ")
}

var unconfirmed = regexp.MustCompile(`(?m)^hippocampus_vectors_(?:pending|removing) [^0].*$`)

// longestPush is half of the time for which a claim holds. A request to Milvus whose server was killed may be
// processed for as long, which a jump of the clock does not shorten.
const longestPush = 7500 * time.Millisecond

// set sets the servers' clock, which stands still until the next call.
func (l *life) set(now time.Time) {
	l.t.Helper()
	if now.Before(l.now) {
		l.t.Fatalf("the script goes back from %s to %s", lifetime(l.now.Format(time.RFC3339)),
			lifetime(now.Format(time.RFC3339)))
	}
	l.now = now
	if err := os.Chtimes(l.clock, now, now); err != nil {
		l.t.Fatal(err)
	}
}
