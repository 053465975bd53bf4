package app

import (
	"io"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"hippocampus/server/config"
)

// newLog makes a logger that writes to w.
func newLog(c config.Log, w io.Writer) *zap.Logger {
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		level = zapcore.InfoLevel
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.RFC3339TimeEncoder
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level))
}

// slogOf returns a slog.Logger that writes warnings and errors to log.
func slogOf(log *zap.Logger, name string) *slog.Logger {
	quiet := log.WithOptions(zap.IncreaseLevel(zapcore.WarnLevel))
	return slog.New(zapslog.NewHandler(quiet.Core(), zapslog.WithName(name)))
}
