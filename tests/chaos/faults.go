package main

import (
	"context"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/internal/faultproxy"
)

// Counts are how often each fault was made.
type Counts struct{ Kills, Hangs, Cuts, Jumps, Crashes, Fills atomic.Int64 }

// span is a range of times to choose from.
type span struct{ least, most time.Duration }

func (s span) choose(r *rand.Rand) time.Duration {
	return s.least + time.Duration(r.Int64N(int64(s.most-s.least)))
}

// How long the faults take, and the time between two of a kind.
var (
	betweenKills  = span{5 * time.Second, 30 * time.Second}
	downTime      = span{0, 3 * time.Second}
	betweenFaults = span{5 * time.Second, 30 * time.Second}
	faultTime     = span{200 * time.Millisecond, 9 * time.Second}
	betweenJumps  = span{10 * time.Second, 40 * time.Second}
	jumpTime      = span{2 * time.Second, 20 * time.Second}
	betweenFills  = span{10 * time.Second, 40 * time.Second}

	// A Milvus that was killed takes two minutes to start again.
	betweenCrashes = span{20 * time.Second, 2 * time.Minute}
)

// shifts are the errors of the clock. No shift lets a memory fade below forgetting.threshold. A turn that was deferred
// while the clock was ahead waits for its due time; the server voids a due time that is further ahead than the longest
// wait for a turn's next attempt plus db.MaxSkew. So no shift is between the time that the stores have to settle and
// this sum.
var shifts = []time.Duration{
	-2 * time.Hour, -5 * time.Minute, -10 * time.Second, 10 * time.Second, time.Minute, 30 * time.Minute, 3 * time.Hour,
	30 * time.Hour, 8 * 24 * time.Hour,
}

// wait returns false if ctx is done before d has passed.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// disturb makes faults until ctx is done, or one cannot be made. Each kind has random numbers of its own, so
// that the seed decides the order and the durations of its faults.
func disturb(ctx context.Context, seed uint64, k *keeper, n *Counts) error {
	running, ctx := errgroup.WithContext(ctx)
	random := func(i int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(1000+i))) }
	for i, proxy := range k.proxies {
		running.Go(func() error { return interrupt(ctx, random(i), proxy, n) })
	}
	for i, r := range k.replicas {
		running.Go(func() error { return jump(ctx, random(100+i), r.clock, n) })
		running.Go(func() error { return kill(ctx, random(200+i), r, n) })
	}
	for i, service := range k.crashing {
		running.Go(func() error { return service.crash(ctx, random(300+i), n) })
	}
	if k.disk != nil {
		running.Go(func() error { return k.disk.fill(ctx, random(400), n) })
	}
	return running.Wait()
}

// interrupt makes connections hang or cuts them, repeatedly.
func interrupt(ctx context.Context, r *rand.Rand, proxy *faultproxy.Proxy, n *Counts) error {
	for wait(ctx, betweenFaults.choose(r)) {
		begin, end, count := proxy.Hang, proxy.Resume, &n.Hangs
		if r.IntN(2) == 0 {
			begin, end, count = proxy.Cut, proxy.Connect, &n.Cuts
		}
		begin()
		count.Add(1)
		wait(ctx, faultTime.choose(r))
		end()
	}
	return nil
}

// jump sets the server's clock wrong and right again.
func jump(ctx context.Context, r *rand.Rand, clock string, n *Counts) error {
	for wait(ctx, betweenJumps.choose(r)) {
		if err := shift(clock, shifts[r.IntN(len(shifts))]); err != nil {
			return err
		}
		n.Jumps.Add(1)
		wait(ctx, jumpTime.choose(r))
		if err := shift(clock, 0); err != nil {
			return err
		}
	}
	return nil
}

// shift sets the error of the server's clock (testdata/clock).
func shift(clock string, by time.Duration) error {
	at := time.Unix(1_000_000_000, 0).Add(by)
	return os.Chtimes(clock, at, at)
}

// kill kills a server and starts it again.
func kill(ctx context.Context, r *rand.Rand, replica *replica, n *Counts) error {
	for wait(ctx, betweenKills.choose(r)) {
		n.Kills.Add(1)
		if err := replica.restart(ctx, downTime.choose(r)); err != nil {
			return err
		}
	}
	return nil
}
