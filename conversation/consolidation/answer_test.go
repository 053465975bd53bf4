package consolidation

import (
	"fmt"
	"strings"
	"testing"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
)

// tripTalk is the talk of the conversation of fixture.trip.
func tripTalk() talk {
	return talkOf([]session.Event{
		{Role: "user", Content: "I want to go to Porto in May.", At: noon, Kind: memory.Chat},
		{Role: "assistant", Content: "Shall I look for trains?", At: noon, Kind: memory.Chat},
		{Role: "user", Content: "Ada takes the night train to Porto.", At: noon, Kind: memory.Decision},
	})
}

// outcome describes the result of an answer: facts, statements, the reasons for what is left out, or why the answer is
// refused.
func outcome(answer string) string {
	found, err := parseDeep(&llm.Answer{Text: answer}, tripTalk())
	if err != nil {
		return "refused: " + err.Error()
	}
	var parts []string
	for _, f := range found.facts {
		rated := "rated by kind"
		if f.importance != nil {
			rated = fmt.Sprint(*f.importance)
		}
		parts = append(parts, fmt.Sprintf("%s.%s=%s %g %s %s", f.kind, f.key, f.value, f.confidence, rated, f.sentence))
	}
	for _, m := range found.memories {
		parts = append(parts, fmt.Sprintf("%s %g %s", m.kind, m.importance, m.text))
	}
	return strings.Join(append(parts, found.leftOut...), " | ")
}

// sloppy are answers about the trip, each with a different defect, and the outcome that each must have. The end of an
// outcome that ends with … is not compared.
func sloppy() map[string][2]string {
	with := func(list, items string) string {
		return strings.Replace(nothing, fmt.Sprintf(`%q:[]`, list), fmt.Sprintf(`%q:%s`, list, items), 1)
	}
	const good = `{"type":"profile","key":"city","value":"Porto","confidence":0.9}`
	const porto = `profile.city="Porto" 0.9 rated by kind The user's city is Porto.`
	fact := func(s string) string { return with("facts", "["+good+","+s+"]") }
	text := func(s string) string { return fmt.Sprintf(`[{"text":%q,"importance":0.5}]`, s) }
	many := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	answer := with("facts", "["+good+"]")
	return map[string][2]string{
		// The form is repaired.
		"nothing":            {nothing, ""},
		"good":               {answer, porto},
		"a byte order mark":  {"\ufeff" + answer, porto},
		"a fence and prose":  {"Sure!\n```json\n" + answer + "\n```\nBye.", porto},
		"thoughts":           {"<think>{hm}</think>" + answer, porto},
		"trailing commas":    {with("facts", "["+good+",]"), porto},
		"comments":           {with("facts", "["+good+" /* sure */]"), porto},
		"a single object":    {with("facts", good), porto},
		"unknown fields":     {strings.Replace(answer, "{", `{"mood":"good",`, 1), porto},
		"names in capitals":  {strings.Replace(answer, `"facts"`, `"Facts"`, 1), porto},
		"facts alone":        {`{"facts":[` + good + `]}`, porto},
		"a list null":        {strings.Replace(answer, `"skills":[]`, `"skills":null`, 1), porto},
		"numbers as strings": {with("facts", `[{"type":"profile","key":"city","value":"Porto","confidence":"0.9"}]`), porto},
		"no confidence": {with("facts", `[{"type":"profile","key":"city","value":"Porto"}]`),
			`profile.city="Porto" 0.5 rated by kind The user's city is Porto.`},
		"a sentence": {with("facts",
			`[{"type":"profile","key":"city","value":"Porto","text":" Ada wants to go to Porto. ","importance":0.8}]`),
			`profile.city="Porto" 0.5 0.8 Ada wants to go to Porto.`},
		"level in capitals":  {with("insights", `[{"text":"Ada saves.","level":"HIGH"}]`), "insight 1 Ada saves."},
		"no level":           {with("insights", `[{"text":"Ada saves."}]`), "insight 0.7 Ada saves."},
		"no importance":      {with("skills", `[{"text":"Ada swims."}]`), "skill 0.7 Ada swims."},
		"control characters": {with("skills", `[{"text":"Ada \u202eswims.\u0007"}]`), "skill 0.7 Ada swims."},

		// A bad item is left out alone.
		"fact of text":      {fact(`"Porto"`), porto + " | facts[1] does not fit…"},
		"fact null":         {fact(`null`), porto + " | facts[1] has a type or key that …"},
		"fact without type": {fact(`{"key":"city","value":"Porto"}`), porto + " | facts[1] has a type or key that …"},
		"fact without key": {fact(`{"type":"profile","value":"Porto"}`),
			porto + " | facts[1] has a type or key that …"},
		"fact without value": {fact(`{"type":"profile","key":"city"}`), porto + " | facts[1] has no value"},
		"fact of value null": {fact(`{"type":"profile","key":"city","value":null}`), porto + " | facts[1] has no value"},
		"fact of empty value": {fact(`{"type":"profile","key":"city","value":""}`),
			porto + " | facts[1] has an empty value…"},
		"fact of blank value": {fact(`{"type":"profile","key":"city","value":" "}`),
			porto + " | facts[1] has an empty value…"},
		"fact of a long value": {fact(fmt.Sprintf(`{"type":"profile","key":"city","value":%q}`, strings.Repeat("v", 5000))),
			porto + " | facts[1] has a value that …"},
		"fact of a long key": {fact(fmt.Sprintf(`{"type":"profile","key":%q,"value":"Porto"}`, strings.Repeat("k", 129))),
			porto + " | facts[1] has a type or key that …"},
		"fact of a blank type": {fact(`{"type":" ","key":"city","value":"Porto"}`),
			porto + " | facts[1] has a type or key that …"},
		"confidence above 1": {fact(`{"type":"profile","key":"city","value":"Porto","confidence":1.1}`),
			porto + " | facts[1] has an importance or confidence that is 1.1…"},
		"confidence below 0": {fact(`{"type":"profile","key":"city","value":"Porto","confidence":-0.1}`),
			porto + " | facts[1] has an importance or confidence that is -0.1…"},
		"confidence a word": {fact(`{"type":"profile","key":"city","value":"Porto","confidence":"high"}`),
			porto + " | facts[1] does not fit…"},
		"invented value": {fact(`{"type":"profile","key":"birthplace","value":"in Kyoto"}`),
			porto + ` | facts[1] adds "Kyoto"…`},
		"invented number": {fact(`{"type":"profile","key":"age","value":34}`), porto + ` | facts[1] adds "34"…`},
		"invented sentence": {fact(`{"type":"profile","key":"trip","value":"train","text":"Ada takes Bea to Porto."}`),
			porto + ` | facts[1] adds "Bea"…`},
		"21 facts": {with("facts", many(21, good)),
			strings.Repeat(porto+" | ", 20) + "facts[20] is over the limit of 20"},
		"level unknown": {with("insights", `[{"text":"Ada saves.","level":"huge"},{"text":"Ada saves."}]`),
			`insight 0.7 Ada saves. | insights[0] has the level "huge", …`},
		"importance of 2": {with("skills", `[{"text":"Ada swims."},{"text":"Ada runs.","importance":2}]`),
			"skill 0.7 Ada swims. | skills[1] has an importance that is 2, …"},
		"statement of text": {with("skills", `[{"text":"Ada swims."},"Ada runs."]`),
			"skill 0.7 Ada swims. | skills[1] does not fit…"},
		"statement without text": {with("skills", `[{"text":"Ada swims."},{"importance":1}]`),
			"skill 0.7 Ada swims. | skills[1] is empty…"},
		"invented name": {with("skills", `[{"text":"Ada swims."},{"text":"Ada swims with Bea."}]`),
			`skill 0.7 Ada swims. | skills[1] adds "Bea"…`},
		"11 skills": {with("skills", many(11, `{"text":"Ada swims."}`)),
			strings.Repeat("skill 0.7 Ada swims. | ", 10) + "skills[10] is over the limit of 10"},

		// Nothing is left.
		"empty":            {"", "refused: …"},
		"prose":            {"Nothing lasts.", "refused: …"},
		"html":             {"<html>502</html>", "refused: …"},
		"null":             {"null", "refused: …"},
		"truncated":        {nothing[:len(nothing)-1], "refused: …"},
		"two objects":      {nothing + `{"facts":[]}`, "refused: …"},
		"no field":         {"{}", "refused: the answer has none of the lists…"},
		"field twice":      {strings.Replace(nothing, "{", `{"facts":[],`, 1), "refused: …"},
		"a bare list":      {"[" + good + "]", "refused: …"},
		"only bad items":   {with("skills", text("")), "refused: skills[0] is empty…"},
		"501 characters":   {with("projects", text(strings.Repeat("a", 501))), "refused: projects[0] …"},
		"another language": {with("preferences", text("用户喜欢绿茶和乌龙茶。")), "refused: preferences[0] is in another language…"},
		"the prompt's sample": {with("patterns", text("The user always practises before breakfast.")),
			"refused: patterns[0] repeats the prompt's own words"},
		"invented": {with("insights", `[{"text":"Ada was born in Kyoto in 1931.","level":"high"}]`),
			`refused: insights[0] adds "Kyoto" and "1931", …`},
	}
}

func TestParseDeep_KeepsTheGoodPartsOfAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range sloppy() {
		got, want := outcome(test[0]), test[1]
		if begin, cut := strings.CutSuffix(want, "…"); cut && !strings.HasPrefix(got, begin) || !cut && got != want {
			t.Errorf("%s:\n%.300s\nwant\n%s", name, got, want)
		}
	}
	t.Logf("%d kinds of answers", len(sloppy()))
}

// If several users speak, the facts of each have their own keys.
func TestParseDeep_SeparatesSpeakers(t *testing.T) {
	t.Parallel()
	about := talkOf([]session.Event{
		{Role: "user", Name: "Gina", Content: "I live in Bergen.", At: noon, Kind: memory.Chat},
		{Role: "user", Name: "Jon", Content: "And I live in Porto.", At: noon, Kind: memory.Chat},
	})
	found, err := parseDeep(&llm.Answer{Text: `{"facts":[
		{"who":"Gina","type":"profile","key":"home city","value":"Bergen","text":"Gina lives in Bergen."},
		{"who":"jon ","type":"profile","key":"home_city","value":"Porto","text":"Jon lives in Porto."},
		{"type":"profile","key":"Gina home city","value":"Bergen","text":"Gina lives in Bergen."},
		{"who":"Jon","type":"profile","key":"town","value":"Porto"},
		{"type":"profile","key":"home_city","value":"Porto"},
		{"who":"Bea","type":"profile","key":"home_city","value":"Porto"}]}`}, about)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, f := range found.facts {
		keys = append(keys, facts.CanonicalName(f.key))
	}
	want(t, "keys", keys, []string{"gina_home_city", "jon_home_city", "gina_home_city"})
	want(t, "left out", found.leftOut, []string{
		"facts[3] has no text", "facts[4] does not name in who one of Gina, Jon",
		"facts[5] does not name in who one of Gina, Jon",
	})
}

// A refused answer changes only the row, which states the reason. The model is asked once more.
func TestConsolidations_RefusedAnswersChangeNothing(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.set.Attempts = 1000
	b.trip("c")
	if _, err := b.End(t.Context(), "app", "ada", "c", memory.TriggerEnd); err != nil {
		t.Fatal(err)
	}
	try := func(kind memory.ConsolidationType, answers map[string]string) {
		attempts := 0
		for name, answer := range answers {
			b.answers(answer, answer)
			attempts++
			state, err := b.attempt(t.Context(), b.row(kind))
			if is := b.row(kind); err != nil || state != memory.ConsolidationFailed || is.State != state ||
				is.Attempts != attempts || is.Error == "" || is.EndedAt.IsZero() {
				t.Errorf("%s: %s: %+v, %v", kind, name, is, err)
			}
			prompts := b.chat.Prompts()
			last := prompts[len(prompts)-1]
			if last.Refused == nil || !strings.Contains(b.row(kind).Error, last.Refused.Reason) {
				t.Errorf("%s: %s: corrected with %+v", kind, name, last.Refused)
			}
		}
		want(t, "memories", b.memories(), nil)
	}
	replays := malformedReplays()
	for _, bad := range llmtest.Malformed() { // also those of the scorer
		replays["scorer: "+bad.Name] = bad.Answer
	}
	reflections := map[string]string{}
	for name, test := range sloppy() {
		if strings.HasPrefix(test[1], "refused") {
			reflections[name] = test[0]
		}
	}
	try(memory.FastReplay, replays)
	try(memory.DeepReflection, reflections)
	found, err := b.store.ListFacts(t.Context(), db.FactFilter{Owner: ada, At: b.clock.Now(), Limit: 10})
	if err != nil || len(found) != 0 {
		t.Errorf("facts %+v, %v", found, err)
	}
	b.answers(goodReplay, nothing)
	if done, err := b.RunAll(t.Context()); err != nil || done != (Totals{Done: 3}) {
		t.Errorf("good answers: %+v, %v", done, err)
	}
}

// The row of a deep reflection states what was left out of the answer.
func TestDeepReflection_RecordsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.trip("c")
	b.answers(goodReplay, sloppy()["invented name"][0])
	b.end("c")
	row := b.row(memory.DeepReflection)
	if row.State != memory.ConsolidationDone ||
		!strings.Contains(row.Error, `left out of the answer: skills[1] adds "Bea"`) ||
		string(row.Counts) != `{"facts":0,"memories":1,"merged":0}` {
		t.Errorf("%+v", row)
	}
}

// A fact or preference of the user must be in what the user said; what only the assistant did is not enough. An insight
// may be a conclusion.
func TestParseDeep_LeavesOutWhatTheUserHasNotSaid(t *testing.T) {
	t.Parallel()
	about := talkOf([]session.Event{
		{Role: memory.RoleUser, Content: "Any tips for a rainy day? I never swim.", At: noon, Kind: memory.Chat},
		{Role: memory.RoleAssistant, Content: "Try the aquarium, and tea at Graça.", At: noon, Kind: memory.Chat},
		{Role: memory.RoleUser, Content: "Where is the bus stop?", At: noon, Kind: memory.Chat},
	})
	found, err := parseDeep(&llm.Answer{Text: `{"facts":[
		{"type":"habit","key":"place","value":"Graça","text":"The user drinks tea at Graça."},
		{"type":"habit","key":"sport","value":"swim","text":"The user does swim."},
		{"type":"habit","key":"no sport","value":"swim","text":"The user never does swim."}],
		"preferences":[{"text":"The user likes the aquarium and tea."},{"text":"The user prefers the bus."}],
		"insights":[{"text":"The user is shy and likes tea at Graça."}]}`}, about)
	if err != nil || len(found.facts) != 1 || found.facts[0].key != "no sport" || len(found.memories) != 2 ||
		len(found.leftOut) != 3 || !strings.Contains(found.leftOut[0], `is not said: only the assistant says "Graça"`) {
		t.Errorf("%+v, %v", found, err)
	}
}
