package config

import (
	"fmt"
	"time"
)

// validate checks each setting and the conditions between settings. The error,
// of KindInvalid, names the first wrong setting with its source.
func (c Config) validate(sources map[string]string) error {
	for _, s := range settings {
		if value := s.of(&c); !s.rule.fits(value) {
			return wrongValue(s, value.Interface(), sources[s.key], s.rule.want)
		}
	}
	for _, m := range c.conditions() {
		if !m.holds {
			s := byKey[m.key]
			return wrongValue(s, s.of(&c).Interface(), sources[s.key], m.want)
		}
	}
	return nil
}

// condition is one between several settings; key is the setting to correct.
type condition struct {
	holds bool
	key   string
	want  string
}

// MaxRetryWait is the longest wait that a model's Retry-After can ask for.
const MaxRetryWait = 20 * time.Second

func (c Config) conditions() []condition {
	scoring := time.Duration(c.Chat.Retries+1)*c.Chat.Timeout + time.Duration(c.Chat.Retries)*MaxRetryWait
	models := scoring + c.Chat.Timeout // which also bounds the judge
	return []condition{
		{!c.Dev || isLoopback(c.Listen), "dev",
			"false, or listen on loopback such as 127.0.0.1:8080: dev turns authentication off"},
		{c.Vectors != "pgvector" || c.Database.URL != "", "vectors",
			"auto, or set database.url: pgvector keeps the vectors in that Postgres"},
		{c.Recall.Relevance+c.Recall.Decay+c.Recall.Importance > 0, "recall.relevance",
			"more than 0, here or in recall.decay or recall.importance"},
		{c.Recall.Candidates >= c.Recall.Limit, "recall.candidates",
			fmt.Sprintf("at least recall.limit, which is %d", c.Recall.Limit)},
		{models < c.Jobs.Timeout, "jobs.timeout", fmt.Sprintf("more than %s, which the scorer and the judge may take "+
			"(chat.timeout, chat.retries)", models)},
		{c.Webhooks.DisableAfter <= c.Events.Keep, "webhooks.disable_after",
			fmt.Sprintf("at most events.keep, which is %s", c.Events.Keep)},
	}
}
