package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

const (
	crowdSize  = 100
	erasers    = 4               // clients that erase users
	crowdLimit = 2 * time.Minute // for any one answer, with all users on few cores
	breath     = 2 * time.Second // the longest pause between two requests of a user
)

// crowdFor returns how long the crowd acts.
func crowdFor() time.Duration {
	if long {
		return time.Minute
	}
	return 10 * time.Second
}

// TestCrowd_UsersStaySeparate lets a hundred users write, recall, reflect, forget
// and be erased at once, on both sizes. Every request is answered correctly and in
// time, no answer shows memories of another user or of an erased life, and in the
// end the stores agree.
func TestCrowd_UsersStaySeparate(t *testing.T) {
	// Not in parallel with the other tests: a crowd that gets no CPU proves nothing.
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, size)
			c.act(t.Context())
			c.settle()
		})
	}
}

// crowd is many users of one server.
type crowd struct {
	t     *testing.T
	s     *server
	users []*person

	mu    sync.Mutex
	done  map[string]int // numbers of answers by action and status, and of their results
	wrong atomic.Int64   // failures so far; only the first are reported
}

func newCrowd(t *testing.T, size size) *crowd {
	models := llmtest.New(t)
	models.OnPrompt(llmtest.ScoreMark, func(r llmtest.ChatRequest) llmtest.Reply {
		var facts []fields
		for _, said := range slices.Compact(label.FindAllString(r.User, -1)) {
			importance := 0.9
			if strings.HasSuffix(said, "0") || strings.HasSuffix(said, "5") {
				importance = 0.5 // below the threshold: can be promoted
			}
			facts = append(facts,
				fields{"fact": said + " was said in a turn", "importance": importance, "domain": "lifestyle_and_interests"})
		}
		return answer(fields{"facts": facts})
	})
	models.OnPrompt("hippocampus/reflect", func(r llmtest.ChatRequest) llmtest.Reply {
		return answer(fields{
			"insights": []fields{
				{"insight": label.FindString(r.User) + " and another one were condensed", "sources": []int{1, 2}},
			},
			"retire": []int{1, 2},
		})
	})
	models.OnPrompt("hippocampus/judge", judged)
	c := &crowd{t: t, done: map[string]int{}}
	c.s = startServer(t, size, models, func(cfg *config.Config) {
		cfg.API.RateLimit = 0
		cfg.Reflection.Importance, cfg.Reflection.Cooldown = 3, time.Second
		cfg.Forgetting.Threshold = 0.7 // below which a new memory of importance fadesAtOnce is
		cfg.Projection.Grace = time.Second
		cfg.Router.Timeout = crowdLimit
		cfg.Recall.Timeout = 5 * crowdLimit // so that the vector store has crowdLimit
	})
	c.s.clock.run()
	c.s.client.Timeout = crowdLimit
	for i := range crowdSize {
		c.users = append(c.users,
			&person{name: fmt.Sprintf("person-%d", i), writing: map[string]bool{}, outlived: map[string]bool{}})
	}
	return c
}

// act lets all users send requests until the time is up.
func (c *crowd) act(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, crowdFor())
	defer cancel()
	var group sync.WaitGroup
	for i, p := range c.users {
		dice := rand.New(rand.NewPCG(uint64(i), 100))
		group.Go(func() {
			c.write(p, 0, "batch", "/v1/memories/batch", p.beginning)
			for n := 1; ctx.Err() == nil; n++ {
				c.request(p, dice, n)
				pause(ctx, dice, breath)
			}
		})
	}
	for i := range erasers {
		dice := rand.New(rand.NewPCG(uint64(i), 200))
		group.Go(func() {
			for ctx.Err() == nil {
				c.erase(c.users[dice.IntN(crowdSize)])
				pause(ctx, dice, breath)
			}
		})
	}
	group.Wait()
}

// pause waits for a random time, or until the crowd ends.
func pause(ctx context.Context, dice *rand.Rand, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(dice.Int64N(int64(most)))):
	}
}

// request sends one request of a user.
func (c *crowd) request(p *person, dice *rand.Rand, n int) {
	switch roll := dice.IntN(100); {
	case roll < 25:
		c.write(p, n, "turn", "/v1/turns", func(text string) fields {
			return fields{"user_id": p.name, "wait": dice.IntN(2) == 0, "messages": []fields{{"role": "user", "content": text}}}
		})
	case roll < 45:
		c.write(p, n, "write", "/v1/memories", func(text string) fields {
			body := fields{"user_id": p.name, "content": text, "dedup": dice.IntN(2) == 0, "importance": 0.9}
			if dice.IntN(4) == 0 {
				body["importance"] = fadesAtOnce
			}
			return body
		})
	case roll < 65:
		c.read(p, "recall", "POST", "/v1/recall",
			fields{"user_id": p.name, "query": "which text was said in a turn?", "limit": 20})
	case roll < 75:
		c.read(p, "list", "GET", "/v1/memories?limit=100&user_id="+p.name, nil)
	case roll < 80:
		r, _ := c.do(p, "reflect", "POST", "/v1/reflect", fields{"user_id": p.name, "force": true}, 200, 409)
		c.count("insights", len(r.list("insights")))
	case roll < 84:
		r, _ := c.do(p, "forget", "POST", "/v1/forget", fields{"user_id": p.name, "dry_run": false, "whole": true}, 200, 409)
		gone, _ := r.body["forgotten"].([]any)
		c.count("forgotten", len(gone))
	case roll < 88:
		r, _ := c.do(p, "promote", "POST", "/v1/candidates/promote", fields{"user_id": p.name, "min_importance": 0.4}, 200,
			409)
		c.count("promoted", len(r.list("results")))
	default:
		id, ok := p.any(dice)
		switch {
		case !ok:
		case roll < 92:
			c.do(p, "delete", "DELETE", "/v1/memories/"+id, nil, 200, 404, 409)
		case roll < 95:
			c.do(p, "restore", "POST", "/v1/memories/"+id+"/restore", nil, 200, 404, 409)
		case roll < 98:
			c.do(p, "pin", "PATCH", "/v1/memories/"+id, fields{"pinned": roll == 97}, 200, 404, 409)
		default:
			c.do(p, "undo", "POST", "/v1/memories/"+id+"/undo", nil, 200, 404, 409)
		}
	}
}

// settle waits until every accepted turn is processed, and checks the stores.
func (c *crowd) settle() {
	ctx := c.t.Context()
	for left := c.waiting(); left > 0; {
		eventually(c.t, "another turn being processed", func() string {
			if n := c.waiting(); n < left {
				left = n
				return ""
			}
			return fmt.Sprintf("%d turns wait", left)
		})
	}
	eventually(c.t, "the stores being equal", func() string {
		different, err := unequal(ctx, c.s.records, c.s.vectors)
		if err != nil {
			return err.Error()
		}
		return different
	})
	total := 0
	for _, p := range c.users {
		// A reflection may still end during this read.
		eventually(c.t, "the histories explaining the rows", func() string {
			all, err := chronicle(ctx, c.s.records, memory.Owner{AppID: ada.AppID, UserID: p.name}, nil)
			if err = errors.Join(err, unexplained(all)); err != nil {
				return err.Error()
			}
			total += len(all)
			return ""
		})
		c.read(p, "recall", "POST", "/v1/recall",
			fields{"user_id": p.name, "query": "which text was said in a turn?", "limit": 100, "touch": false})
	}
	eventually(c.t, "verification being clean", func() string {
		r := c.verify()
		for _, kind := range []string{"missing", "orphaned", "different"} {
			if n := r[kind].(fields)["count"]; n != 0.0 {
				return fmt.Sprint(r)
			}
		}
		return ""
	})
	c.s.stop()
	for _, what := range []string{"insights", "forgotten", "erase 200"} {
		if c.done[what] == 0 {
			c.t.Errorf("there were no %s in the crowd", what)
		}
	}
	var list []string
	for _, what := range slices.Sorted(maps.Keys(c.done)) {
		list = append(list, fmt.Sprintf("%s: %d", what, c.done[what]))
	}
	c.t.Logf("%d memories; %s", total, strings.Join(list, ", "))
}

// waiting counts the turns that are not processed, up to a page.
func (c *crowd) waiting() int {
	return len(c.s.call("GET", "/v1/turns?status=accepted&limit=500", nil, 200).list("turns"))
}

// verify lets the server compare its stores.
func (c *crowd) verify() (report fields) {
	id := c.s.call("POST", "/v1/admin/verify", nil, 202).body["id"]
	eventually(c.t, "the verification being done", func() string {
		r := c.s.call("GET", fmt.Sprintf("/v1/jobs/%v", id), nil, 200)
		report, _ = r.body["result"].(fields)
		if r.body["state"] != "completed" {
			return r.raw
		}
		return ""
	})
	return report
}
