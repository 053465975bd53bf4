package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// raceRounds returns how many rounds the erasures race for.
func raceRounds() int {
	if long {
		return 20
	}
	return 2
}

// Users are erased while their turns are processed, their talk is consolidated, they are reflected on, compressed and
// imported, while the vectors are rebuilt, and in every second round while another embedding model takes over. When the
// receipt is returned, and again when all work has ended, no store has anything of the erased users, and other users
// have all they had.
func TestErasure_RacesAgainstEverything(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		r := newErasureRace(t, size)
		for seed := range uint64(raceRounds()) {
			r.round(seed)
		}
	})
}

const (
	victims    = 2   // users that are erased in a round
	raceTurns  = 6   // of each user
	raceImport = 220 // lines; 100 are stored at once
)

// erasureRace is one installation, of two servers if several can share its stores.
type erasureRace struct {
	t                 *testing.T
	models            *llmtest.Server
	servers           []*server
	dice              *rand.Rand
	mu                sync.Mutex // of dice
	model             int        // place in raceModels of the embedding model that is configured
	untouched, before string     // a user without requests, and the user's export

	erased, returned sync.Map // users whose erasure has begun, and users for whom a file was created since
}

func newErasureRace(t *testing.T, size size) *erasureRace {
	r := &erasureRace{t: t, models: twoModels(t), dice: rand.New(rand.NewPCG(0, 0)), untouched: "bystander"}
	r.models.OnChat(func(request llmtest.ChatRequest) llmtest.Reply { return llmtest.Rules(request).After(r.pause(200)) })
	settings := slices.Concat(size.settings(t), []string{
		"DEEPSEEK_API_KEY=chat-key", "DEEPSEEK_API_BASE=" + r.models.URL(),
		"QWEN_API_KEY=embedding-key", "QWEN_API_BASE=" + r.models.URL(), "MEMORY_EMBEDDING_MODEL=" + modelA.Model,
		"HIPPOCAMPUS_EMBEDDING_CONCURRENCY=1", "HIPPOCAMPUS_PROJECTION_GRACE=1s", "HIPPOCAMPUS_RECALL_OWN_WINDOW=5s",
		"HIPPOCAMPUS_RECALL_LOG=true", "HIPPOCAMPUS_REFLECTION_COOLDOWN=0s",
	})
	r.servers = []*server{start(t, settings...)}
	if r.servers[0].setting("DATABASE_URL") != "" {
		r.servers = append(r.servers, start(t, settings...))
	}
	for _, s := range r.servers {
		t.Cleanup(s.stop) // so that no query runs when the schema is dropped
	}
	r.live(r.untouched)
	r.settle(r.untouched)
	// Otherwise the reflection that the user's memories have started may end after the export.
	eventually(t, "a reflection that no other has overtaken", func() string {
		done := r.servers[0].call("POST", "/v1/reflect", object{"user_id": r.untouched, "force": true}, 200, 409)
		if done.status != 200 {
			return done.raw
		}
		return ""
	})
	r.before = r.export(r.untouched)
	return r
}

// pause returns a random duration below some milliseconds.
func (r *erasureRace) pause(milliseconds int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(r.dice.IntN(milliseconds*1000)) * time.Microsecond
}

// server returns one of the servers.
func (r *erasureRace) server() *server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[r.dice.IntN(len(r.servers))]
}

// round writes data of users, starts all kinds of work about them, and erases them at random moments during it. One
// user with the same work is not erased.
func (r *erasureRace) round(seed uint64) {
	r.t.Helper()
	r.mu.Lock()
	r.dice = rand.New(rand.NewPCG(seed, 1))
	r.mu.Unlock()
	survivor := fmt.Sprintf("survivor-%d", seed)
	var users []string
	for n := range victims {
		users = append(users, fmt.Sprintf("victim-%dx%d", seed, n))
	}
	for _, user := range append(slices.Clone(users), survivor) {
		r.live(user)
	}
	if seed%2 == 1 {
		r.changeModel()
	}
	rebuild := r.server().call("POST", "/v1/admin/rebuild", nil, 202).body["id"].(string)
	var work sync.WaitGroup
	r.begin(&work, survivor, 200)
	var erasures sync.WaitGroup
	atReceipt := make([]string, len(users)) // what is left of each of them
	for n, user := range users {
		r.begin(&work, user, 200, 404, 409)
		erasures.Go(func() {
			time.Sleep(r.pause(500))
			r.erased.Store(user, true)
			receipt := r.server().erase(user)
			if receipt.body["verified"] != true {
				r.t.Errorf("seed %d: receipt %s", seed, receipt.raw)
			}
			atReceipt[n] = r.left(user)
		})
	}
	erasures.Wait()
	work.Wait()
	r.settle(survivor)
	eventually(r.t, "the rebuild being done", func() string {
		j := r.servers[0].call("GET", "/v1/jobs/"+rebuild, nil, 200)
		if state := j.body["state"]; state != "completed" && state != "discarded" && state != "cancelled" {
			return j.raw
		}
		return ""
	})
	for n, user := range users {
		if _, returned := r.returned.Load(user); returned { // it may have been created after the erasure
			r.server().erase(user)
		} else if atReceipt[n] != "" {
			r.t.Errorf("seed %d: at the receipt of %s: %s", seed, user, atReceipt[n])
		}
		if left := r.left(user); left != "" {
			r.t.Errorf("seed %d: when all work has ended, of %s: %s", seed, user, left)
		}
	}
	if now := r.export(r.untouched); now != r.before {
		r.t.Errorf("seed %d: the export of another user was\n%s\nand is\n%s", seed, r.before, now)
	}
	for _, user := range users { // a recall leaves an entry in the log
		if found := r.server().call("POST", "/v1/recall", object{"user_id": user, "query": user, "touch": false}, 200).
			list("memories"); len(found) > 0 {
			r.t.Errorf("seed %d: recalled after the erasure: %v", seed, found)
		}
		r.server().erase(user)
	}
}

// live writes memories of a user, old ones among them, and one item of every other kind that belongs to a user.
func (r *erasureRace) live(user string) {
	r.t.Helper()
	s := r.server()
	var batch []object
	for i := range 12 {
		batch = append(batch, object{"user_id": user, "content": fmt.Sprintf("%s went sailing on Sunday %d", user, i),
			"at": fmt.Sprintf("2020-06-%02dT08:00:00Z", i+1)})
	}
	for i := range 8 {
		batch = append(batch, object{"user_id": user, "content": fmt.Sprintf("%s owns item%dx", user, i), "importance": 0.9})
	}
	s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200)
	s.call("PUT", "/v1/facts", object{"user_id": user, "type": "home", "key": "city", "value": user + " city"}, 200, 201)
	s.call("POST", "/v1/instructions",
		object{"scope": "user", "user_id": user, "name": "tone", "content": "Call me " + user}, 201)
	s.call("POST", "/v1/skills/deploy/outcomes",
		object{"user_id": user, "workflow": "by " + user, "success": true, "id": user}, 200)
	file := "/memories/" + user + ".md"
	s.call("POST", "/v1/memory-tool", object{"user_id": user, "command": "create", "path": file,
		"file_text": user + " likes tea.\n\n" + user + " likes skiing."}, 200)
	s.call("POST", "/v1/memory-tool", object{"user_id": user, "command": "str_replace", "path": file,
		"old_str": "tea", "new_str": "coffee"}, 200)
	status := s.sendAs("PUT", "/v1/files/memory.md?user_id="+user, "# Facts\n\n- "+user+" plays chess.\n")
	if status != 200 {
		r.t.Errorf("the file of %s: status %d", user, status)
	}
	s.call("POST", "/v1/recall", object{"user_id": user, "query": "What does " + user + " own?"}, 200)
}

// begin starts all kinds of work about a user, and returns when all is under way. Requests are answered with one of the
// statuses.
func (r *erasureRace) begin(work *sync.WaitGroup, user string, statuses ...int) {
	r.t.Helper()
	talk := "talk-of-" + user
	for i := range raceTurns {
		said := fmt.Sprintf("I own the boat %s-%d. I live in %s-town.", user, i, user)
		id := fmt.Sprintf("%s-%d", talk, i)
		r.server().call("POST", "/v1/turns", object{"id": id, "user_id": user, "conversation_id": talk, "messages": []object{
			{"role": "user", "name": user, "content": said},
			{"role": "assistant", "content": "What is " + user + " going to do with it?"},
		}}, 202)
	}
	r.importSlowly(work, user)
	created := func(status int) {
		if _, erased := r.erased.Load(user); erased && status == 200 {
			r.returned.Store(user, true)
		}
	}
	var sent sync.WaitGroup
	request := func(method, path string, body any, statuses ...int) {
		sent.Add(1)
		work.Go(func() {
			s := r.server()
			sent.Done()
			a, err := s.try(method, path, body)
			if err != nil || !slices.Contains(statuses, a.status) {
				r.t.Errorf("%s %s about %s: %v, %d %s", method, path, user, err, a.status, a.raw)
			}
			if path == "/v1/memory-tool" {
				created(a.status)
			}
		})
	}
	conflicts := slices.Clip(slices.Concat(statuses, []int{409})) // several lists continue the conversation
	request("DELETE", "/v1/turns/"+talk+"-0", nil, append(conflicts, 404)...)
	request("POST", "/v1/turns", object{"user_id": user, "conversation_id": talk, "replaces": talk + "-1",
		"messages": []object{{"role": "user", "name": user, "content": "I own a canoe. I live in " + user + "-city."}}},
		append(conflicts, 202, 404)...)
	request("POST", "/v1/conversations/"+talk+"/end", object{"user_id": user, "wait": true}, append(conflicts, 202)...)
	request("POST", "/v1/reflect", object{"user_id": user, "force": true}, conflicts...)
	request("POST", "/v1/compress", object{"user_id": user}, conflicts...)
	request("POST", "/v1/candidates/promote", object{"user_id": user, "min_importance": 0.1}, conflicts...)
	request("POST", "/v1/context", object{"user_id": user, "query": "What does " + user + " own?"}, statuses...)
	request("GET", "/v1/export?user_id="+user, nil, statuses...)
	request("POST", "/v1/recall", object{"user_id": user, "query": "Where does " + user + " live?"}, statuses...)
	request("POST", "/v1/memory-tool", object{"user_id": user, "command": "create", "path": "/memories/new.md",
		"file_text": user + " saw a new film."}, conflicts...)
	request("POST", "/v1/memory-tool", object{"user_id": user, "command": "insert", "path": "/memories/" + user + ".md",
		"insert_line": 0, "insert_text": user + " sings.\n\n"}, conflicts...)
	work.Go(func() {
		status := r.server().sendAs("PUT", "/v1/files/memory.md?user_id="+user, "# Facts\n\n- "+user+" paints.\n")
		created(status)
		if status != 200 && !slices.Contains(conflicts, status) {
			r.t.Errorf("the file of %s: status %d", user, status)
		}
	})
	r.forget(user, request, conflicts)
	for i, id := range r.servers[0].active(user)[:4] {
		request("PATCH", "/v1/memories/"+id, object{"content": fmt.Sprintf("%s changed memory %d", user, i)}, conflicts...)
	}
	sent.Wait()
}

// forget forgets statements, with all items that state the same, by id, turn and conversation, and restores one of
// them.
func (r *erasureRace) forget(
	user string, request func(method, path string, body any, statuses ...int), statuses []int,
) {
	r.t.Helper()
	s, ids := r.servers[0], r.servers[0].active(user)
	forgotten := ids[len(ids)-1]
	s.call("DELETE", "/v1/memories/"+forgotten, nil, 200)
	statuses = append(statuses, 404)
	request("POST", "/v1/memories/"+forgotten+"/restore", nil, statuses...)
	request("DELETE", "/v1/memories/"+ids[len(ids)-2], nil, statuses...)
	for _, selection := range []object{
		{"turn_id": "talk-of-" + user + "-2"}, {"conversation_id": "talk-of-" + user},
		{"filter": object{"content": object{"contains": "skiing"}}},
	} {
		selection["user_id"] = user
		request("POST", "/v1/memories/forget", selection, statuses...)
	}
}

// settle waits until a user's turns are processed, and the stores agree.
func (r *erasureRace) settle(user string) {
	r.t.Helper()
	s := r.servers[0]
	eventually(r.t, "all turns being processed", func() string {
		if turns := s.call("GET", "/v1/turns?status=accepted&limit=500", nil, 200); len(turns.list("turns")) > 0 {
			return turns.raw
		}
		return ""
	})
	if failed := s.call("GET", "/v1/turns?status=failed&user_id="+user, nil, 200); len(failed.list("turns")) > 0 {
		r.t.Errorf("failed turns of %s: %s", user, failed.raw)
	}
	eventually(r.t, "verification being clean", func() string {
		if report := s.job("/v1/admin/verify"); drift(report) != 0 || report["in_flight"] != 0.0 {
			return fmt.Sprint(report)
		}
		return ""
	})
}

// export returns the lines of a user's export without the header, which has the time.
func (r *erasureRace) export(user string) string {
	r.t.Helper()
	_, lines, _ := strings.Cut(r.server().call("GET", "/v1/export?user_id="+user, nil, 200).raw, "\n")
	return lines
}
