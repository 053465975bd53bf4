package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// visit is how many turns a user sends before the next user takes over the place.
const visit = 10

// tolerance is how much later than planned a turn may begin, and how long the last turns
// may take to be processed.
const tolerance = time.Second

// traffic sends what a chat backend sends. Each of its places is taken by one of the users who are active at once.
type traffic struct {
	servers target.Servers
	texts   content.Texts
	users   []int // in the order in which they take places
	places  []int // how many turns each place has had
}

// newTraffic makes the traffic of a number of users; active is the number that is active at once.
func newTraffic(servers target.Servers, texts content.Texts, users, active int) *traffic {
	order := rand.New(rand.NewPCG(3, 1)).Perm(users)
	return &traffic{servers: servers, texts: texts, users: order, places: make([]int, active)}
}

// sent counts the outcomes of the turns of one run.
type sent struct {
	mu             sync.Mutex
	context, turn  measure.Times
	offered, late  int // turns; those that began later than tolerance, since the user's earlier turn had not ended
	failed         int // requests
	firstError     error
	processedAfter time.Duration // from the last request until no turn was waiting
}

// run sends turns at a rate, all places in turn, for a duration. Each is a request for a
// context, and then the report of the turn.
func (t *traffic) run(ctx context.Context, rate float64, while time.Duration) (*sent, error) {
	s := &sent{}
	begin := time.Now()
	interval := time.Duration(float64(len(t.places)) / rate * float64(time.Second))
	var wait sync.WaitGroup
	for place := range t.places {
		first := time.Duration(float64(place) / rate * float64(time.Second))
		wait.Go(func() {
			for due := first; due < while && ctx.Err() == nil; due += interval {
				behind := time.Since(begin) - due
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Until(begin.Add(due))):
				}
				at := time.Now()
				if behind > 0 && due > first {
					at = begin.Add(due)
				}
				t.talk(ctx, s, place, at, behind > tolerance)
			}
		})
	}
	wait.Wait()
	last := time.Now()
	s.context.Took, s.turn.Took = last.Sub(begin), last.Sub(begin)
	if err := t.drain(ctx); err != nil {
		return nil, err
	}
	s.processedAfter = time.Since(last)
	return s, ctx.Err()
}

// talk sends one turn of a place, which was due at a time.
func (t *traffic) talk(ctx context.Context, s *sent, place int, due time.Time, late bool) {
	user, n := t.guest(place)
	conversation := fmt.Sprintf("visit-%d-%d", place, n/visit)
	said, answer := t.exchange(place*1_000_003 + n)
	server := t.servers[place%len(t.servers)]

	_, err := server.Do(ctx, "POST", "/v1/context", target.Body(map[string]any{
		"user_id": user, "conversation_id": conversation, "query": said,
	}))
	asked := time.Now()
	var turnErr error
	if ctx.Err() == nil {
		_, turnErr = server.Do(ctx, "POST", "/v1/turns", target.Body(map[string]any{
			"user_id": user, "conversation_id": conversation,
			"messages": []map[string]string{{"role": "user", "content": said}, {"role": "assistant", "content": answer}},
		}))
	}
	reported := time.Now()
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered++
	if late {
		s.late++
	}
	for _, e := range []error{err, turnErr} {
		if e != nil {
			s.failed++
			s.firstError = cmp.Or(s.firstError, e)
		}
	}
	if err == nil {
		s.context.Latencies = append(s.context.Latencies, asked.Sub(due))
	}
	if turnErr == nil {
		s.turn.Latencies = append(s.turn.Latencies, reported.Sub(asked))
	}
}

// guest returns the user at a place and the number of turns that the place has had, and counts one more turn.
func (t *traffic) guest(place int) (user string, n int) {
	n = t.places[place]
	t.places[place]++
	return content.Data{}.User(t.users[(n/visit*len(t.places)+place)%len(t.users)]), n
}

// exchange returns the n-th turn. The user's message is every second time a statement that
// leaves a fact, otherwise a question; the answer has about 280 characters.
func (t *traffic) exchange(n int) (said, answer string) {
	said = content.Statement(n)
	if n%2 == 1 {
		said = content.Data{Texts: t.texts}.Query(n)
	}
	const long = 280
	random := rand.New(rand.NewPCG(uint64(n), 17))
	for len(answer) < long {
		sentence := content.Sentence(random, 14) + "."
		if texts := t.texts.Contents; len(texts) > 0 {
			_, sentence, _ = strings.Cut(texts[random.IntN(len(texts))], ": ") // without the speaker
		}
		answer += sentence + " "
	}
	return said, answer
}

// drain waits until no turn waits to be processed.
func (t *traffic) drain(ctx context.Context) error {
	for {
		waiting, err := t.turns(ctx, "accepted")
		if err != nil || waiting == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// turns counts the turns of a status, up to 100.
func (t *traffic) turns(ctx context.Context, status string) (int, error) {
	var page struct {
		Turns []json.RawMessage `json:"turns"`
	}
	err := t.servers[0].Call(ctx, "GET", "/v1/turns?limit=100&status="+status, nil, &page)
	return len(page.Turns), err
}
