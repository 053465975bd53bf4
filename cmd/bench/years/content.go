package years

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"hippocampus/cmd/bench/target"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// ContentReport says what is left of a year of statements, by how a server was set.
type ContentReport struct {
	Statements int       `json:"statements"`
	Questions  int       `json:"questions"`
	Runs       []Content `json:"runs"`
}

// Content is what is left after a year.
type Content struct {
	Forgets bool           `json:"forgets"` // by the default rule; false: forgetting.max_share is 0
	Keeps   float64        `json:"keeps"`   // the share of a text that a summary keeps; 0: nothing is compressed
	Found   map[string]int `json:"found"`   // questions whose evidence is in the first ten results, by language
	Active  int            `json:"active"`  // memories of both users
	Tokens  int            `json:"tokens"`  // of their contents
	Asked   int            `json:"asked"`   // prompts of the chat model by compression
}

// said is a statement of a user.
type said struct {
	at   time.Time
	text string
}

// question is answered by each memory that has the key.
type question struct{ user, text, key string }

//go:embed testdata/questions.tsv
var questionFile string

// users are the users of the year, each with the lives that follow each other.
var users = map[string][]string{"en": {"life_en", "other_en"}, "zh": {"life_zh", "other_zh"}}

// firstDay is the first day of the year. Lives of the year before are moved into it.
var firstDay = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// RunContent has two users live through a year four times: with and without forgetting and compression. Run it inside
// the repository, since it reads the lives of reflection/episodes and builds the server with the clock of its tests.
func RunContent(ctx context.Context, o Options, progress io.Writer) (report ContentReport, err error) {
	lives, err := livesOf()
	if err != nil {
		return report, err
	}
	questions := questionsOf()
	report.Questions = len(questions)
	for _, life := range lives {
		report.Statements += len(life)
	}
	for _, forgets := range []bool{true, false} {
		for _, keeps := range []float64{0, 0.6, 0.95} {
			fmt.Fprintf(progress, "a year with forgetting %v, summaries of %v\n", forgets, keeps)
			run := Content{Forgets: forgets, Keeps: keeps, Found: map[string]int{}}
			if err := run.live(ctx, o, maps.Clone(lives), questions); err != nil {
				return report, err
			}
			report.Runs = append(report.Runs, run)
		}
	}
	return report, nil
}

func livesOf() (map[string][]said, error) {
	lives := map[string][]said{}
	for user, names := range users {
		for _, name := range names {
			data, err := os.ReadFile("reflection/episodes/testdata/" + name + ".tsv")
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(data)) {
				f := strings.Split(strings.TrimSpace(line), "\t")
				at, err := time.Parse("2006-01-02T15:04", f[0])
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				if at.Before(firstDay) {
					at = at.AddDate(1, 0, 0)
				}
				lives[user] = append(lives[user], said{at, f[2]})
			}
		}
		slices.SortStableFunc(lives[user], func(a, b said) int { return a.at.Compare(b.at) })
	}
	return lives, nil
}

func questionsOf() (all []question) {
	for line := range strings.Lines(questionFile) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		_, language, _ := strings.Cut(f[0], "_")
		all = append(all, question{language, f[1], f[2]})
	}
	return all
}

// live has the users live through a year on a new server, and measures what is left.
func (c *Content) live(ctx context.Context, o Options, lives map[string][]said, questions []question) (err error) {
	models, err := llmtest.Start("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer models.Close()
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		switch llmtest.PromptName(r.System) {
		case "score":
			return factsOf(r)
		case "compress":
			return llmtest.Summaries(r, c.Keeps)
		}
		return llmtest.Rules(r)
	})
	folder, err := os.MkdirTemp("", "hippocampus-year-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	clock, overlay := filepath.Join(folder, "clock"), filepath.Join(folder, "overlay.json")
	if err := errors.Join(os.WriteFile(clock, nil, 0o600), os.Chtimes(clock, firstDay, firstDay),
		writeOverlay(overlay)); err != nil {
		return err
	}
	settings := []string{
		"E2E_CLOCK=" + clock, "DEEPSEEK_API_KEY=key", "DEEPSEEK_API_BASE=" + models.URL(),
		"HIPPOCAMPUS_REFLECTION_IMPORTANCE=1000",
		"HIPPOCAMPUS_RECALL_RECOLLECT=false", // what has faded would be purged after 30 days
	}
	if !c.Forgets {
		settings = append(settings, "HIPPOCAMPUS_FORGETTING_MAX_SHARE=0")
	}
	server, err := target.Start(ctx, target.Options{
		Size: target.Small, Settings: append(settings, o.Settings...), Build: []string{"-overlay", overlay},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	for day := range 365 {
		begins := firstDay.AddDate(0, 0, day)
		for user := range users {
			if lives[user], err = today(ctx, server.Client, clock, user, lives[user], begins, o.Recalled); err != nil {
				return err
			}
		}
		if err := c.night(ctx, server.Client, clock, begins.Add(27*time.Hour), models); err != nil {
			return err
		}
	}
	return c.measure(ctx, server.Client, questions)
}

// factsOf answers the scorer: each message of the user is a fact in its words, which time lets fade.
func factsOf(r llmtest.ChatRequest) llmtest.Reply {
	facts := []llmtest.Fact{}
	for line := range strings.Lines(r.User) {
		var said struct {
			Role, Content string
			Before        bool
		}
		if json.Unmarshal([]byte(line), &said) == nil && said.Role == "user" && !said.Before {
			facts = append(facts, llmtest.Fact{
				Fact: said.Content, Importance: 0.7, Domain: memory.Lifestyle, Type: memory.TypeFact,
			})
		}
	}
	data, _ := json.Marshal(map[string]any{"facts": facts}) // texts and numbers: cannot fail
	return llmtest.Text(string(data))
}

// writeOverlay has a build take the clock of the tests, which reads the time of a file.
func writeOverlay(path string) error {
	replaced, err := filepath.Abs("cmd/hippocampus/clock.go")
	if err != nil {
		return err
	}
	clock, err := filepath.Abs("tests/e2e/testdata/clock/clock.go")
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {replaced: clock}})
	return errors.Join(err, os.WriteFile(path, data, 0o600))
}

// today reports what a user says on a day, each after a context for it, and returns what is left to be said. On a day
// without a statement the user says hello.
func today(ctx context.Context, client target.Client, clock, user string, life []said, begins time.Time,
	recalled int) ([]said, error) {
	var ignored any
	turn := map[string]any{"user_id": user, "conversation_id": begins.Format(time.DateOnly), "wait": true}
	quiet := true
	for len(life) > 0 && life[0].at.Before(begins.AddDate(0, 0, 1)) {
		quiet = false
		now := life[0]
		life = life[1:]
		if err := os.Chtimes(clock, now.at, now.at); err != nil {
			return nil, err
		}
		turn["messages"] = []map[string]any{{"role": "user", "content": now.text}, {"role": "assistant", "content": "OK."}}
		var failed error
		if recalled > 0 {
			failed = client.Call(ctx, "POST", "/v1/recall", map[string]any{
				"user_id": user, "query": now.text, "limit": recalled,
			}, &ignored)
		}
		if err := cmp.Or(failed, client.Call(ctx, "POST", "/v1/turns", turn, &ignored)); err != nil {
			return nil, err
		}
	}
	if !quiet {
		return life, nil
	}
	turn["memory"], turn["messages"] = "off", []map[string]any{{"role": "user", "content": "Hello!"}}
	return life, client.Call(ctx, "POST", "/v1/turns", turn, &ignored)
}

// night does the work of the schedule.
func (c *Content) night(
	ctx context.Context, client target.Client, clock string, at time.Time, models *llmtest.Server,
) error {
	if err := client.Settle(ctx); err != nil {
		return err
	}
	if err := os.Chtimes(clock, at, at); err != nil {
		return err
	}
	var ignored any
	for user := range users {
		err := client.Call(ctx, "POST", "/v1/forget", map[string]any{"user_id": user, "dry_run": false}, &ignored)
		if err != nil {
			return err
		}
		if c.Keeps == 0 {
			continue
		}
		before := models.Chats()
		if err := client.Call(ctx, "POST", "/v1/compress", map[string]any{"user_id": user}, &ignored); err != nil {
			return err
		}
		c.Asked += models.Chats() - before
	}
	return client.Settle(ctx)
}

// measure asks the questions, and counts what is active.
func (c *Content) measure(ctx context.Context, client target.Client, questions []question) error {
	type memories struct {
		Memories []struct{ Content string } `json:"memories"`
	}
	for _, q := range questions {
		var found memories
		err := client.Call(ctx, "POST", "/v1/recall", map[string]any{
			"user_id": q.user, "query": q.text, "limit": 10, "touch": false, "route": false,
		}, &found)
		if err != nil {
			return err
		}
		for _, m := range found.Memories {
			if strings.Contains(strings.ToLower(m.Content), strings.ToLower(q.key)) {
				c.Found[q.user]++
				break
			}
		}
	}
	for user := range users {
		var active memories
		if err := client.Call(ctx, "GET", "/v1/memories?limit=500&user_id="+user, nil, &active); err != nil {
			return err
		}
		c.Active += len(active.Memories)
		for _, m := range active.Memories {
			c.Tokens += text.CountTokens(m.Content)
		}
	}
	return nil
}

// Print writes the report as a table for people.
func (r ContentReport) Print(out io.Writer) error {
	fmt.Fprintf(out, "%d statements of two users in a year, %d questions\n\n", r.Statements, r.Questions)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "forgets\tkeeps\tfound, English\tChinese\tactive memories\ttokens\tprompts\t")
	for _, c := range r.Runs {
		fmt.Fprintf(w, "%v\t%v\t%d\t%d\t%d\t%d\t%d\t\n", c.Forgets, c.Keeps, c.Found["en"], c.Found["zh"], c.Active,
			c.Tokens, c.Asked)
	}
	return w.Flush()
}
