package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/ingest"
	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/server/config"
)

// openJudge opens the judge of what new memories mean for older ones: the
// scorer's model behind a breaker of its own, since its being away costs
// nothing; nil where there is no chat key.
func openJudge(cfg config.Config, o llm.Options, life *lifecycle) judge.Judge {
	if cfg.Chat.APIKey == "" {
		return nil
	}
	client := llm.NewClient(o)
	life.onStop("judge", func(context.Context) error { client.Close(); return nil })
	return judge.NewLLM(client.Chat(cfg.Chat.ScorerModel))
}

// undecided counts the judgements that could not be had.
func undecided(write *ingest.Service) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "hippocampus_judgements_undecided_total",
		Help: "Memories kept beside near ones because the model was away or its answer was refused.",
	}, func() float64 { return float64(write.Undecided()) })
}
