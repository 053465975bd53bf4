package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// statementOperation is a row of the table in docs/flows/statements.md: something that is done to a statement.
type statementOperation struct {
	name  string
	ready func(u *stated) // makes the state before the operation
	do    func(u *stated)
	later bool            // it is done when so much time has passed that everything may fade
	first func(u *stated) // is called when that time has passed, before do; may be nil
}

var statementOperations = []statementOperation{
	{name: "a turn says otherwise", ready: (*stated).condensed, do: (*stated).moves},
	{name: "a direct write says otherwise", ready: (*stated).condensed, do: func(u *stated) {
		u.call("POST", "/v1/memories", object{"user_id": u.user, "content": movedFact}, 201)
	}},
	{name: "a timeline fact says otherwise", ready: (*stated).condensed, do: func(u *stated) {
		u.call("PUT", "/v1/facts",
			object{"user_id": u.user, "type": "profile", "key": "home_city", "value": "Groningen"}, 200)
	}},
	{name: "a consolidation says otherwise", ready: (*stated).condensed, do: func(u *stated) {
		u.say("settled", "Groningen has been home since Monday.", "Enjoy the north.", nil)
		u.say("asked-again", "How do I repair a roof?", "With care.", object{"at": "2026-02-20T10:05:00Z"})
		u.endOf("moved-" + u.user)
	}},
	{
		name:  "it is reported after what was said later",
		ready: (*stated).moves,
		do:    func(u *stated) { u.tell() },
	},
	{name: "the fact is changed", ready: (*stated).condensed, do: func(u *stated) {
		u.call("PATCH", "/v1/memories/"+u.ids["fact"], object{"content": movedFact}, 200)
	}},
	{name: "the fact is forgotten", ready: (*stated).condensed, do: func(u *stated) {
		u.call("DELETE", "/v1/memories/"+u.ids["fact"], nil, 200)
	}},
	{name: "the message is forgotten", ready: (*stated).condensed, do: func(u *stated) {
		u.call("DELETE", "/v1/memories/"+u.ids[u.message], nil, 200)
	}},
	{name: "the fact alone is forgotten", ready: (*stated).condensed, do: func(u *stated) {
		u.call("DELETE", "/v1/memories/"+u.ids["fact"]+"?scope=item", nil, 200)
	}},
	{name: "a filter forgets the fact", ready: (*stated).condensed, do: func(u *stated) {
		u.forgetBy(object{"filter": object{"content": object{"eq": stayedFact}}})
	}},
	{name: "its turn is forgotten", ready: (*stated).condensed, do: func(u *stated) {
		u.forgetBy(object{"turn_id": u.turnID()})
	}},
	{name: "its conversation is forgotten", ready: (*stated).condensed, do: func(u *stated) {
		u.forgetBy(object{"conversation_id": u.talk()})
	}},
	{name: "its conversation is deleted", ready: (*stated).condensed, do: func(u *stated) {
		u.call("DELETE", "/v1/conversations/"+u.talk()+"?user_id="+u.user, nil, 200)
	}},
	{name: "the conversation is deleted with its memories", ready: (*stated).condensed, do: func(u *stated) {
		u.call("DELETE", "/v1/conversations/"+u.talk()+"?memories=forget&user_id="+u.user, nil, 200)
	}},
	{name: "it fades", ready: (*stated).condensed, do: (*stated).fade, later: true},
	{name: "it is recollected", ready: (*stated).tell, later: true, first: (*stated).fade, do: func(u *stated) {
		u.call("POST", "/v1/recall", object{"user_id": u.user, "query": "Who lives in Utrecht?"}, 200)
	}},
	{
		name: "it is restored",
		ready: func(u *stated) {
			u.condensed()
			u.call("DELETE", "/v1/memories/"+u.ids["fact"], nil, 200)
		},
		do: func(u *stated) { u.call("POST", "/v1/memories/"+u.ids["fact"]+"/restore", nil, 200) },
	},
	{
		name:  "what says otherwise is undone",
		ready: func(u *stated) { u.condensed(); u.moves() },
		do:    func(u *stated) { u.call("POST", "/v1/memories/"+u.ids["fact"]+"/restore", nil, 200) },
	},
	{
		name:  "what says otherwise is taken back",
		ready: func(u *stated) { u.condensed(); u.moves() },
		do:    func(u *stated) { u.call("DELETE", "/v1/turns/"+u.user+"-moved", nil, 200) },
	},
	{name: "its turn is withdrawn", ready: (*stated).condensed, do: func(u *stated) {
		u.call("DELETE", "/v1/turns/"+u.turnID(), nil, 200)
	}},
	{name: "its turn is replaced", ready: (*stated).condensed, do: func(u *stated) {
		u.say("edited", "I live in Groningen now.", "A good move.", object{
			"replaces": u.turnID(), "conversation_id": u.talk(),
		})
	}},
	{name: "the conversation is consolidated", ready: (*stated).tell, do: (*stated).end},
	{name: "a reflection condenses the fact", ready: (*stated).tell, do: func(u *stated) { u.reflect("geese") }},
	{
		name:  "a turn says otherwise than a condensed fact",
		ready: func(u *stated) { u.tell(); u.reflect("geese") },
		do:    (*stated).moves,
	},
	{
		name:  "what says so is taken back",
		ready: func(u *stated) { u.tell(); u.reflect("geese"); u.moves() },
		do:    func(u *stated) { u.call("DELETE", "/v1/turns/"+u.user+"-moved", nil, 200) },
	},
	{
		name:  "the reflection is undone",
		ready: func(u *stated) { u.tell(); u.reflect("geese") },
		do:    func(u *stated) { u.call("POST", "/v1/memories/"+u.ids["insight"]+"/undo", nil, 200) },
	},
	{name: "the user is erased and imported again", ready: (*stated).condensed, do: func(u *stated) {
		all := u.call("GET", "/v1/export?user_id="+u.user, nil, 200).raw
		u.erase(u.user)
		u.call("POST", "/v1/import", all, 200)
	}},
	{name: "the user is erased", ready: (*stated).condensed, do: func(u *stated) { u.erase(u.user) }},
}

// TestStatements_DoAsTheTableSays does each operation of the table in docs/flows/statements.md to a statement of two
// users, and compares what becomes of each kind of item. The second user says something else in the same message.
func TestStatements_DoAsTheTableSays(t *testing.T) {
	page := statementsPage(t)
	onMainSizes(t, func(t *testing.T, size size) {
		models := statementModels(t)
		s := start(t, slices.Concat(size.settings(t), withModels(models), []string{
			"HIPPOCAMPUS_REFLECTION_IMPORTANCE=1000", // only on request
			"HIPPOCAMPUS_FORGETTING_CLOCK=wall", "HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none",
		})...)
		late := map[string][]*stated{}
		for i, operation := range statementOperations {
			if operation.later {
				late[operation.name] = s.stating(t, operation, i)
			}
		}
		t.Run("at once", func(t *testing.T) {
			for i, operation := range statementOperations {
				if !operation.later {
					t.Run(operation.name, func(t *testing.T) {
						t.Parallel()
						s.stating(t, operation, i)[0].compare(t, operation, page)
					})
				}
			}
		})
		s.stop()
		s.env = append(s.env, "E2E_AHEAD="+(ahead+3*365*24*time.Hour).String())
		s.run()
		for _, operation := range statementOperations {
			if operation.later {
				t.Run(operation.name, func(t *testing.T) { late[operation.name][0].compare(t, operation, page) })
			}
		}
	})
}

// Each row of the page's table is an operation of the test, and the other way round.
func TestStatements_TableHasTheTestsRows(t *testing.T) {
	t.Parallel()
	page := statementsPage(t)
	var want, got []string
	for _, operation := range statementOperations {
		want = append(want, operation.name)
	}
	for _, row := range page {
		got = append(got, row[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the rows %q, want %q", got, want)
	}
}

// statementsPage returns the rows of the page's table, whose first cell is the operation and whose others are in the
// order of statementKinds.
func statementsPage(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/flows/statements.md")
	if err != nil {
		t.Fatal(err)
	}
	header := "| what happens | " + strings.Join(statementKinds, " | ") + " |"
	_, table, ok := strings.Cut(string(text), header+"\n")
	if !ok {
		t.Fatalf("the page has no table %s", header)
	}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) < 2 {
			if strings.HasPrefix(line, "|") {
				continue // the line below the header
			}
			return rows
		}
		cells[0] = strings.TrimPrefix(cells[0], "| ")
		cells[len(cells)-1] = strings.TrimSuffix(cells[len(cells)-1], " |")
		if len(cells) != 1+len(statementKinds) {
			t.Fatalf("the row %q has %d cells, want %d", cells, len(cells), 1+len(statementKinds))
		}
		rows = append(rows, cells)
	}
	return rows
}

// The facts that the models take from what the users say.
const (
	stayedFact = "The user lives in Utrecht."
	movedFact  = "The user lives in Groningen."
	weakFact   = "Utrecht is where the user lives."
)

// statementModels starts the models of the table's users.
func statementModels(t *testing.T) *llmtest.Server {
	models := llmtest.New(t)
	models.Facts("I live in Utrecht", llmtest.Fact{Fact: stayedFact, Importance: 0.9},
		llmtest.Fact{Fact: weakFact, Importance: 0.2})
	models.Facts("I live in Groningen", llmtest.Fact{Fact: movedFact, Importance: 0.9})
	models.Facts("called Rex", llmtest.Fact{Fact: "The user's dog is called Rex.", Importance: 0.8})
	models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
		all := quoted[struct {
			Memory int
			Text   string
		}](r)
		isHome := func(text string) bool {
			return strings.Contains(text, "lives in") || strings.Contains(text, "home city")
		}
		isMoved := func(text string) bool { return strings.Contains(text, "Groningen") }
		decisions := []object{}
		for _, near := range all[1:] {
			decision := object{"memory": near.Memory, "decision": "keep_both"}
			if isHome(near.Text) && isHome(all[0].Text) && isMoved(near.Text) != isMoved(all[0].Text) {
				decision["decision"], decision["relation"] = "replace", "contradicts"
			}
			decisions = append(decisions, decision)
		}
		return answer(object{"decisions": decisions})
	})
	hasSettled := func(r llmtest.ChatRequest) bool { return strings.Contains(r.User, "Groningen has been home") }
	models.OnPrompt("hippocampus/replay", func(r llmtest.ChatRequest) llmtest.Reply {
		if hasSettled(r) {
			return answer(object{"summary": "Groningen has been home since Monday."})
		}
		return answer(object{"summary": "The user lives in Utrecht. They talked about repairing a bicycle."})
	})
	models.OnPrompt("hippocampus/deep", func(r llmtest.ChatRequest) llmtest.Reply {
		lasting := (&remembers{}).lasting()
		home := object{"type": "profile", "key": "home_city", "value": "Utrecht", "text": stayedFact, "confidence": 0.9}
		if hasSettled(r) {
			home["value"], home["text"] = "Groningen", movedFact
		}
		lasting["facts"] = []object{home}
		return answer(lasting)
	})
	models.OnPrompt("hippocampus/reflect", func(r llmtest.ChatRequest) llmtest.Reply {
		var cited, retired []int
		animal := "bees"
		for _, f := range quoted[struct {
			Number int
			Fact   string
		}](r) {
			isPet := strings.Contains(f.Fact, "keeps")
			if isPet && strings.Contains(f.Fact, "geese") {
				animal = "geese"
			}
			if isPet || f.Fact == stayedFact {
				cited = append(cited, f.Number)
			}
		}
		if animal == "geese" {
			retired = cited
		}
		insight := object{"insight": fmt.Sprintf("The user keeps %s in Utrecht.", animal), "sources": cited}
		return answer(object{"insights": []object{insight}, "retire": append([]int{}, retired...)})
	})
	return models
}
