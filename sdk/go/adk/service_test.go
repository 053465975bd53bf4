package adk_test

import (
	"context"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/preloadmemorytool"
	"google.golang.org/genai"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/adk"
	"hippocampus/sdk/go/api"
)

const appName = "travel"

// scripted answers with the last line of its instruction that names a city.
type scripted struct{}

func (scripted) Name() string { return "scripted" }

func (scripted) GenerateContent(
	_ context.Context, req *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	reply := "I do not know."
	if req.Config != nil && req.Config.SystemInstruction != nil {
		for _, part := range req.Config.SystemInstruction.Parts {
			for line := range strings.Lines(part.Text) {
				if strings.Contains(line, "marine biologist") {
					reply = "You told me: " + strings.TrimSpace(line)
				}
			}
		}
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: genai.NewContentFromText(reply, genai.RoleModel)}, nil)
	}
}

// travel is an agent that preloads memories, with the real runner and sessions.
type travel struct {
	*runner.Runner
	sessions session.Service
	memory   *adk.Service
	client   *hippocampus.Client
	user     string
}

func newTravel(t *testing.T) *travel {
	t.Helper()
	if os.Getenv("COMPAT_URL") == "" {
		t.Fatal("this test needs the server of scripts/compat: run scripts/compat --all adk-go")
	}
	client, err := hippocampus.New(
		hippocampus.WithURL(os.Getenv("COMPAT_URL")), hippocampus.WithKey(os.Getenv("COMPAT_KEY")))
	if err != nil {
		t.Fatal(err)
	}
	a := &travel{
		sessions: session.InMemoryService(), memory: &adk.Service{Client: client},
		client: client, user: uuid.NewString(),
	}
	guide, err := llmagent.New(llmagent.Config{
		Name: "guide", Model: scripted{}, Instruction: "Help the user.", Tools: []tool.Tool{preloadmemorytool.New()},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Runner, err = runner.New(runner.Config{
		AppName: appName, Agent: guide, SessionService: a.sessions, MemoryService: a.memory, AutoCreateSession: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// say sends a message of the user and returns the agent's answer.
func (a *travel) say(t *testing.T, sessionID, text string) (answer string) {
	t.Helper()
	message := genai.NewContentFromText(text, genai.RoleUser)
	for event, err := range a.Run(t.Context(), a.user, sessionID, message, agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Content != nil && !event.Partial {
			answer = event.Content.Parts[0].Text
		}
	}
	return answer
}

// remember adds the session in its present state to the memory.
func (a *travel) remember(t *testing.T, sessionID string) {
	t.Helper()
	got, err := a.sessions.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: a.user, SessionID: sessionID})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.memory.AddSessionToMemory(t.Context(), got.Session); err != nil {
		t.Fatal(err)
	}
}

// turns returns the ids that the service set for the user's turns, the latest first.
func (a *travel) turns(t *testing.T) (ids []string) {
	t.Helper()
	page, err := hippocampus.Decode[api.TurnPage](
		a.client.API().ListTurns(t.Context(), &api.ListTurnsParams{UserID: &a.user}))
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range page.Turns {
		ids = append(ids, *turn.ClientID)
	}
	return ids
}

func TestService_GivesTheNextSessionAFactOfTheFirst(t *testing.T) {
	t.Parallel()
	a := newTravel(t)
	if answer := a.say(t, "first", "I live in Lisbon and work as a marine biologist."); answer != "I do not know." {
		t.Fatalf("the first answer is %q", answer)
	}
	a.remember(t, "first")
	const want = "You told me: user: I live in Lisbon and work as a marine biologist."
	deadline := time.Now().Add(time.Minute)
	for i := 0; ; i++ { // turns are processed in the background
		answer := a.say(t, "next-"+uuid.NewString(), "Where does the user work?")
		if answer == want || strings.HasSuffix(answer, "I work as a marine biologist.") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the answer of the next session is %q", answer)
		}
	}
}

func TestService_AddsEachEventOfAGrowingSessionOnce(t *testing.T) {
	t.Parallel()
	a := newTravel(t)
	id := uuid.NewString()
	for i, text := range []string{"I like rowing.", "I like chess."} {
		a.say(t, id, text)
		a.remember(t, id)
		a.remember(t, id)
		turns := a.turns(t)
		if len(turns) != 2*(i+1) {
			t.Fatalf("after %d exchanges there are the turns %v", i+1, turns)
		}
		for _, turn := range turns {
			if !strings.HasPrefix(turn, "adk:"+id+":") {
				t.Errorf("a turn has the id %q", turn)
			}
		}
		slices.Sort(turns)
		if unique := slices.Compact(turns); len(unique) != len(turns) {
			t.Errorf("the turns %v are not unique", turns)
		}
	}
}

func TestService_KeepsAppsApart(t *testing.T) {
	t.Parallel()
	a := newTravel(t)
	a.say(t, "s", "I like rowing.")
	a.remember(t, "s")
	search := &memory.SearchRequest{AppName: appName, UserID: a.user, Query: "rowing"}
	deadline := time.Now().Add(time.Minute)
	for { // turns are processed in the background
		found, err := a.memory.SearchMemory(t.Context(), search)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Memories) > 0 && strings.Contains(found.Memories[0].Content.Parts[0].Text, "rowing") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the app finds %v", found.Memories)
		}
	}
	search.AppName = "bank"
	if found, err := a.memory.SearchMemory(t.Context(), search); err != nil || len(found.Memories) != 0 {
		t.Errorf("another app finds %v, %v", found, err)
	}
}

func TestService_TakesEveryQuery(t *testing.T) {
	t.Parallel()
	a := newTravel(t)
	for _, query := range []string{"", " \n", strings.Repeat("茶 ", 9000)} {
		search := &memory.SearchRequest{AppName: appName, UserID: a.user, Query: query}
		if found, err := a.memory.SearchMemory(t.Context(), search); err != nil || len(found.Memories) != 0 {
			t.Errorf("a query of %d bytes gives %v, %v", len(query), found, err)
		}
	}
}
