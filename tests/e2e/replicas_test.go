package e2e

import (
	"fmt"
	"os"
	"testing"
	"time"

	"hippocampus/tests/consistency"
)

// long is set by scripts/test --long.
var long = os.Getenv("HIPPOCAMPUS_TEST_LONG") != ""

// leastRequests is how many requests a history needs to contain every kind of request and alteration.
const leastRequests = 300

// replicasFor returns how long the clients of two replicas act.
func replicasFor() time.Duration {
	if long {
		return time.Minute
	}
	return 4 * time.Second
}

// Clients write, change, delete, restore and read the memories of one user, each through two replicas in turns. Every
// answer is one that a single server could have given (docs/reliability.md).
func TestReplicas_AnswerLikeOneServer(t *testing.T) {
	t.Parallel()
	for _, size := range sizes[1:] {
		t.Run(size.name, func(t *testing.T) {
			t.Parallel()
			r := newReplicas(t, size)
			eventually(t, "enough requests", func() string {
				r.act(replicasFor())
				if n := len(r.answers); n < leastRequests {
					return fmt.Sprint(n)
				}
				return ""
			})
			history := r.history()
			for i, v := range consistency.Check(history) {
				if i < 5 {
					t.Errorf("%v", v)
				}
			}
			counts := r.counts()
			for _, request := range requests {
				if counts[request] == 0 {
					t.Errorf("there was no %s", request)
				}
			}
			t.Logf("%d requests: %v; %d answers about one memory", len(r.answers), counts, len(history))
			for _, a := range alterations {
				a.isFound(t, history)
			}
			r.servers[0].storesEqual(scripted, "ada")
		})
	}
}

// One of two replicas is behind a proxy that answers reads from a cache. The checker finds every kind of violation.
func TestReplicas_StaleProxyIsFound(t *testing.T) {
	t.Parallel()
	r := newReplicas(t, oneStore())
	r.servers[1] = behindCache(t, r.servers[1], 10)
	missing := []consistency.Guarantee{consistency.ReadYourWrites, consistency.MonotonicReads, consistency.StaysDeleted,
		consistency.StaysWritten, consistency.Linearizable}
	eventually(t, "all violations being found", func() string {
		r.act(time.Second)
		found := map[consistency.Guarantee]int{}
		for _, v := range consistency.Check(r.history()) {
			found[v.Guarantee]++
		}
		for _, guarantee := range missing {
			if found[guarantee] == 0 {
				return string(guarantee)
			}
		}
		t.Logf("found %v", found)
		return ""
	})
}
