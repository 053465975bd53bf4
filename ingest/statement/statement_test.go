package statement

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

func TestWithout_TakesTheSentencesOfAFact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content, fact string
		others        []string
		left          string
	}{
		{"I am allergic to peanuts, so no satay for me, please.", "I am allergic to peanuts", nil, ""},
		{
			"I am allergic to peanuts. Which snack keeps well on a hike?", "Allergic to peanuts", nil,
			"Which snack keeps well on a hike?",
		},
		{
			"I am allergic to peanuts and I live in Oslo.", "The user is allergic to peanuts", []string{"I live in Oslo"},
			"I live in Oslo.",
		},
		{"I am allergic to peanuts and I live in Oslo.", "I am allergic to peanuts", nil, ""},
		{"我住在上海。我喜欢喝茶。", "用户住在上海", []string{"用户喜欢喝茶"}, "我喜欢喝茶。"},
		{"我住在上海，喜欢喝茶。", "用户住在上海", []string{"用户喜欢喝茶"}, "喜欢喝茶。"},
		{"My sister Anna moved to Porto in May. We talk on Sundays.", "Anna lives in Porto", nil, "We talk on Sundays."},
		{"Je suis végétarien. Merci!", "The user eats no meat", nil, ""}, // not located
		{"I work as a nurse. Thanks!", "The user is a nurse", nil, "Thanks!"},
	} {
		var others []words
		for _, o := range c.others {
			others = append(others, wordsOf(o))
		}
		if left, _ := without(c.content, []words{wordsOf(c.fact)}, others); left != c.left {
			t.Errorf("%q without %q: %q, want %q", c.content, c.fact, left, c.left)
		}
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// log makes documents that are named by their ids.
type log struct {
	docs []db.Document
	rows map[string]memory.Memory
}

// say adds a message of the turn with a number.
func (l *log) say(id, speaker string, turn int, content string) {
	at := noon.Add(time.Duration(turn) * time.Minute)
	l.add(memory.Memory{
		ID: id, Type: memory.TypeMessage, Speaker: speaker, Content: content, ConversationID: "c", CreatedAt: at,
	})
}

// state adds a memory that was derived from others.
func (l *log) state(id string, of memory.Type, content string, sources ...string) {
	l.add(memory.Memory{ID: id, Type: of, Content: content, CreatedAt: noon}, sources...)
}

func (l *log) add(m memory.Memory, sources ...string) {
	l.docs = append(l.docs, db.Document{
		ID: m.ID, Content: m.Content, Lexemes: text.Join(text.Lexemes(m.IndexedText())), Speaker: m.Speaker, Type: m.Type,
		ConversationID: m.ConversationID, CreatedAt: m.CreatedAt, DerivedFrom: sources,
	})
	if l.rows == nil {
		l.rows = map[string]memory.Memory{}
	}
	l.rows[m.ID] = m
}

// found returns the memories that are found with a memory, each as "id why left".
func (l *log) found(id string) (found []string) {
	var sources []memory.Memory
	for _, d := range l.docs {
		if d.ID == id {
			for _, s := range d.DerivedFrom {
				sources = append(sources, l.rows[s])
			}
		}
	}
	all, _ := Of(l.rows[id], sources, l.docs)
	for _, f := range all {
		found = append(found, fmt.Sprintf("%s %s %s", f.ID, f.Why, f.Left))
	}
	return found
}

func TestOf_FindsWhatStatesTheSame(t *testing.T) {
	t.Parallel()
	var l log
	l.say("u1", "user", 1, "I am allergic to peanuts, so no satay for me, please. My dog is called Rex.")
	l.say("a1", "assistant", 1, "Understood, no peanuts for you! Give Rex a pat.")
	l.say("u2", "user", 2, "What shall I cook tonight?")
	l.say("a2", "assistant", 2, "Since you are allergic to peanuts: a risotto.")
	l.say("u3", "user", 3, "My sister Anna likes peanuts.")
	l.say("u4", "user", 4, "Again: I am allergic to peanuts!")
	l.state("allergy", memory.TypeFact, "I am allergic to peanuts, so no satay for me, please.", "u1")
	l.state("dog", memory.TypeFact, "The user's dog is called Rex", "u1")
	l.state("anna", memory.TypeFact, "Anna likes peanuts", "u3")
	l.state("summary", memory.TypeSummary, "Peanuts, Rex and Anna.", "u1", "u3")
	l.state("alone", memory.TypeSummary, "Cooks in the evening.", "u2")
	l.state("insight", "insight", "Plans meals with care", "allergy", "anna")
	l.state("deeper", memory.TypeReflection, "Careful", "insight")
	for id, want := range map[string][]string{
		"allergy": {
			"u1 source My dog is called Rex.", "a1 echoes Give Rex a pat.", "a2 echoes ", "u4 restates ",
			"summary derived ", "insight derived ", "deeper derived ",
		},
		"dog": {
			"u1 source I am allergic to peanuts, so no satay for me, please.", "a1 echoes Understood, no peanuts for you!",
			"summary derived ",
		},
		"u1": {
			"allergy restates ", "dog restates ", "a1 echoes ", "a2 echoes ", "u4 restates ", "summary derived ",
			"insight derived ", "deeper derived ",
		},
		"u3":      {"anna restates ", "summary derived ", "insight derived ", "deeper derived "},
		"u2":      {"alone derived "}, // its sources come back, and it is no statement of its own
		"a2":      nil,
		"insight": {"deeper derived "},
		"summary": nil,
	} {
		if diff := cmp.Diff(want, l.found(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// The assistant's answer takes up what was said, though it repeats few of its words.
func TestOf_FindsAnswersThatAlludeToTheStatement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ said, answer, left string }{
		{"我的女朋友叫林雪。", "林雪是个好听的名字。你们周末有什么计划？", "你们周末有什么计划？"},
		{"我去年做过心脏手术。", "希望你的心脏手术恢复顺利。", ""},
		{"我住在上海浦东。", "上海是个好地方。今天想聊什么？", "今天想聊什么？"},
		{"I have been taking sertraline for my depression since May.", "Does the sertraline help you sleep?", ""},
		{"My sister has epilepsy.", "Epilepsy can be managed well today.", ""},
		{"I like to cook dinner with my wife.", "What a nice evening! Which recipe is next?",
			"What a nice evening! Which recipe is next?"},
		{"我喜欢喝茶。", "今天有什么开心的事情吗？", "今天有什么开心的事情吗？"},
	} {
		var l log
		l.say("u1", "user", 1, c.said)
		l.say("a1", "assistant", 1, c.answer)
		l.say("u2", "user", 2, "Next question.")
		l.add(memory.Memory{ // is no answer to it
			ID: "a2", Type: memory.TypeMessage, Speaker: "assistant", Content: c.answer, ConversationID: "before",
			CreatedAt: noon.Add(-time.Hour),
		})
		l.state("fact", memory.TypeFact, c.said, "u1")
		want := []string{"u1 source ", "a1 echoes " + c.left}
		if c.left == c.answer {
			want = want[:1]
		}
		if diff := cmp.Diff(want, l.found("fact")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.said, diff)
		}
	}
}

// A fact that was taken from two messages is still stated by the second when the first is forgotten.
func TestOf_KeepsWhatIsStatedElsewhere(t *testing.T) {
	t.Parallel()
	var l log
	l.say("u1", "user", 1, "I keep bees.")
	l.say("u2", "user", 90, "My bees did well, I keep bees on the roof now.")
	l.state("bees", memory.TypeFact, "Keeps bees", "u1", "u2")
	if got := l.found("u1"); got != nil {
		t.Errorf("with one of two messages: %q", got)
	}
	want := []string{"u1 source ", "u2 source "}
	if got := l.found("bees"); !cmp.Equal(want, got) {
		t.Errorf("with the fact: %q, want %q", got, want)
	}
}

// A statement that was made twice in the same words is forgotten with either message, and so is the fact of the second
// message. A sentence that states another fact of the message stays, however similar it is to the forgotten one.
func TestOf_FindsFactsThatNoMessageStatesAnyMore(t *testing.T) {
	t.Parallel()
	var l log
	l.say("u1", "user", 1, "I love opera. I love chess.")
	l.say("u2", "user", 90, "I live in Lisbon. I love chess.")
	l.say("u3", "user", 180, "I love chess.")
	l.say("u4", "user", 270, "I keep bees.") // and what it repeated of a recall is not kept
	l.state("opera", memory.TypeFact, "I love opera.", "u1")
	l.state("home", memory.TypeFact, "I live in Lisbon.", "u2")
	l.state("chess", memory.TypeFact, "I love chess.", "u1", "u2", "u4")
	l.state("again", memory.TypeFact, "I love chess.", "u3")
	for id, want := range map[string][]string{
		"opera": {"u1 source I love chess."},
		"u1": {
			"opera restates ", "u2 restates I live in Lisbon.", "u3 restates ", "chess restates ", "again restates ",
		},
	} {
		if diff := cmp.Diff(want, l.found(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// Memories of another agent are not found.
func TestOf_StaysWithTheAgent(t *testing.T) {
	t.Parallel()
	var l log
	l.state("mine", memory.TypeFact, "Likes blunt feedback")
	l.state("theirs", memory.TypeFact, "Likes blunt feedback")
	l.state("shared", memory.TypeFact, "Likes blunt feedback")
	l.docs[1].AgentID = "coach"
	mine := l.rows["mine"]
	mine.AgentID = "tutor"
	l.rows["mine"] = mine
	if got, want := l.found("mine"), []string{"shared restates "}; !cmp.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What was made of the whole conversation has no source, and is recognised by its words.
func TestOf_FindsWhatWasMadeOfTheConversation(t *testing.T) {
	t.Parallel()
	var l log
	l.say("u1", "user", 1, "I am allergic to peanuts, so no satay for me, please. My dog is called Rex.")
	l.state("allergy", memory.TypeFact, "I am allergic to peanuts, so no satay for me, please.", "u1")
	ofTalk := func(id, conversation string, of memory.Type, content string) {
		l.add(memory.Memory{ID: id, Type: of, Content: content, CreatedAt: noon, ConversationID: conversation})
	}
	ofTalk("summary", "c", memory.TypeSummary, "The user has a peanut allergy and wants no satay. Their dog is Rex.")
	ofTalk("elsewhere", "d", memory.TypeSummary, "The user wants no satay at the fair.")
	ofTalk("reflected", "c", memory.TypeFact, "The user is allergic to peanuts.")
	ofTalk("other", "c", memory.TypeFact, "The user walks a dog.")
	want := []string{"u1 source My dog is called Rex.", "summary derived Their dog is Rex.", "reflected restates "}
	if diff := cmp.Diff(want, l.found("allergy")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The log also states what no memory holds.
func TestStatement_IsFoundInTheLog(t *testing.T) {
	t.Parallel()
	var l log
	l.say("u1", "user", 1, "I am allergic to peanuts. My dog is called Rex.")
	l.state("allergy", memory.TypeFact, "I am allergic to peanuts", "u1")
	l.state("alone", memory.TypeFact, "I am allergic to peanuts")
	direct := l.rows["alone"]
	direct.SourceTurnID = "t1"
	turns := []memory.Turn{
		{ID: "t1", ConversationID: "c", At: noon.Add(time.Minute), Messages: []memory.Message{
			{Role: "system", Content: "Known: the user is allergic to peanuts. Be brief."},
			{Role: "user", Content: "I am allergic to peanuts. My dog is called Rex."},
			{Role: "assistant", Name: "Bo", Content: "No peanuts, noted. Rex is a fine name."},
		}},
		{ID: "t2", ConversationID: "c", At: noon.Add(time.Hour), Messages: []memory.Message{
			{Role: "user", Content: "Peanuts are what my sister sells, and I am allergic to peanuts as you know from before."},
			{Role: "user", Content: "I'm allergic to peanuts!"},
			{Role: "tool", Kind: memory.ToolUse, Content: "diet: allergic to peanuts"},
		}},
		{ID: "t3", AgentID: "coach", ConversationID: "c", At: noon.Add(time.Hour), Messages: []memory.Message{
			{Role: "user", Content: "I am allergic to peanuts."},
		}},
	}
	spans := func(m memory.Memory, sources ...memory.Memory) (found []string) {
		m.AgentID = "tutor"
		_, stated := Of(m, sources, l.docs)
		for _, s := range stated.In(Read(turns)) {
			found = append(found, fmt.Sprintf("%s %d %s %s", s.TurnID, s.Message, s.Speaker, s.Text))
		}
		return found
	}
	want := []string{
		"t1 0 system Known: the user is allergic to peanuts.", "t1 1 user I am allergic to peanuts.",
		"t1 2 Bo No peanuts, noted.", "t2 1 user I'm allergic to peanuts!", "t2 2 tool diet: allergic to peanuts",
	}
	if diff := cmp.Diff(want, spans(l.rows["allergy"], l.rows["u1"])); diff != "" {
		t.Errorf("of a message (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, spans(direct)); diff != "" {
		t.Errorf("of a turn that left no message (-want +got):\n%s", diff)
	}
}

// In an answer, a sentence that states another active fact stays, although it alludes to the forgotten statement. A
// forgotten message that has lost the statement is not found.
func TestOf_LeavesWhatStatesOtherFacts(t *testing.T) {
	t.Parallel()
	var l log
	l.say("u1", "user", 1, "I love sailing. I love pottery.")
	l.say("a1", "assistant", 1, "Noted: you love sailing. Noted: you love pottery.")
	l.say("u2", "user", 90, "I love opera.")
	l.state("sailing", memory.TypeFact, "I love sailing.", "u1")
	l.state("pottery", memory.TypeFact, "I love pottery.", "u1")
	l.state("opera", memory.TypeFact, "I love opera.", "u2")
	want := []string{"u1 source I love pottery.", "a1 echoes Noted: you love pottery."}
	if diff := cmp.Diff(want, l.found("sailing")); diff != "" {
		t.Errorf("an answer (-want +got):\n%s", diff)
	}
	lost := memory.Memory{
		ID: "u0", Type: memory.TypeMessage, Speaker: "user", Content: "I love opera.", Status: memory.Forgotten,
	}
	found, _ := Of(l.rows["sailing"], []memory.Memory{l.rows["u1"], lost}, l.docs)
	if slices.ContainsFunc(found, func(f Found) bool { return f.ID == "u2" || f.ID == "opera" }) {
		t.Errorf("what is left of a forgotten message: %+v", found)
	}
}
