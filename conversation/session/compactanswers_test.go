package session

import (
	"fmt"
	"strings"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// malformed are answers, each with a different defect.
func malformed() map[string]string {
	of := func(summary string) string { return fmt.Sprintf(`{"summary":%q}`, summary) }
	const good = `{"summary":"They sent messages."}`
	return map[string]string{
		// Not one JSON object.
		"empty": "", "blank": " \n", "prose": "They sent messages.", "refusal": "I'm sorry, but I can't help with that.",
		"html": "<html><body>502</body></html>", "null": "null", "a number": "7", "a string": `"They sent messages."`,
		"truncated": good[:len(good)-3], "two objects": good + `{"summary":"They sent a message."}`,
		"single quotes":   `{'summary':'They sent messages.'}`,
		"lone surrogate":  `{"summary":"\ud83d"}`,
		"nested too deep": `{"summary":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
		"python":          `{"summary":None}`,
		"two fences":      "```json\n" + good + "\n```\n```json\n{\"summary\":\"a\"}\n```",
		// The wrong shape.
		"no field": `{}`, "field null": `{"summary":null}`, "field a list": `{"summary":["They sent messages."]}`,
		"field an object": `{"summary":{"text":"x"}}`,
		"field a number":  `{"summary":1}`, "another field": `{"text":"They sent messages."}`,
		"twice":      `{"summary":"a","summary":"They sent messages."}`,
		"in Chinese": `{"摘要":"They sent messages."}`,
		// The wrong text.
		"nothing": of(""), "nothing to see": of(" \n\t "),
		"too long": of(strings.Repeat("a", 401)), "far too long": of(strings.Repeat("a ", 50_000)),
		"the prompt's words":         of("Leave out greetings, thanks and what has been settled since."),
		"the prompt's example":       of("Rosalind is packing for a concert tour."),
		"the Chinese prompt's words": of("略去问候、致谢和已经了结的内容"), "another language": of("他们互相发送了消息。"),
		"an invented name": of("They sent messages to Bea."), "an invented number": of("They sent 78 messages."),
	}
}

// An answer of a sloppy form is read.
func TestCompaction_ReadsSloppyAnswers(t *testing.T) {
	t.Parallel()
	const good, want = `{"summary":"They sent messages."}`, "They sent messages."
	events := []Event{{Role: "user", Content: "message 1", Kind: memory.Chat}}
	for name, answer := range map[string]string{
		"a byte order mark":     "\ufeff" + good,
		"a fence and prose":     "Sure!\n```json\n" + good + "\n```\nBye.",
		"thoughts":              "<think>{hm}</think>" + good,
		"a trailing comma":      `{"summary":"They sent messages.",}`,
		"comments":              `{"summary":"They sent messages." /* short */}`,
		"unknown fields":        `{"summary":"They sent messages.","words":3}`,
		"names in another case": `{"Summary":"They sent messages."}`,
		"a list of one":         "[" + good + "]",
		"control characters":    `{"summary":"They \u202esent messages.\u0007"}`,
	} {
		if got, err := ParseSummary(&llm.Answer{Text: answer}, compactPrompt, "", events, 400); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// An answer without a good summary changes nothing.
func TestCompaction_RefusesMalformedAnswers(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.withModel(small)
	b.sayMany(s, "c", 1, 11)
	before := b.conversation("c")
	answers := malformed()
	own := len(answers)
	for _, bad := range llmtest.Malformed() { // also those of the scorer
		answers["scorer: "+bad.Name] = bad.Answer
	}
	for name, answer := range answers {
		b.chat.OnPrompt(func(llm.Prompt) (string, error) { return answer, nil })
		if done, err := b.compact(s, "c"); !memory.IsKind(err, memory.KindBadAnswer) || done.Steps != 0 {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	if after := b.conversation("c"); after != before {
		t.Errorf("changed: %+v", after)
	}
	if own < 30 {
		t.Errorf("only %d answers", own)
	}
	b.chat.OnPrompt(answering("They sent messages."))
	if done, err := b.compact(s, "c"); err != nil || done.Steps != 1 {
		t.Errorf("and a good one: %+v, %v", done, err)
	}
}
