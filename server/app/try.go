package app

import (
	"context"

	"go.uber.org/zap"

	"hippocampus/server/config"
	"hippocampus/server/trial"
)

// TryPrompt tries a prompt with the chat model of the configuration, as trial.Run does.
func TryPrompt(ctx context.Context, cfg config.Config, host Host, in trial.Input) (trial.Outcome, error) {
	return trial.Run(ctx, cfg, chatOptions(base{cfg: cfg, now: host.Now, log: zap.NewNop()}), in)
}
