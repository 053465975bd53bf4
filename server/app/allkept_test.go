package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/internal/llm/llmtest"
)

// fault is how a part of the models fails.
type fault struct {
	name  string
	down  bool // the embedder cannot be reached
	chat  func(llmtest.ChatRequest) llmtest.Reply
	embed func(models *llmtest.Server, r llmtest.EmbedRequest) llmtest.Reply
	lasts bool // the embedder never accepts the texts
}

// faults returns the faults of an endpoint as a model or as an embedder, and refusals of single texts.
func faults() (list []fault) {
	for name, reply := range map[string]llmtest.Reply{
		"400": llmtest.Status(400), "413": llmtest.Status(413), "429": llmtest.Status(429), "500": llmtest.Status(500),
		"garbage": llmtest.Raw("]garbage["), "slow": llmtest.Hang(), "cut": llmtest.Cut(),
	} {
		list = append(list,
			fault{name: "model " + name, chat: func(llmtest.ChatRequest) llmtest.Reply { return reply }},
			fault{name: "embedder " + name, embed: func(*llmtest.Server, llmtest.EmbedRequest) llmtest.Reply { return reply }})
	}
	refusing := func(such func(text string) bool) func(*llmtest.Server, llmtest.EmbedRequest) llmtest.Reply {
		return func(models *llmtest.Server, r llmtest.EmbedRequest) llmtest.Reply {
			if slices.ContainsFunc(r.Texts, such) {
				return llmtest.Status(http.StatusRequestEntityTooLarge)
			}
			return models.Embed(r)
		}
	}
	return append(list,
		fault{name: "none"},
		fault{name: "embedder unreachable", down: true},
		fault{name: "all unreachable", down: true, chat: func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Cut() }},
		fault{name: "embedder refuses long texts", lasts: true, embed: refusing(func(s string) bool { return len(s) > 300 })},
		fault{name: "embedder refuses some texts", lasts: true, embed: refusing(func(s string) bool {
			return strings.Contains(s, "unspeakable") || strings.Contains(s, "🐝")
		})})
}

// Whatever the models do, everything that is sent through any door is kept, already known, or named as left out: at
// once, or once the turn that waits for the models is processed.
func TestDoors_KeepOrNameAllThatWasSent(t *testing.T) {
	t.Parallel()
	running := make(chan struct{}, 6) // servers at a time
	for i, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			running <- struct{}{}
			defer func() { <-running }()
			keepAll(t, f, i)
		})
	}
}

func keepAll(t *testing.T, f fault, seed int) {
	models, upstream := llmtest.New(t), llmtest.New(t)
	upstream.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("I see.") })
	cfg := devConfig(t)
	cfg.Chat.BaseURL, cfg.Chat.APIKey = models.URL(), "key"
	cfg.Chat.Timeout, cfg.Chat.Retries = 200*time.Millisecond, 0
	embedders := llmtest.New(t)
	cfg.Embedding.BaseURL, cfg.Embedding.APIKey = embedders.URL(), "key"
	cfg.Embedding.Timeout = 200 * time.Millisecond
	cfg.API.WaitTimeout = 200 * time.Millisecond
	cfg.API.ShutdownTimeout = time.Minute // of a machine that is busy with the other doors
	cfg.Proxy.Upstream = upstream.URL()
	d := doors{start(t, cfg)}
	defer d.stop()
	if f.chat != nil {
		models.OnChat(f.chat)
	}
	if f.embed != nil {
		embedders.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply { return f.embed(embedders, r) })
	}
	embedders.SetDown(f.down)

	sent, statements, refused := map[string]int{}, map[string][]string{}, map[string][]bool{}
	var again []string // doors of statements that answered with an error
	var mu sync.Mutex
	var sending sync.WaitGroup
	for name, door := range talks {
		messages := rapid.SliceOfN(saying, 1, 4).Example(seed + len(name))
		sending.Go(func() {
			n := door(d, name, messages)
			mu.Lock()
			defer mu.Unlock()
			sent[name] = n
		})
	}
	put := func(name string) {
		status, of := items[name](d, name, statements[name])
		mu.Lock()
		defer mu.Unlock()
		refused[name] = of
		if status/100 != 2 {
			again = append(again, name)
		}
	}
	for name := range items {
		statements[name] = []string{"Owns a kayak " + name + ".", "An unspeakable owl sits there " + name + "."}
		if name == "direct" || name == "batch" {
			statements[name] = append(statements[name], "🐝")
		}
	}
	for name := range items {
		sending.Go(func() { put(name) })
	}
	sending.Wait()
	until(t, func() string { // while the models fail
		_, lacking := d.checkTurns(sent, false)
		return lacking
	})

	models.OnChat(nil)
	embedders.SetDown(false)
	if !f.lasts {
		embedders.OnEmbed(nil)
	}
	until(t, func() string {
		repeat := again
		again = nil
		for _, name := range repeat {
			put(name)
		}
		if len(again) > 0 {
			return strings.Join(again, ", ")
		}
		waiting, _ := d.checkTurns(sent, true)
		return waiting
	})
	for name, list := range statements {
		contents, _ := d.kept(name)
		for i, s := range list {
			kept := slices.ContainsFunc(contents, func(c string) bool { return strings.Contains(c, s) })
			if kept == refused[name][i] {
				t.Errorf("%s: %q is kept: %t, refused: %t; there are %q", name, s, kept, refused[name][i], contents)
			}
		}
	}
}

// until calls f until it returns "".
func until(t *testing.T, f func() (waiting string)) {
	t.Helper()
	waiting := ""
	for deadline := time.Now().Add(longTime); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		if waiting = f(); waiting == "" {
			return
		}
	}
	t.Fatalf("still waiting for %s", waiting)
}

// checkTurns compares what was said in the turns of each user with what is kept and left out. It returns the turns that
// are not processed, which it replays if the models work again, and the turns that still lack something that was said.
func (d doors) checkTurns(sent map[string]int, replay bool) (waiting, lacking string) {
	d.t.Helper()
	type turn struct {
		ID, Status string
		Messages   []said
		LeftOut    []struct{ Characters int } `json:"left_out"`
	}
	for user, want := range sent {
		var page struct{ Turns []turn }
		d.decode(d.get("/v1/turns?user_id="+escape(user)), &page)
		turns := make([]turn, len(page.Turns))
		for i, listed := range page.Turns {
			d.decode(d.get("/v1/turns/"+listed.ID), &turns[i])
		}
		_, kept := d.kept(user) // after the turns, since turns that are processed in between are kept
		logged := 0
		for _, turn := range turns {
			if turn.Status == "withdrawn" {
				continue
			}
			log := visible(contentsOf(turn.Messages)...)
			logged += log
			left := 0
			for _, o := range turn.LeftOut {
				left += o.Characters
			}
			if kept[turn.ID]+left != log {
				lacking += fmt.Sprintf("%s's turn, which is %s: of %d characters %d are kept, and %d left out; ", user,
					turn.Status, log, kept[turn.ID], left)
			}
			if turn.Status == "processed" && kept[turn.ID]+left != log {
				d.t.Errorf("%s: of %d characters %d are kept, and %d left out: %+v", user, log, kept[turn.ID], left, turn)
			}
			if turn.Status != "processed" {
				waiting += fmt.Sprintf("%s's turn, which is %s; ", user, turn.Status)
				if replay {
					d.send("POST", "/v1/turns/"+turn.ID+"/replay", fields{}, "application/json")
				}
			}
		}
		if logged != want {
			if user == "proxy" && logged < want { // it reports the turn after its answer
				missing := fmt.Sprintf("the proxy's report: %d of %d characters; ", logged, want)
				waiting, lacking = waiting+missing, lacking+missing
			} else {
				d.t.Errorf("%s: %d characters are in the log, %d were sent", user, logged, want)
			}
		}
	}
	return waiting, lacking
}
