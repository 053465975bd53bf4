package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"sync"
)

// person is a user. Each text of a person begins with a label: the name, the
// number of the life (an erasure ends a life), and the number of the text.
type person struct {
	name string

	mu       sync.Mutex
	life     int
	erasing  bool
	writing  map[string]bool // texts of pending requests
	outlived map[string]bool // texts whose requests overlapped an erasure: they may be erased or not
	ids      []string        // of memories seen
}

var label = regexp.MustCompile(`(person-\d+) life-(\d+) text-\d+`)

// fadesAtOnce is an importance with which a memory is below the crowd's threshold of retention when it is written.
const fadesAtOnce = 0.3

// beginning is a user's first batch: enough to reflect on, and a memory to forget.
func (p *person) beginning(text string) fields {
	var list []fields
	for _, what := range []string{"apples", "bridges", "cellos"} {
		list = append(list, fields{"user_id": p.name, "content": text + " was of " + what, "importance": 0.9})
	}
	list = append(list, fields{"user_id": p.name, "content": text + " hardly matters", "importance": fadesAtOnce})
	return fields{"memories": list}
}

// any returns one of the memories that the user has seen.
func (p *person) any(dice *rand.Rand) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ids) == 0 {
		return "", false
	}
	return p.ids[dice.IntN(len(p.ids))], true
}

func (c *crowd) count(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[what] += n
}

// do sends a request and expects one of the statuses.
func (c *crowd) do(p *person, what, method, path string, body any, statuses ...int) (reply, bool) {
	r, err := c.s.try(method, path, body)
	c.count(fmt.Sprintf("%s %d", what, r.status), 1)
	if err != nil || !slices.Contains(statuses, r.status) {
		c.fail("%s of %s: %v, %d %s", what, p.name, err, r.status, r.raw)
	}
	return r, err == nil && r.status/100 == 2
}

// fail reports the first failures.
func (c *crowd) fail(format string, args ...any) {
	if c.wrong.Add(1) <= 20 {
		c.t.Errorf(format, args...)
	}
}

// write sends a text of the user's present life.
func (c *crowd) write(p *person, n int, what, path string, body func(text string) fields) {
	p.mu.Lock()
	text := fmt.Sprintf("%s life-%d text-%d", p.name, p.life, n)
	p.writing[text] = true
	if p.erasing {
		p.outlived[text] = true
	}
	p.mu.Unlock()
	r, ok := c.do(p, what, "POST", path, body(text), 200, 201, 202, 409)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.writing, text)
	if !p.erasing && !p.outlived[text] && !ok {
		c.fail("%s of %s was refused without an erasure: %d %s", what, p.name, r.status, r.raw)
	}
}

// read reads the user's memories. They must be the user's own, and of no life
// that ended before the request was sent.
func (c *crowd) read(p *person, what, method, path string, body any) {
	p.mu.Lock()
	life := p.life
	p.mu.Unlock()
	r, ok := c.do(p, what, method, path, body, 200)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = p.ids[:0]
	for _, m := range r.list("memories") {
		p.ids = append(p.ids, m["id"].(string))
		said := label.FindStringSubmatch(m["content"].(string))
		if len(said) < 3 || said[1] != p.name || m["user_id"] != p.name {
			c.fail("%s of %s shows another's: %v", what, p.name, m)
			continue
		}
		if of, _ := strconv.Atoi(said[2]); of < life && !p.outlived[said[0]] {
			c.fail("%s of %s in life %d shows what was erased: %v", what, p.name, life, m)
		}
	}
}

// erase ends a user's life, unless another erasure of the user is running.
func (c *crowd) erase(p *person) {
	p.mu.Lock()
	if p.erasing {
		p.mu.Unlock()
		return
	}
	p.erasing = true
	maps.Copy(p.outlived, p.writing)
	p.mu.Unlock()
	r, ok := c.do(p, "erase", "DELETE", "/v1/users/"+p.name, nil, 200, 503)
	for r.status == 503 { // pushes took longer than one call waits; the next call continues the erasure
		r, ok = c.do(p, "erase", "DELETE", "/v1/users/"+p.name, nil, 200, 503)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Requests that were sent during the erasure may still be pending.
	maps.Copy(p.outlived, p.writing)
	p.erasing = false
	if ok {
		p.life++
	}
	if ok && r.body["verified"] != true {
		c.fail("the erasure of %s left something: %s", p.name, r.raw)
	}
}
