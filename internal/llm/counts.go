package llm

import (
	"maps"
	"sync"
	"time"
)

// Counts counts the use of chat models by prompt. It is an Observer.
type Counts struct {
	mu       sync.Mutex
	byPrompt map[string]PromptCounts
	failures map[Failure]int
}

// Failure is the key by which failed calls are counted.
type Failure struct {
	Prompt string
	Cause  Cause
}

// PromptCounts is the use of one prompt. Tokens are those that the endpoint reports; an
// endpoint may leave them out.
type PromptCounts struct {
	Calls    int           // requests for an answer, each with its retries
	Failed   int           // calls without an answer
	In       int           // tokens of the prompts, including cached ones
	Cached   int           // tokens of the prompts that the endpoint had cached
	Out      int           // tokens of the answers
	Salvaged int           // answers that were used although something was wrong with them
	Refused  int           // answers that were not used
	Took     time.Duration // of all calls
}

// NewCounts makes counts that are all zero.
func NewCounts() *Counts {
	return &Counts{byPrompt: map[string]PromptCounts{}, failures: map[Failure]int{}}
}

// ByPrompt returns the counts of each prompt that was used.
func (c *Counts) ByPrompt() map[string]PromptCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.byPrompt)
}

// Failures returns the number of failed calls of each prompt by their cause.
func (c *Counts) Failures() map[Failure]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.failures)
}

// OnCall implements Observer. A call that the quota of its app refused counts as a failure with this cause alone, since
// nothing was sent.
func (c *Counts) OnCall(call Call) {
	if cause := CauseOf(call.Err); call.Err != nil && cause == CauseQuota {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failures[Failure{call.Prompt, cause}]++
		return
	}
	c.change(call.Prompt, func(n *PromptCounts) {
		n.Calls++
		if call.Err != nil {
			n.Failed++
			c.failures[Failure{call.Prompt, CauseOf(call.Err)}]++
		}
		n.In += call.Usage.In
		n.Cached += call.Usage.Cached
		n.Out += call.Usage.Out
		n.Took += call.Took
	})
}

// OnAnswer implements Observer.
func (c *Counts) OnAnswer(reading Reading) {
	c.change(reading.Prompt, func(n *PromptCounts) {
		switch reading.Outcome {
		case OutcomeSalvaged:
			n.Salvaged++
		case OutcomeRefused:
			n.Refused++
		case OutcomeUsed:
		}
	})
}

func (c *Counts) change(prompt string, change func(*PromptCounts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.byPrompt[prompt]
	change(&n)
	c.byPrompt[prompt] = n
}
