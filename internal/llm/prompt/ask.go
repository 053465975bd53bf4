package prompt

import (
	"context"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// maxAnswerTokens bounds the answers that Ask asks for.
const maxAnswerTokens = 4096

// Ask fills the template in the language of sample and returns the model's answer.
func (t Template) Ask(ctx context.Context, chat llm.Chat, sample string, data any) (string, error) {
	p, err := t.Render(sample, data, maxAnswerTokens)
	if err != nil {
		return "", err
	}
	return chat.Answer(ctx, p)
}

// Check returns what is wrong with a statement of an answer, "" if nothing is:
// invalid content, the template's own words, or another language than sample.
// An empty sample skips the check of the language.
func (t Template) Check(statement string, maxRunes int, sample string) string {
	why := memory.CheckContent(statement, maxRunes)
	switch {
	case why != "":
		return why
	case t.Echoes(statement):
		return "repeats the prompt's own words"
	case sample != "" && Foreign(statement, sample):
		return "is in another language than the texts that it is about"
	}
	return ""
}
