package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/tests/consistency"
)

const (
	replicaClients = 6
	keepers        = 40  // the most memories that the clients write
	diaryPages     = 250 // other memories of the user: more than recall compares in the database
)

// requests names the requests of the clients of replicas.
var requests = []string{"write", "change", "delete", "restore", "get", "list", "recall by words", "recall by meaning"}

// replicas are two servers of one installation with the record of their clients' requests.
type replicas struct {
	t       *testing.T
	models  *llmtest.Server
	servers []*server
	began   time.Time

	mu      sync.Mutex
	acts    int            // so far
	started int            // keepers that are being written or have been written
	ids     []string       // of keepers, in the order of the answers to their writes
	numbers map[string]int // of keepers by id
	answers []observed
}

// observed is a request with its answer. For a list, operation is the template of the operations on each memory.
type observed struct {
	operation consistency.Operation
	list      bool
	shown     map[string]string // by a list: contents by id
}

func newReplicas(t *testing.T, size size) *replicas {
	t.Helper()
	models := llmtest.New(t)
	settings := slices.Concat(size.settings(t), withModels(models))
	r := &replicas{
		t: t, models: models, servers: []*server{start(t, settings...), start(t, settings...)}, began: time.Now(),
		numbers: map[string]int{},
	}
	for _, s := range r.servers {
		t.Cleanup(s.stop) // so that no query runs when the schema is dropped
	}
	var pages []object
	for i := range diaryPages {
		pages = append(pages, object{"user_id": "ada", "content": fmt.Sprintf("page %d of the diary is blank", i)})
	}
	r.servers[0].call("POST", "/v1/memories/batch", object{"memories": pages}, 200)
	return r
}

// act lets the clients send requests for some time.
func (r *replicas) act(d time.Duration) {
	r.acts++
	until := time.Now().Add(d)
	var group sync.WaitGroup
	for n := range replicaClients {
		c := &replicaClient{replicas: r, number: n, dice: rand.New(rand.NewPCG(uint64(n), uint64(r.acts)))}
		group.Go(func() {
			for i := n; time.Now().Before(until) && !r.t.Failed(); i++ {
				c.request(r.servers[i%len(r.servers)])
			}
		})
	}
	group.Wait()
}

// history returns one operation for each memory that an answer is about.
func (r *replicas) history() (history []consistency.Operation) {
	written := map[string]time.Duration{}
	for _, a := range r.answers {
		if a.operation.Kind == consistency.Create {
			written[a.operation.Memory] = a.operation.Start
		}
	}
	for _, a := range r.answers {
		if !a.list {
			history = append(history, a.operation)
			continue
		}
		for id, start := range written {
			o := a.operation
			if o.End < start {
				continue
			}
			o.Memory = id
			if content, shown := a.shown[id]; shown {
				o.Status, o.Content = consistency.Active, content
			}
			history = append(history, o)
		}
	}
	slices.SortStableFunc(history, func(a, b consistency.Operation) int { return int(a.Start - b.Start) })
	return history
}

// counts counts the requests of each name.
func (r *replicas) counts() map[string]int {
	counts := map[string]int{}
	for _, a := range r.answers {
		counts[a.operation.Request]++
	}
	return counts
}

// replicaClient sends one request after the other.
type replicaClient struct {
	*replicas
	number int
	dice   *rand.Rand
	latest string // keeper that the client has changed or read
}

// request sends a request about one keeper, half of the time about the one of the previous request.
func (c *replicaClient) request(s *server) {
	id := c.choose()
	path := "/v1/memories/" + id
	switch roll := c.dice.IntN(100); {
	case id == "" || roll < 5:
		c.write(s)
	case roll < 20:
		content := c.content(c.numberOf(id))
		c.one(s, consistency.Operation{Request: "change", Kind: consistency.Update, Memory: id, Content: content},
			"PATCH", path, object{"content": content})
	case roll < 30:
		c.one(s, consistency.Operation{Request: "delete", Kind: consistency.Delete, Memory: id}, "DELETE", path, nil)
	case roll < 40:
		c.one(s, consistency.Operation{Request: "restore", Kind: consistency.Restore, Memory: id}, "POST", path+"/restore",
			nil)
	case roll < 65:
		c.one(s, consistency.Operation{Request: "get", Kind: consistency.Get, Memory: id}, "GET", path, nil)
	case roll < 75:
		c.find(s, consistency.Operation{Request: "list"}, "GET", "/v1/memories?limit=500&user_id=ada", nil)
	case roll < 88:
		c.recall(s, "recall by words", id, keeperOf(c.numberOf(id)))
	default:
		c.recall(s, "recall by meaning", id, beaconOf(c.numberOf(id)))
	}
}

func (c *replicaClient) choose() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest == "" || c.dice.IntN(2) == 0 {
		if len(c.ids) == 0 {
			return ""
		}
		c.latest = c.ids[c.dice.IntN(len(c.ids))]
	}
	return c.latest
}

func (r *replicas) numberOf(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.numbers[id]
}

// content returns a content that no other request writes. It shares no word with the question for its keeper, and has
// the same embedding.
func (c *replicaClient) content(keeper int) string {
	content := fmt.Sprintf("Ada met %s at step%dx%dx%d",
		keeperOf(keeper), c.number, time.Since(c.began).Nanoseconds(), c.acts)
	meaning := make([]float32, llmtest.Dim)
	meaning[keeper] = 1
	c.models.Embedding(content, meaning)
	c.models.Embedding(beaconOf(keeper), meaning)
	return content
}

func beaconOf(keeper int) string { return "who tends beacon" + lettersOf(keeper) }

func keeperOf(keeper int) string { return "keeper" + lettersOf(keeper) }

// lettersOf names a number in letters, so that the name is one word: "keeper2" is the words "keeper" and "2", which the
// content of another keeper may have also. The last letter keeps stemmers from cutting it.
func lettersOf(n int) string { return string([]byte{'a' + byte(n/26), 'a' + byte(n%26), 'q'}) }

// send sends a request and notes its times. A conflict is an answer to a change.
func (c *replicaClient) send(s *server, o *consistency.Operation, method, path string, body any) (reply, bool) {
	o.Client, o.Server, o.Start = c.number, s.address(), time.Since(c.began)
	r, err := s.try(method, path, body)
	o.End = time.Since(c.began)
	o.Refused = r.status == 409 && o.Kind == consistency.Update
	if ok := err == nil && (r.status/100 == 2 || o.Refused); !ok {
		c.t.Errorf("%s %s: %v %d %s", method, path, err, r.status, r.raw)
		return r, false
	}
	return r, true
}

// note adds an answer to the record.
func (r *replicas) note(a observed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, a)
}

// one sends a request about one memory.
func (c *replicaClient) one(s *server, o consistency.Operation, method, path string, body any) {
	r, ok := c.send(s, &o, method, path, body)
	if !ok {
		return
	}
	if !o.Refused {
		status, _ := r.body["status"].(string)
		o.Status = consistency.Status(status)
		o.Content, _ = r.body["content"].(string)
		o.Memory, _ = r.body["id"].(string)
	}
	c.note(observed{operation: o})
	c.latest = o.Memory
}

// write writes another keeper, unless there are enough.
func (c *replicaClient) write(s *server) {
	c.mu.Lock()
	keeper := c.started
	if keeper >= keepers {
		c.mu.Unlock()
		return
	}
	c.started++
	c.mu.Unlock()
	c.one(s, consistency.Operation{Request: "write", Kind: consistency.Create}, "POST", "/v1/memories",
		object{"user_id": "ada", "content": c.content(keeper)})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, c.latest)
	c.numbers[c.latest] = keeper
}

// recall asks a question to which one keeper is the answer.
func (c *replicaClient) recall(s *server, request, id, question string) {
	c.find(s, consistency.Operation{Request: request, Memory: id}, "POST", "/v1/recall",
		object{"user_id": "ada", "query": question, "limit": 10, "route": false})
}

// find sends a request that shows active memories: all of them, or at least the memory of the operation if it is
// active.
func (c *replicaClient) find(s *server, o consistency.Operation, method, path string, body any) {
	o.Kind = consistency.Find
	r, ok := c.send(s, &o, method, path, body)
	if !ok {
		return
	}
	shown := map[string]string{}
	for _, m := range r.list("memories") {
		if m["status"] != string(consistency.Active) {
			c.t.Errorf("%s shows a memory that is not active: %v", o.Request, m)
		}
		shown[m["id"].(string)], _ = m["content"].(string)
	}
	if content, found := shown[o.Memory]; found {
		o.Status, o.Content = consistency.Active, content
	}
	c.note(observed{operation: o, list: o.Memory == "", shown: shown})
}
