package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/reflection/compression"
	"hippocampus/reflection/derivation"
	"hippocampus/server/config"
)

// openCompression makes the service that condenses old memories; without a
// chat model (nil) it says so when asked, and is idle else.
func openCompression(store *database, derive *derivation.Service, chat llm.Chat, cfg config.Config, now func() time.Time, log *zap.Logger) *compression.Service {
	return compression.New(compression.Parts{
		Records: store, Derive: derive, Chat: chat, Now: now, Log: log.Named("compression"),
	}, compressionSettings(cfg))
}

// openCondenser makes what shortens a context: the scorer's model behind a
// breaker of its own, since its deadline is short and its being away costs
// little. Without a chat key it says so.
func openCondenser(cfg config.Config, o llm.Options, life *lifecycle) *compression.Condenser {
	limits := condenserLimits(cfg)
	if cfg.Chat.APIKey == "" {
		return compression.NewCondenser(nil, limits)
	}
	client := llm.NewClient(o)
	life.onStop("condenser", func(context.Context) error { client.Close(); return nil })
	return compression.NewCondenser(client.Chat(cfg.Chat.ScorerModel), limits)
}
