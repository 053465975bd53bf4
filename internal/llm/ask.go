package llm

import (
	"context"
	"fmt"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Refusal is an answer that could not be used.
type Refusal struct {
	Answer string
	Reason string
}

// Ask asks a model and reads its answer with parse. If parse refuses the answer with KindBadAnswer, Ask asks
// once more and sends the refused answer with the reason. The error is that of the last call, with a Detail.
func Ask[T any](ctx context.Context, chat Chat, p Prompt, parse func(*Answer) (T, error)) (value T, err error) {
	for range 2 {
		answer := Answer{Corrected: p.Refused != nil}
		if answer.Text, err = chat.Answer(ctx, p); err != nil {
			return value, err
		}
		value, err = parse(&answer)
		reading := Reading{Prompt: p.Name, Answer: answer.Text, Outcome: OutcomeUsed}
		switch {
		case memory.IsKind(err, memory.KindBadAnswer):
			reading.Outcome, reading.Why = OutcomeRefused, []string{err.Error()}
		case len(answer.Salvaged) > 0:
			reading.Outcome, reading.Why = OutcomeSalvaged, answer.Salvaged
		}
		if c, ok := chat.(observed); ok {
			c.onAnswer(reading)
		}
		if reading.Outcome != OutcomeRefused {
			return value, err
		}
		p.Refused = &Refusal{Answer: answer.Text, Reason: err.Error()}
	}
	return value, unusable(err)
}

// Outcome says how an answer was used.
type Outcome string

// The outcomes of an answer.
const (
	OutcomeUsed     Outcome = "used"
	OutcomeSalvaged Outcome = "salvaged" // used, although something was wrong with it
	OutcomeRefused  Outcome = "refused"
)

// Reading is the result of reading an answer.
type Reading struct {
	Prompt  string // its name
	Answer  string // as the model wrote it
	Outcome Outcome
	Why     []string // what was wrong with the answer; empty if it was used
}

// Call is one request for an answer, including its retries.
type Call struct {
	Prompt string // its name
	Model  string
	Took   time.Duration
	Usage  Usage
	Err    error // why there is no answer, or nil
}

// Usage counts the tokens of a call, 0 if the endpoint does not count them.
type Usage struct {
	In     int // tokens of the prompt, including cached ones
	Cached int // tokens of the prompt that the endpoint had cached
	Out    int // tokens of the answer
}

// Observer is notified of calls and answers. Several goroutines may call it at once.
type Observer interface {
	OnCall(call Call)
	// OnAnswer is called by Ask after it read an answer.
	OnAnswer(reading Reading)
}

// observed is a chat whose answers an observer counts.
type observed interface {
	onAnswer(reading Reading)
}

// maxRefusedRunes bounds the refused answer that is sent back.
const maxRefusedRunes = 4000

// messages returns the messages after the question in a request: the refused answer, and the reason.
func (r *Refusal) messages(p Prompt) (answer, correction string) {
	answer = memory.Clip(r.Answer, maxRefusedRunes)
	if answer == "" {
		answer = "{}" // some endpoints refuse empty messages
	}
	format := "That answer cannot be used: %s. Answer the whole question again, " +
		"with one JSON object in the requested form and nothing else."
	if text.IsChinese(p.System) {
		format = "上一个回答不能用，原因：%s。请按要求的格式重新完整回答，只写一个 JSON 对象，不要任何别的内容。"
	}
	return answer, fmt.Sprintf(format, r.Reason)
}
