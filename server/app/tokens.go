package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/db/tokens"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
	"hippocampus/server/config"
)

// openMeter opens the meter of the models' tokens.
func openMeter(b base, record *database) *tokens.Meter {
	meter := tokens.New(record, tokenQuota(b.cfg), b.now, b.log.Named("tokens"))
	b.life.run("tokens", meter.Run)
	return meter
}

// tokenQuota returns the quota of chat tokens of an app, and its setting.
func tokenQuota(cfg config.Config) tokens.Quota {
	return func(appID string) (most int, setting string) {
		if own, ok := cfg.AppQuotas[appID]; ok {
			return own.ChatTokens, "quotas.apps." + appID + ".chat_tokens"
		}
		return cfg.Quotas.ChatTokens, "quotas.chat_tokens"
	}
}

// tokenStats returns what GET /v1/stats shows of an app's tokens.
func tokenStats(meter *tokens.Meter) func(ctx context.Context, appID string) (api.TokenCounts, error) {
	return func(ctx context.Context, appID string) (api.TokenCounts, error) {
		t, err := meter.Today(ctx, appID)
		return api.TokenCounts{
			Day: t.Day.Format(time.DateOnly), Chat: t.Chat, Embedding: t.Embedding, ChatQuota: t.Quota,
		}, err
	}
}

var tokensTotal = describe("hippocampus_model_tokens_total",
	"Tokens that models have used for apps, as the endpoint reports them, else estimated.", "kind")

// modelTokens collects the tokens of models.
func modelTokens(meter *tokens.Meter) collector {
	return collector{[]*prometheus.Desc{tokensTotal}, func(ch chan<- prometheus.Metric) {
		total := meter.Total()
		for _, kind := range []memory.TokenKind{memory.ChatTokens, memory.EmbeddingTokens} {
			ch <- prometheus.MustNewConstMetric(tokensTotal, prometheus.CounterValue, float64(total[kind]), string(kind))
		}
	}}
}
