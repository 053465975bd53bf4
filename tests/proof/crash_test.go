package proof

import (
	"fmt"
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

// TestCrashes has the server die before and after every call of a store that a
// change makes; on Postgres and Milvus, at every fifth of these points. A fresh
// server over the same stores then makes up for it: the stores are equal, every
// history is whole, and the change has happened once or not at all, where it
// was answered once. What has not happened can be asked for again.
func TestCrashes(t *testing.T) {
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
						c := newCrashing(t, size)
						for i := lane; i < len(changes); i += size.lanes() {
							t.Run(changes[i].name, func(t *testing.T) {
								c.t, c.s.t = t, t
								calls, points := c.everywhere(changes[i])
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

// lanes are how many servers share the changes. To make a collection in Milvus
// takes longer than a dozen crashes.
func (s size) lanes() int {
	if s.large {
		return 2
	}
	return len(changes)
}

// stride is at each how manieth point a server dies: at all of them where a
// start takes milliseconds. It is odd, so that it falls before and after calls.
func (s size) stride() int {
	if s.large {
		return 5
	}
	return 1
}

// crashing is a server that dies again and again.
type crashing struct {
	t    *testing.T
	size size
	s    *server
	fuse *fuse // of the server as it runs
	user int
}

func newCrashing(t *testing.T, size size) *crashing {
	c := &crashing{t: t, size: size}
	wrap := func(records db.Store, vectors vectorstore.Store) (db.Store, vectorstore.Store) {
		c.fuse = &fuse{}
		return c.fuse.between(records, vectors)
	}
	c.s = startFaulty(t, size, script(t), func(cfg *config.Config) {
		cfg.Reflection.Importance = 1000 // only when it is asked for
		cfg.Gate.RetryDelay = 50 * time.Millisecond
	}, wrap)
	return c
}

// begin brings a new user to where the change begins.
func (c *crashing) begin(change change) *plot {
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

// everywhere makes the change once to count its calls, and then dies before
// and after each of them, as far as the stride lets it. It returns how many
// calls there are, and how often it died.
func (c *crashing) everywhere(change change) (made, points int) {
	p := c.begin(change)
	shapes := [2]string{p.shape()}
	told, calls := c.make(change, p, 0, false)
	if !told {
		c.t.Fatalf("the change fails without a crash:\n%s", c.s.log.String())
	}
	c.recover()
	p.settle()
	if shapes[1] = p.shape(); shapes[0] == shapes[1] && !change.again {
		c.t.Fatalf("the change changes nothing:\n%s", shapes[0])
	}
	if len(calls) == 0 {
		c.t.Fatal("the change calls no store: there is nothing to die at")
	}
	for i := c.user % c.size.stride(); i < 2*len(calls); i += c.size.stride() {
		c.at(change, calls, 1+i/2, i%2 == 1, shapes)
		if points++; c.t.Failed() {
			break
		}
	}
	c.t.Logf("%d calls: %s", len(calls), strings.Join(calls, ", "))
	return len(calls), points
}

// at dies at one call of the change, and checks what the next server makes of it.
func (c *crashing) at(change change, calls []string, call int, after bool, shapes [2]string) {
	p := c.begin(change)
	where := fmt.Sprintf("%s: user %s, call %d (%s), after it: %v", change.name, p.owner.UserID, call, calls[call-1], after)
	before := p.chronicle()
	if diff := cmp.Diff(shapes[0], p.shape()); diff != "" {
		c.t.Fatalf("%s: the change begins elsewhere than it did the first time:\n%s", where, diff)
	}
	told, made := c.make(change, p, call, after)
	if len(made) < call {
		c.t.Fatalf("%s: only %d calls were made: %v", where, len(made), made)
	}
	c.recover()
	if change.again && !told {
		told, _ = c.make(change, p, 0, false)
		if !told {
			c.t.Fatalf("%s: it cannot be gone on with", where)
		}
	}
	p.settle()
	shape := p.shape()
	if shape != shapes[1] && (told || shape != shapes[0]) {
		c.t.Errorf("%s (told that it is done: %v): want (-), got (+)\n%s", where, told, cmp.Diff(shapes[1], shape))
	}
	if shape == shapes[0] && shape != shapes[1] {
		if told, _ = c.make(change, p, 0, false); !told {
			c.t.Errorf("%s: it has not happened, and cannot be asked for again", where)
		}
		p.settle()
		if diff := cmp.Diff(shapes[1], p.shape()); diff != "" {
			c.t.Errorf("%s: when it was asked for again: want (-), got (+)\n%s", where, diff)
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

// make makes the change in a process that dies at a call (0: at none), and
// tells the calls made.
func (c *crashing) make(change change, p *plot, call int, after bool) (told bool, calls []string) {
	if change.work == nil {
		c.fuse.arm(call, after)
		told = change.ask(p)
		eventually(c.t, "the change's last call", func() string { return c.unfinished(change, call) })
		return told, c.fuse.disarm()
	}
	c.fuse.arm(0, false) // the server has nothing to do with it
	defer c.fuse.disarm()
	process := &fuse{busy: true}
	process.arm(call, after)
	records, vectors := process.between(c.s.records, c.s.vectors)
	err := change.work(p, toolOf(c.s, records, vectors))
	if err != nil && !process.dead() {
		c.t.Logf("%s without a crash: %v", change.name, err)
	}
	return err == nil, process.disarm()
}

// unfinished says what is still to come of a change after its answer: the
// crash, or else the pushes.
func (c *crashing) unfinished(change change, call int) string {
	if c.fuse.dead() || call == 0 && change.later {
		return ""
	}
	backlog, err := c.s.records.VectorBacklog(c.t.Context())
	if err == nil && call == 0 && backlog.Pending+backlog.Removing == 0 {
		return ""
	}
	return fmt.Sprintf("call %d is to come, %+v %v", call, backlog, err)
}

// recover ends the server, dead or alive, and starts another one when every
// lease and claim is over.
func (c *crashing) recover() {
	c.t.Helper()
	if err := c.s.end(); err != nil && !c.fuse.dead() {
		c.t.Errorf("the server did not end cleanly: %v", err)
	}
	c.s.clock.pass(2 * time.Hour)
	c.s.start()
}
