package proof

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
)

// long is set by scripts/test --long: more crash points, and a crowd for longer.
var long = os.Getenv("HIPPOCAMPUS_TEST_LONG") != ""

// TestCrash_NextServerRecovers crashes the server before and after the store
// calls that a change makes, at an evenly spread sample of these points. A new
// server on the same stores then recovers: the stores are equal, every history
// is complete, and the change has happened once or not at all, and once if it
// was answered. A change that has not happened succeeds when it is repeated.
func TestCrash_NextServerRecovers(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			total, counts := 0, []string{}
			t.Run("server", func(t *testing.T) {
				for lane := range size.lanes() {
					t.Run(fmt.Sprint(lane), func(t *testing.T) {
						t.Parallel()
						c := newCampaign(t, size)
						for i := lane; i < len(changes); i += size.lanes() {
							t.Run(changes[i].name, func(t *testing.T) {
								c.t = t
								c.s.t = t
								calls, points := c.crashThroughout(changes[i])
								mu.Lock()
								defer mu.Unlock()
								total += points
								counts = append(counts, fmt.Sprintf("%s %d of %dx2", changes[i].name, points, calls))
							})
						}
						c.s.t = t
					})
				}
			})
			slices.Sort(counts)
			t.Logf("crash points: %s; %d in all", strings.Join(counts, ", "), total)
		})
	}
}

// lanes returns how many servers share the changes. Making a collection in
// Milvus takes longer than a dozen crashes.
func (s size) lanes() int {
	if s.large {
		return 2
	}
	return len(changes)
}

// stride returns the distance between two crash points of a change. It is odd,
// so that the points alternate between before and after a call.
func (s size) stride() int {
	switch {
	case long && s.large:
		return 5
	case long:
		return 1
	case s.large:
		return 61
	default:
		return 31
	}
}

// campaign is a server that crashes again and again.
type campaign struct {
	t    *testing.T
	size size
	s    *server
	fuse *fuse // of the running server
	user int
}

func newCampaign(t *testing.T, size size) *campaign {
	c := &campaign{t: t, size: size}
	wrap := func(store db.Store, vectors vectorstore.Store) (db.Store, vectorstore.Store) {
		c.fuse = &fuse{}
		return c.fuse.wrap(store, vectors)
	}
	c.s = startFaulty(t, size, script(t), func(cfg *config.Config) {
		cfg.Reflection.Importance = 1000 // only on request
		cfg.Forgetting.Clock = "wall"    // without active days, episodes grow old
	}, wrap)
	return c
}

// prepare brings a new user to the state in which the change begins.
func (c *campaign) prepare(change change) *plot {
	c.t.Helper()
	c.user++
	p := &plot{
		t: c.t, s: c.s, fuse: func() *fuse { return c.fuse },
		owner: memory.Owner{AppID: ada.AppID, UserID: fmt.Sprintf("user-%d", c.user)},
	}
	change.ready(p)
	p.settle()
	if change.drift {
		p.drift()
	}
	return p
}

// crashThroughout makes the change once to count its calls, and then crashes at
// every stride-th point before and after them. It returns the number of calls and
// of crashes.
func (c *campaign) crashThroughout(change change) (made, points int) {
	p := c.prepare(change)
	initial := p.shape()
	answered, calls := c.make(change, p, 0, false)
	if !answered {
		c.t.Fatalf("the change fails without a crash:\n%s", c.s.log.String())
	}
	c.restart()
	p.settle()
	changed := p.shape()
	if initial == changed && !change.repeat {
		c.t.Fatalf("the change changes nothing:\n%s", initial)
	}
	if len(calls) == 0 {
		c.t.Fatal("the change calls no store: there is no point to crash at")
	}
	stride := min(c.size.stride(), len(calls)|1) // short changes have crash points also
	for i := c.user % stride; i < 2*len(calls); i += stride {
		c.crashAt(crashPoint{change: change, calls: calls, call: 1 + i/2, after: i%2 == 1}, initial, changed)
		points++
		if c.t.Failed() {
			break
		}
	}
	c.t.Logf("%d calls: %s", len(calls), strings.Join(calls, ", "))
	return len(calls), points
}

// crashPoint is a point before or after one call of a change.
type crashPoint struct {
	change change
	calls  []string
	call   int // the first is 1
	after  bool
}

// crashAt crashes at a point, and checks what the next server makes of it.
// initial and changed are the shapes before and after the change.
func (c *campaign) crashAt(point crashPoint, initial, changed string) {
	change, call := point.change, point.call
	p := c.prepare(change)
	where := fmt.Sprintf("%s: user %s, call %d (%s), after it: %v",
		change.name, p.owner.UserID, call, point.calls[call-1], point.after)
	before := p.chronicle()
	if diff := cmp.Diff(initial, p.shape()); diff != "" {
		c.t.Fatalf("%s: the change begins in another state than the first time:\n%s", where, diff)
	}
	answered, made := c.make(change, p, call, point.after)
	if len(made) < call {
		c.t.Fatalf("%s: only %d calls were made: %v", where, len(made), made)
	}
	c.restart()
	if change.repeat && !answered {
		answered, _ = c.make(change, p, 0, false)
		if !answered {
			c.t.Fatalf("%s: the change cannot be continued", where)
		}
	}
	p.settle()
	shape := p.shape()
	if shape != changed && (answered || shape != initial) {
		c.t.Errorf("%s (answered: %v): want (-), got (+)\n%s", where, answered, cmp.Diff(changed, shape))
	}
	if shape == initial && shape != changed {
		if answered, _ = c.make(change, p, 0, false); !answered {
			c.t.Errorf("%s: the change has not happened, and fails when it is repeated", where)
		}
		p.settle()
		if diff := cmp.Diff(changed, p.shape()); diff != "" {
			c.t.Errorf("%s: when it was repeated: want (-), got (+)\n%s", where, diff)
		}
	}
	now := p.chronicle()
	if err := unexplained(now); err != nil {
		c.t.Errorf("%s: %v", where, err)
	}
	if !change.gone {
		if err := follows(before, now); err != nil {
			c.t.Errorf("%s: %v", where, err)
		}
	}
}

// make makes the change in a process that crashes at a call (0: at no call). It
// returns whether the change was answered as done, and the calls made.
func (c *campaign) make(change change, p *plot, call int, after bool) (answered bool, calls []string) {
	if change.work == nil {
		c.fuse.arm(call, after)
		answered = change.ask(p)
		eventually(c.t, "the change's last call", func() string { return c.unfinished(change, call) })
		return answered, c.fuse.disarm()
	}
	c.fuse.arm(0, false) // the server takes no part
	defer c.fuse.disarm()
	process := &fuse{polls: true}
	process.arm(call, after)
	store, vectors := process.wrap(c.s.records, c.s.vectors)
	err := change.work(p, toolOf(c.s, store, vectors))
	if err != nil && !process.crashed() {
		c.t.Logf("%s without a crash: %v", change.name, err)
	}
	return err == nil, process.disarm()
}

// unfinished returns the part of a change that is unfinished at its answer: the crash, or
// else the pushes.
func (c *campaign) unfinished(change change, call int) string {
	if c.fuse.crashed() || call == 0 && change.later {
		return ""
	}
	backlog, err := c.s.records.VectorBacklog(c.t.Context(), nil)
	if err == nil && call == 0 && backlog.Pending+backlog.Removing == 0 {
		return ""
	}
	return fmt.Sprintf("call %d is to come, %+v %v", call, backlog, err)
}

// restart ends the server, crashed or not, and starts another one when every
// lease and claim has expired.
func (c *campaign) restart() {
	c.t.Helper()
	if err := c.s.end(); err != nil && !c.fuse.crashed() {
		c.t.Errorf("the server did not end cleanly: %v", err)
	}
	c.s.clock.pass(2 * time.Hour)
	c.s.start()
}
