package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/internal/llm"
	"hippocampus/server/api"
)

// promptMetrics are counters of the use of chat models, by prompt.
var promptMetrics = []struct {
	*prometheus.Desc
	value func(llm.PromptCounts) float64
}{
	{
		describe("hippocampus_prompt_calls_total", "Requests to a chat model, each with its retries.", "prompt"),
		func(n llm.PromptCounts) float64 { return float64(n.Calls) },
	},
	{
		describe("hippocampus_prompt_failed_total", "Requests to a chat model that got no answer.", "prompt"),
		func(n llm.PromptCounts) float64 { return float64(n.Failed) },
	},
	{
		describe("hippocampus_prompt_tokens_in_total",
			"Tokens of prompts, including cached ones, as the endpoint reports them.", "prompt"),
		func(n llm.PromptCounts) float64 { return float64(n.In) },
	},
	{
		describe("hippocampus_prompt_tokens_cached_total",
			"Tokens of prompts that the endpoint had cached, as it reports them.", "prompt"),
		func(n llm.PromptCounts) float64 { return float64(n.Cached) },
	},
	{
		describe("hippocampus_prompt_tokens_out_total", "Tokens of answers, as the endpoint reports them.", "prompt"),
		func(n llm.PromptCounts) float64 { return float64(n.Out) },
	},
	{
		describe("hippocampus_prompt_salvaged_total",
			"Answers that were used although something was wrong with them.", "prompt"),
		func(n llm.PromptCounts) float64 { return float64(n.Salvaged) },
	},
	{
		describe("hippocampus_prompt_refused_total", "Answers that could not be used.", "prompt"),
		func(n llm.PromptCounts) float64 { return float64(n.Refused) },
	},
	{
		describe("hippocampus_prompt_seconds_total", "Duration of the requests to a chat model.", "prompt"),
		func(n llm.PromptCounts) float64 { return n.Took.Seconds() },
	},
}

var promptFailures = describe("hippocampus_prompt_failures_total",
	"Requests to a chat model that got no answer, by why.", "prompt", "reason")

// prompts collects the use of chat models.
func prompts(counts *llm.Counts) collector {
	c := collector{collect: func(ch chan<- prometheus.Metric) {
		for name, n := range counts.ByPrompt() {
			for _, m := range promptMetrics {
				ch <- prometheus.MustNewConstMetric(m.Desc, prometheus.CounterValue, m.value(n), name)
			}
		}
		for f, n := range counts.Failures() {
			ch <- prometheus.MustNewConstMetric(promptFailures, prometheus.CounterValue, float64(n), f.Prompt, string(f.Cause))
		}
	}, descriptions: []*prometheus.Desc{promptFailures}}
	for _, m := range promptMetrics {
		c.descriptions = append(c.descriptions, m.Desc)
	}
	return c
}

// promptStats returns what GET /v1/stats shows of the use of chat models.
func promptStats(counts *llm.Counts) func() map[string]api.PromptCounts {
	return func() map[string]api.PromptCounts {
		list := map[string]api.PromptCounts{}
		for name, n := range counts.ByPrompt() {
			list[name] = api.PromptCounts{
				Calls: n.Calls, Failed: n.Failed, TokensIn: n.In, TokensCached: n.Cached, TokensOut: n.Out,
				Salvaged: n.Salvaged, Refused: n.Refused, Seconds: n.Took.Seconds(),
			}
		}
		return list
	}
}
