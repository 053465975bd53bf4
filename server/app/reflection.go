package app

import (
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/reflection"
	"hippocampus/reflection/derivation"
	"hippocampus/server/config"
)

// openReflection makes the service that condenses; without a chat model (nil)
// it says so when asked, and is idle else.
func openReflection(store *database, derive *derivation.Service, chat llm.Chat, cfg config.Config, now func() time.Time, life *lifecycle, log *zap.Logger) *reflection.Service {
	reflect := reflection.New(reflection.Parts{
		Records: store, Derive: derive, Chat: chat, Now: now, Log: log.Named("reflection"),
	}, reflectionSettings(cfg))
	life.run("reflection", reflect.Run)
	return reflect
}
