package app

import (
	"time"

	"go.uber.org/zap"

	"hippocampus/conversation/session"
	"hippocampus/internal/llm"
	"hippocampus/server/config"
)

// openSession makes the working memory; without a chat model (nil) running
// summaries are lines of the most important events.
func openSession(store *database, chat llm.Chat, cfg config.Config, now func() time.Time, log *zap.Logger) *session.Service {
	return session.New(session.Parts{Records: store, Chat: chat, Now: now, Log: log.Named("session")}, sessionSettings(cfg))
}
