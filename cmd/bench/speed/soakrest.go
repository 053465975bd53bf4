package speed

import (
	"context"
	"fmt"
	"time"
)

// Rest is the server's state while it has nothing to do, and how many memories both stores hold.
type Rest struct {
	Reading
	Memories int `json:"memories"`
}

// restsFor is how long the number of goroutines is unchanged before the server counts as resting.
const restsFor = 10 * time.Second

// rest waits until the server has pushed everything and its goroutines have been as many for a while without any
// connection of a client, compares the stores, and reads the server's state. What a server has started and not ended
// is left over then, whatever it was doing under load.
func (b *bench) rest(ctx context.Context) (r Rest, verified string, err error) {
	if err := b.server.Settle(ctx); err != nil {
		return r, "", err
	}
	found, err := b.verified(ctx)
	if err != nil {
		return r, "", err
	}
	for since := time.Now(); time.Since(since) < restsFor; {
		b.server.Disconnect()
		select {
		case <-ctx.Done():
			return r, "", ctx.Err()
		case <-time.After(time.Second):
		}
		now, err := b.read(ctx)
		if err != nil {
			return r, "", err
		}
		if now.Goroutines != r.Goroutines {
			since = time.Now()
		}
		r.Reading = now
	}
	r.Memories = found.Checked
	return r, fmt.Sprintf("%d checked, %d missing, %d orphaned, %d different",
		found.Checked, found.Missing.Count, found.Orphaned.Count, found.Different.Count), nil
}
