package config

import (
	"fmt"
	"time"
)

// Validate checks each setting and what must hold between them. The error, of
// KindInvalid, names the first that does not fit.
func (c Config) Validate() error { return c.validate(nil) }

// validate tells where a value came from, too.
func (c Config) validate(sources map[string]string) error {
	for _, s := range settings {
		if r, ok := rules[s.key]; ok && !r.fits(s.of(&c).Interface()) {
			return bad(s, s.of(&c).Interface(), sources[s.key], s.want())
		}
	}
	for _, m := range c.combinations() {
		if !m.holds {
			s := byKey[m.key]
			return bad(s, s.of(&c).Interface(), sources[s.key], m.want)
		}
	}
	return nil
}

// combination is a condition on several settings, told of one of them.
type combination struct {
	holds bool
	key   string
	want  string
}

func (c Config) combinations() []combination {
	models := time.Duration(c.Chat.Retries+1)*c.Chat.Timeout + time.Duration(c.Chat.Retries)*c.Chat.MaxRetryWait + c.Gate.JudgeTimeout
	return []combination{
		{!c.Dev || isLoopback(c.Listen), "dev", "false, or listen on loopback such as 127.0.0.1:8080: dev turns authentication off"},
		{c.Vectors != "pgvector" || c.Database.URL != "", "vectors", "auto, or set database.url: pgvector keeps the vectors in that Postgres"},
		{c.Recall.Relevance+c.Recall.Decay+c.Recall.Importance > 0, "recall.relevance", "more than 0, here or in recall.decay or recall.importance"},
		{c.Recall.Candidates >= c.Recall.Limit, "recall.candidates", fmt.Sprintf("at least recall.limit, which is %d", c.Recall.Limit)},
		{c.Gate.RetryDelay <= c.Gate.RetryLimit, "gate.retry_delay", "at most gate.retry_limit, which is " + short(c.Gate.RetryLimit)},
		{models < c.Jobs.Timeout, "jobs.timeout", "more than the scorer and the judge may take, " + short(models) +
			" by chat.timeout, chat.retries, chat.max_retry_wait and gate.judge_timeout"},
		{c.Jobs.Renew*2 <= c.Jobs.Lease, "jobs.renew", "at most half of jobs.lease, which is " + short(c.Jobs.Lease)},
		{c.Projection.Backoff <= c.Projection.BackoffLimit, "projection.backoff", "at most projection.backoff_limit, which is " + short(c.Projection.BackoffLimit)},
		{c.Webhooks.Timeout < c.Jobs.Timeout, "webhooks.timeout", "less than jobs.timeout, which is " + short(c.Jobs.Timeout)},
		{c.Webhooks.DisableAfter <= c.Events.Keep, "webhooks.disable_after", "at most events.keep, which is " + short(c.Events.Keep)},
		{c.API.BodyLimit <= c.API.BatchLimit, "api.batch_limit", fmt.Sprintf("at least api.body_limit, which is %d", c.API.BodyLimit)},
	}
}
